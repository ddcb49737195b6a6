"""The tests of ``python -m gencoro convert``, and the measurement of real packages.

``python -m tests.porting`` converts published packages, runs their tests or a job before and
after, and writes `results.json`, from which the tables of docs/conversions.rst are drawn.  It
needs a package index and some minutes, and is not part of the test suite.

- `subjects`: the packages, and what is run with them.
- `measuring`: converts a package, by this converter or by its peer, and runs it.
- `measuring_battery`: the same for the small programs of the battery.
- `results`: the results, as JSON and as a table.
"""

__all__: list[str] = []
