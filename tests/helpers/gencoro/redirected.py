"""Runs one of Tornado's own test modules on gencoro, or with `gencoro.compat` installed.

    python redirected.py gencoro gen_test
    python redirected.py compat web_test

On gencoro, whatever imports `tornado.gen`, the test module and all of Tornado, gets
`gencoro.gen`; so with concurrent and ioloop.  The last line of the output is a report in
JSON.
"""

import importlib
import json
import logging
import sys
import unittest

REDIRECTED = ["gen", "concurrent", "ioloop"]


def redirect() -> None:
    """Put gencoro's modules in the places of Tornado's, before anyone imports them."""
    import tornado

    for name in REDIRECTED:
        module = importlib.import_module(f"gencoro.{name}")
        sys.modules[f"tornado.{name}"] = module
        setattr(tornado, name, module)


def check_redirected(module_name: str) -> None:
    """Make sure that the tests see gencoro, and so do the modules they test with."""
    tests = importlib.import_module(f"tornado.test.{module_name}")
    testing = importlib.import_module("tornado.testing")
    web = importlib.import_module("tornado.web")
    assert tests.gen is web.gen is sys.modules["gencoro.gen"]
    assert testing.IOLoop is sys.modules["gencoro.ioloop"].IOLoop
    concurrent = sys.modules["gencoro.concurrent"]
    name = "future_set_result_unless_cancelled"
    assert getattr(web, name) is getattr(concurrent, name)


def run(module_name: str) -> dict[str, object]:
    """Run the tests of a module and return what came of them."""
    suite = unittest.defaultTestLoader.loadTestsFromName(f"tornado.test.{module_name}")
    result = unittest.TextTestRunner(sys.stdout).run(suite)
    return {
        "run": result.testsRun,
        "failed": [test.id() for test, _ in result.failures + result.errors],
        "skipped": {test.id(): why for test, why in result.skipped},
    }


def main() -> None:
    [way, module_name] = sys.argv[1:]
    # Tornado's own runner does the same: its tests provoke these log records.
    logging.getLogger("tornado.access").setLevel(logging.CRITICAL)
    if way == "compat":
        importlib.import_module("gencoro.compat").install()
    else:
        redirect()
        check_redirected(module_name)
    print(json.dumps(run(module_name)))


if __name__ == "__main__":
    main()
