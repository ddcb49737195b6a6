"""What holds for every test, be it a function or an example in the documentation."""

import asyncio
import gc
import pathlib
from collections.abc import Iterator

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


_frozen_for: list[pathlib.Path] = []


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Have the garbage collector leave alone what is there when a file of tests begins.

    Those that collect, or look at every object there is, take a third of the time: the
    tests themselves, and what earlier ones have left, are a million objects.
    """
    if _frozen_for != [item.path]:
        _frozen_for[:] = [item.path]
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True)
def _own_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have no current loop of another test; an example, a new one that is closed.

    Without one asyncio would make it, and nobody would close that.
    """
    if not isinstance(request.node, pytest.DoctestItem):
        asyncio.set_event_loop(None)
        yield
        return
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
