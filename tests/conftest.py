"""Options of the test run."""

import gc

import pytest

# Runs pytest within a test: for those of the plugin.
pytest_plugins = ["pytester"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--programs",
        type=int,
        default=None,
        metavar="N",
        help="compare N random programs on gencoro and on its models, new ones each time "
        "(without the option: always the same, 2000 for Tornado and 250 for asyncio)",
    )


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what thousands of tests consist of.

    Those that collect, or look at every object there is, take a third of the time.
    """
    gc.collect()
    gc.freeze()
