"""What holds for every test, be it a function or an example in the documentation."""

import asyncio
import contextlib
import gc
import os
import pathlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from importlib import import_module

import hypothesis
import pytest
from _pytest.doctest import DoctestModule  # which pytest does not export
from xdist.remote import Producer
from xdist.scheduler import WorkStealingScheduling

# Hundreds of tests start a Python: each would compile the packages again, and each worker
# of pytest-xdist every test.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What a script starts in the background ignores Ctrl-C, and so do the programs that it starts:
# tests that send them one would wait for long.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Crawls wait for the disk, tens of thousands of times in all; for files in memory they need
# not.  Little is there at a time, because what a test has written goes when it has passed.
MEMORY = "/dev/shm"
if os.path.isdir(MEMORY) and shutil.disk_usage(MEMORY).free > 2**31:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

# The key that signs the directories of crawls; not the developer's own.
os.environ.setdefault(
    "XDG_STATE_HOME", f"{tempfile.gettempdir()}/gencrawl-tests-{os.getuid()}"
)

# Programs that are run by a test, and do something when they are imported.
# The last two need Selenium and Sphinx, and have no example.
collect_ignore_glob = [
    "docs/examples/*",
    "docs/patterns/*",
    "docs/story/*.py",
    "tests/story/solutions/*",
    "docs/screenshots.py",
    "docs/conf.py",
]

# Runs pytest within a test: for those of the plugin.
pytest_plugins = ["pytester"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--programs",
        type=int,
        default=None,
        metavar="N",
        help="compare N random programs on gencoro and on its models, new ones each time "
        "(without the option: always the same, 500 for Tornado and 100 for asyncio)",
    )
    parser.addoption(
        "--again",
        action="store_true",
        help="the suite has passed on another interpreter: leave out what is marked "
        "`once`, and compare a fifth of the random programs",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Make the tests without a pause for the garbage collector: they all stay."""
    gc.disable()
    try:
        _compile_a_share(session.config)
        return (yield)
    finally:
        gc.enable()


def _compile_a_share(config: pytest.Config) -> None:
    """Import, in each worker of pytest-xdist, other files of the whole suite first.

    All of them import every file.  In the same order, in a new checkout each would also compile
    nearly all of them, at the same time as the others: half of the time of collecting.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    folders = map(pathlib.Path, config.args)
    paths = sorted(path for folder in folders for path in folder.rglob("test_*.py"))
    number = int(worker["workerid"].removeprefix("gw"))
    for path in paths[number :: worker["workercount"]]:
        with contextlib.suppress(pytest.skip.Exception):  # a package is missing
            import_module(".".join(path.with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: pathlib.Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples only in modules that have a prompt.

    pytest would import all the others for it, in each worker, and look through their
    functions: a quarter of the time of collecting.
    """
    collectors = yield
    if file_path.suffix == ".py" and b">>> " not in file_path.read_bytes():
        return [one for one in collectors if not isinstance(one, DoctestModule)]
    return collectors


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out, with ``--again``, the tests that need run only once.

    Last, because a folder may mark all of its tests.
    """
    if not config.getoption("--again"):
        return
    known = [item for item in items if item.get_closest_marker("once")]
    config.hook.pytest_deselected(items=known)
    for item in known:
        items.remove(item)


def pytest_xdist_auto_num_workers() -> int:
    """Have three workers more than cores: many tests wait, for a server or a process."""
    return (os.cpu_count() or 1) + 3


def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> WorkStealingScheduling | None:
    """Give each worker an equal share of the tests, in order, and later of slower ones'.

    pytest-xdist's default gives each a few of every file, so that all of them prepare what
    the tests of a file share.
    """
    is_default = config.getoption("dist") == "load"
    return WorkStealingScheduling(config, log) if is_default else None


@hypothesis.settings(max_examples=1, database=None, deadline=None)
@hypothesis.given(hypothesis.strategies.none())
def _use_hypothesis(_: None) -> None:
    """Have Hypothesis register its random numbers and Trio's before anything is frozen.

    It looks for references to them, and the collector finds none in frozen objects.
    """


_frozen_for: list[pathlib.Path] = []


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Have the garbage collector leave alone what is there when a file of tests begins.

    Those that collect, or look at every object there is, take a third of the time: the
    tests themselves, and what earlier ones have left, are a million objects.
    """
    if not _frozen_for:
        _use_hypothesis()
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
