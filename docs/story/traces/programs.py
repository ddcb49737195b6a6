"""The programs that are recorded; each function returns its `Trace`."""

import contextlib
import importlib
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

STORY = Path(__file__).parent.parent
sys.path.insert(0, str(STORY))

import loop as loop_module
import one_cancel
import one_yield
import readers_runner
import runner
import three_naps
import three_pages
from loops import Peer, SocketLoop, TimedLoop
from recorder import Recorder, Trace

import crawler_app.run.crawl
import gencoro.runner
from gencoro.testing import new_io_loop

__all__ = [
    "one_cancel_of_gencoro",
    "one_yield_of_gencoro",
    "one_yield_of_stage_7",
    "run_sync_of_three_naps",
    "three_pages_of_crawler_app",
    "two_fetches_of_stage_4",
]

stage_4 = importlib.import_module("4_generators")
fetch, Task = stage_4.fetch, stage_4.Task


def run_sync_of_three_naps() -> Trace:
    """Record ``run_sync`` of three coroutines that sleep."""
    return _record_run_sync(three_naps, {"main", "nap"}, {})


def one_yield_of_gencoro() -> Trace:
    """Record what the Runner does for one yielded Future."""
    methods = {"Runner.__init__", "Runner.run", "Runner.handle_yield"}
    runners = {Path(gencoro.runner.__file__): methods}
    return _record_run_sync(one_yield, {"main", "fetch"}, runners)


def one_cancel_of_gencoro() -> Trace:
    """Record where a cancel goes: ``run_sync`` has a timeout."""
    return _record_run_sync(one_cancel, {"main", "fetch"}, {}, timeout=2)


def three_pages_of_crawler_app() -> Trace:
    """Record the path of three URLs through the crawler."""
    methods = {"Crawl.run", "Crawl._work", "Crawl.crawl_one", "Crawl._explore"}
    functions = {Path(crawler_app.run.crawl.__file__): methods}
    return _record_run_sync(three_pages, {"crawl_one"}, functions)


def _record_run_sync(
    program: Any,
    coroutines: set[str],
    functions: dict[Path, set[str]],
    timeout: float | None = None,
) -> Trace:
    loop = TimedLoop()
    recorder = Recorder(loop, {Path(program.__file__): set(), **functions}, coroutines)
    loop.recorder = recorder
    with (
        new_io_loop(loop) as io_loop,
        recorder.recording(),
        contextlib.suppress(TimeoutError),
        contextlib.redirect_stdout(None),
    ):
        io_loop.run_sync(program.main, timeout)
    return recorder.trace


def one_yield_of_stage_7() -> Trace:
    """Record the same on the Runner of stage 7."""
    loop = TimedLoop()
    methods = {
        f"Runner.{name}" for name in ("__init__", "run", "resume", "handle_yield")
    }
    functions = {Path(readers_runner.__file__): set(), Path(runner.__file__): methods}
    recorder = Recorder(loop, functions, {"main", "fetch"})
    loop.recorder = recorder

    def start() -> None:
        readers_runner.main().add_done_callback(lambda _: loop.stop())

    with recorder.recording():
        loop.call_soon(start)
        loop.run_forever()
    loop.close()
    return recorder.trace


def two_fetches_of_stage_4() -> Trace:
    """Record two fetches on the loop of stage 4, with sockets."""
    peer = Peer({"/slow": 3, "/quick": 1})
    loop = SocketLoop(peer)
    names = {"Task._step", "Task._wake", "Future.set", "fetch", "wait_until_ready"}
    functions = {
        Path(__file__): {"fetch_both"},
        Path(stage_4.__file__): names,
        Path(loop_module.__file__): {"Loop.run"},
    }
    loop.recorder = Recorder(loop, functions, {"fetch_both", "fetch"})
    with loop.recorder.recording():
        stage_4.run(loop, fetch_both(loop, peer))
    peer.close()
    return loop.recorder.trace


def fetch_both(loop: loop_module.Loop, peer: Peer) -> Generator[Any, Any, list[bytes]]:
    paths = ["/slow", "/quick"]
    generators = [fetch(loop, peer.site + path) for path in paths]
    tasks = [Task(loop, generator) for generator in generators]
    pages = []
    for task in tasks:
        pages.append((yield from task))
    return pages
