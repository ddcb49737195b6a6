"""The tests of ``python -m gencoro convert``, and the measurement of real packages.

``python -m tests.porting`` converts published packages, runs their own tests before and after,
and writes `results.json`, from which the tables of docs/conversions.rst are drawn.  It needs a
package index and some minutes, and is not part of the test suite.

- `packages`: the packages.
- `measuring`: converts a package, by this converter or by its peer.
- `counting`: which coroutines a source has, and what became of them.
- `suites`: runs the tests that a package brings with it.
- `results`: the results, as JSON and as tables.
"""

__all__: list[str] = []
