"""Real programs for Tornado 2 to 5, run unmodified: the evidence of docs/applications.rst.

``python -m tests.applications`` installs each program in an environment of its own, starts
it, does its main job as a user would, and writes `results.json`, from which the table of
docs/applications.rst is drawn.  It needs a package index and some minutes, and is not part of
the test suite.

- `application`: what is known of a program, and the steps of its job.
- `environments`: the environments, with pinned requirements, kept between runs.
- `starting`: starts a program and what it needs, such as a broker.
- `processes`: one program while it runs.
- `results`: the results, as JSON and as a table.
- `notebook_client`, `notebook_requirements`: what the programs of Jupyter share.
- `own_tests`: runs the tests that a program brings with it.
- Every other module is one program: its ``APPLICATION``.
"""

__all__: list[str] = []
