"""A pytest plugin: has the tests of gencoro use the Runner of runner.py, or yours.

    PYTHONPATH=docs/story python -m pytest -p use_runner tests/gencoro/test_waiting.py

RUNNER in the environment is the name of another module on the path.
"""

import os
from importlib import import_module

from gencoro import gen

__all__ = ["pytest_configure"]


def pytest_configure() -> None:
    """Replace ``gen.coroutine`` before the tests are imported."""
    module = import_module(os.environ.get("RUNNER", "runner"))
    # A `Return` of the tests is to end coroutines of the module.
    module.Return, module.BadYieldError = gen.Return, gen.BadYieldError
    gen.coroutine = module.coroutine
