"""gencoro.closing: what close() and the end of a script end, and in which order."""

import asyncio
import contextlib
import gc
import logging
import os
import subprocess
import sys
import textwrap
import threading

import pytest

from gencoro import gen
from gencoro.ioloop import IOLoop
from gencoro.runner import Runner


@pytest.fixture
def steps():
    """Return a list for what happens, in order."""
    return []


@gen.coroutine
def _cleans_up(steps, name, wait=gen.sleep):
    try:
        yield wait(60)
    finally:
        yield gen.sleep(0.001)
        steps.append(name)


@pytest.mark.parametrize(
    "close", [IOLoop.close, lambda loop: loop.asyncio_loop.close()], ids=["it", "inner"]
)
def test_closing_a_closed_loop_has_no_effect(close):
    current, loop = IOLoop(), IOLoop(make_current=False)
    close(loop)
    # Tornado forgets closed loops whenever it makes one.
    IOLoop(make_current=False).close()

    loop.close()
    loop.close(all_fds=True)

    assert IOLoop.current() is current
    current.close()
    current.close()
    assert IOLoop.current(instance=False) is None


def _run_and_close(main):
    loop = IOLoop()
    loop.run_sync(gen.coroutine(main))
    loop.close()
    assert loop.asyncio_loop.is_closed()


def _begin_and_close(*coroutines):
    """Begin coroutines on a loop, and close it while they are suspended."""

    def main():
        for coroutine in coroutines:
            coroutine()
        yield gen.moment

    _run_and_close(main)


def _warnings(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


# close()


def test_coroutines_that_are_suspended_clean_up(steps, caplog):
    def main():
        _cleans_up(steps, "outer", lambda _: [_cleans_up(steps, "inner"), gen.sleep(1)])
        _cleans_up(steps, "alone")
        yield gen.moment

    _run_and_close(main)

    assert sorted(steps) == ["alone", "inner", "outer"]
    assert steps.index("inner") < steps.index("outer")
    assert _warnings(caplog) == []


def _run_by_hand(main):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(main())
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.wait(tasks))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def _run_twice(main):
    with asyncio.Runner() as runner:
        runner.run(asyncio.sleep(0))
        runner.run(main())


def _run_on_an_ioloop(main):
    loop = IOLoop(make_current=False)
    loop.run_sync(main)
    loop.close()


WAYS_TO_RUN = {
    "asyncio.run": lambda main: asyncio.run(main()),
    "asyncio.Runner": _run_twice,
    "shutdown_asyncgens": _run_by_hand,
    "IOLoop": _run_on_an_ioloop,
    "uvloop": lambda main: pytest.importorskip("uvloop").run(main()),
}


@pytest.mark.parametrize("way", WAYS_TO_RUN)
def test_whatever_closes_a_loop_ends_its_coroutines(steps, caplog, way):
    async def task():
        await _cleans_up(steps, "in a task")

    async def main():
        _cleans_up(steps, "dropped")
        kept = _cleans_up(
            steps, "kept", lambda _: asyncio.get_running_loop().create_future()
        )
        held.extend([kept, asyncio.create_task(task())])
        await asyncio.sleep(0.001)

    held = []
    WAYS_TO_RUN[way](main)

    assert sorted(steps) == ["dropped", "in a task", "kept"]
    assert [future.cancelled() for future in held] == [True, True]
    assert _warnings(caplog) == []


def test_coroutine_that_is_about_to_go_on_is_cancelled_first(steps):
    @gen.coroutine
    def turns():
        try:
            while True:
                yield gen.moment
                steps.append("turn")
        finally:
            steps.append("end")

    loop = IOLoop()
    loop.add_callback(turns)
    loop.run_sync(lambda: gen.sleep(0.001))
    steps.clear()
    loop.close()

    assert steps == ["end"]


@pytest.mark.parametrize("begin", ["native coroutines", "coroutines"])
def test_each_coroutine_is_cancelled_once_however_many_wait_for_it(monkeypatch, begin):
    asked = []
    ask_to_end = Runner._ask_to_end

    def count(self, *args):
        asked.append(self)
        return ask_to_end(self, *args)

    monkeypatch.setattr(Runner, "_ask_to_end", count)

    @gen.coroutine
    def wait_for(other):
        yield other

    async def native(other):
        await other

    def main():
        shared = wait_for([wait_for(gen.Future()) for _ in range(100)])
        wait = wait_for if begin == "coroutines" else native
        kept.extend(asyncio.ensure_future(wait(shared)) for _ in range(100))
        yield gen.moment

    kept = []
    _run_and_close(main)

    assert all(future.cancelled() for future in kept)
    assert len(asked) == len(set(asked)) == (201 if begin == "coroutines" else 101)


def test_error_of_cleaning_up_is_logged(caplog):
    @gen.coroutine
    def fails():
        try:
            yield gen.sleep(60)
        finally:
            raise ZeroDivisionError

    _begin_and_close(fails)

    assert "exception was never retrieved" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_default_executor_is_closed_last_and_ends_its_job(steps):
    begun, released = threading.Event(), threading.Event()

    @gen.coroutine
    def releases_the_job():
        try:
            yield gen.sleep(60)
        finally:
            steps.append("coroutine")
            released.set()

    def job():
        begun.set()
        assert released.wait(10)
        steps.append("job")

    def main():
        IOLoop.current().run_in_executor(None, job)
        releases_the_job()
        yield gen.moment
        assert begun.wait(10)

    before = set(threading.enumerate())
    _run_and_close(main)

    assert steps == ["coroutine", "job"]
    assert set(threading.enumerate()) <= before


@gen.coroutine
def _refuses():
    while True:
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError:
            pass


async def _refuses_natively():
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(60)
    await asyncio.get_running_loop().create_future()


async def _generates():
    try:
        yield 1
    finally:
        await asyncio.sleep(60)


def _iterate(_gate, held):
    held.append(_generates())
    return asyncio.ensure_future(anext(held[0]))


@pytest.mark.parametrize(
    ("begin", "told"),
    [
        (lambda *_: _refuses(), "_refuses() pending"),
        (lambda *_: gen.convert_yielded(_refuses_natively()), "_refuses_natively()"),
        (_iterate, "shutdown_asyncgens"),
        (
            lambda gate, _: IOLoop.current().run_in_executor(None, gate.wait, 10),
            "still runs a job of the loop's default executor",
        ),
    ],
    ids=["coroutine", "native coroutine", "asynchronous generator", "job"],
)
def test_what_refuses_to_end_is_named_and_left(monkeypatch, caplog, begin, told):
    monkeypatch.setattr("gencoro.closing.CLEAN_UP_S", 0.01)
    gate, held = threading.Event(), []

    def main():
        # asyncio reports a pending Task when it is freed.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        begin(gate, held)
        yield gen.moment

    _run_and_close(main)
    gate.set()

    [message] = _warnings(caplog)
    assert told in message
    assert "0.01 seconds" in message


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda _: IOLoop.current().stop(), ["other"]),
        (lambda steps: _cleans_up(steps, "late"), ["late", "other"]),
    ],
    ids=["stops the loop", "starts another"],
)
def test_cleaning_up_may_do_anything_and_is_waited_for(steps, act, expected):
    @gen.coroutine
    def cleans_up():
        try:
            yield gen.sleep(60)
        finally:
            act(steps)

    _begin_and_close(cleans_up, lambda: _cleans_up(steps, "other"))

    assert sorted(steps) == expected


@pytest.mark.parametrize("others", [[], [_refuses]], ids=["alone", "beside another"])
@pytest.mark.parametrize("close", ["IOLoop.close", "asyncio.run"])
def test_task_that_is_started_while_cleaning_up_ends(
    monkeypatch, caplog, steps, close, others
):
    monkeypatch.setattr("gencoro.closing.CLEAN_UP_S", 0.1)
    begun = []

    @gen.coroutine
    def starts_a_task():
        try:
            yield gen.sleep(60)
        finally:
            begun.append(asyncio.ensure_future(native_clean_up()))

    async def native_clean_up():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            steps.append("task")

    def main():
        begun.append(starts_a_task())
        begun.extend(other() for other in others)
        yield gen.moment

    if close == "asyncio.run":
        asyncio.run(_awaits(gen.coroutine(main)))
    else:
        _run_and_close(main)

    assert steps == ["task"]
    assert len(_warnings(caplog)) == len(others)


async def _awaits(function):
    await function()


def test_other_loops_are_left_alone(steps):
    other = IOLoop(make_current=False)
    other.add_callback(_cleans_up, steps, "other")
    other.run_sync(lambda: gen.sleep(0.001))

    _begin_and_close(lambda: _cleans_up(steps, "this"))
    before = list(steps)
    other.close()

    assert before == ["this"]
    assert steps == ["this", "other"]


def test_closing_inside_another_running_loop_cancels_nothing(steps):
    @gen.coroutine
    def ends():
        try:
            yield gen.sleep(60)
        except BaseException as error:
            steps.append(type(error))
            raise

    loop = IOLoop(make_current=False)
    loop.add_callback(ends)
    loop.run_sync(lambda: gen.sleep(0.001))

    async def main():
        loop.close()

    asyncio.run(main())
    gc.collect()

    assert steps == [GeneratorExit]


# The end of a script that closes nothing.


def _run_script(source, code=0):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PREAMBLE) + textwrap.dedent(source)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout.split(), done.stderr


PREAMBLE = """
    import asyncio, os, signal, sys, time
    from gencoro import gen
    from gencoro.ioloop import IOLoop

    def step(name):
        print(name, flush=True)

    @gen.coroutine
    def cleans_up(name, clean_up):
        try:
            yield gen.sleep(60)
        finally:
            yield clean_up()
            step(name)

    @gen.coroutine
    def main():
        cleans_up("leftover", lambda: gen.moment)
        yield gen.moment
    """


def test_script_ends_its_leftovers_in_order():
    steps, errors = _run_script(
        """
        async def numbers():
            try:
                yield 1
            finally:
                step("generator")

        async def native():
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0.001)
                step("native")

        iterator = numbers()

        @gen.coroutine
        def main():
            cleans_up("coroutine", lambda: gen.sleep(0.01))
            asyncio.create_task(native())
            yield iterator.__anext__()
            yield IOLoop.current().run_in_executor(None, int)

        IOLoop.current().run_sync(main)
        step("returned")
        """
    )

    assert steps == ["returned", "native", "coroutine", "generator"]
    assert errors == ""


def test_cleaning_up_at_the_end_may_use_an_executor():
    steps, errors = _run_script(
        """
        def work():
            time.sleep(0.01)
            step("worked")

        @gen.coroutine
        def main():
            # Has a thread: Python 3.12.0 and 3.12.1 start none when they exit.
            yield IOLoop.current().run_in_executor(None, int)
            cleans_up("coroutine", lambda: IOLoop.current().run_in_executor(None, work))
            yield gen.moment

        IOLoop.current().run_sync(main)
        """
    )

    assert steps == ["worked", "coroutine"]
    assert errors == ""


@pytest.mark.parametrize(
    ("end", "code"),
    [("sys.exit(3)", 3), ("raise KeyError", 1), ("os.kill(os.getpid(), 2)", -2)],
)
def test_script_that_ends_badly_ends_its_leftovers_too(end, code):
    steps, errors = _run_script(
        f"""
        @gen.coroutine
        def main():
            cleans_up("leftover", lambda: gen.moment)
            yield gen.moment
            {end}
            yield gen.sleep(60)

        IOLoop.current().run_sync(main)
        """,
        code,
    )

    assert steps == ["leftover"]
    assert code != 3 or errors == ""


def test_script_that_closed_its_loop_has_nothing_left_to_end():
    steps, errors = _run_script(
        """
        loop = IOLoop.current()
        loop.run_sync(main)
        loop.close()
        step("closed")
        """
    )

    assert steps == ["leftover", "closed"]
    assert errors == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
def test_fork_ends_the_leftovers_of_its_own_loops_and_no_others():
    steps, _errors = _run_script(
        """
        IOLoop.current().run_sync(main)
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            step("parent")
        else:
            IOLoop().run_sync(main)
            step("child")
        """
    )

    assert steps == ["child", "leftover", "parent", "leftover"]


def test_error_of_one_loop_harms_neither_other_loops_nor_threads():
    steps, errors = _run_script(
        """
        import threading
        from gencoro import closing

        def fails(loop, really=closing.finish_leftovers):
            if loop is first.asyncio_loop:
                raise ZeroDivisionError
            really(loop)

        closing.finish_leftovers = fails

        first, second = IOLoop(), IOLoop()
        first.run_sync(main)
        second.run_sync(main)
        threading.Thread(target=lambda: (time.sleep(0.1), step("thread"))).start()
        """
    )

    assert sorted(steps) == ["leftover", "thread"]
    assert "could not be ended" in errors
    assert "ZeroDivisionError" in errors


def test_idle_loop_of_a_thread_that_lives_is_left_to_it():
    steps, errors = _run_script(
        """
        import threading

        @gen.coroutine
        def work():
            yield gen.sleep(0.001)
            step("worked")

        def worker():
            loop = IOLoop(make_current=False)
            for _ in range(3):
                loop.run_sync(work)
                main_has_ended.wait(0.05)

        main_has_ended = threading.Event()
        threading.Thread(target=worker).start()
        """
    )

    assert steps == ["worked"] * 3
    assert errors == ""


def test_handlers_of_atexit_may_use_the_loop():
    steps, errors = _run_script(
        """
        import atexit

        @gen.coroutine
        def goodbye():
            yield gen.moment
            step("goodbye")

        atexit.register(IOLoop.current().run_sync, goodbye)
        IOLoop.current().run_sync(main)
        """
    )

    assert steps == ["leftover", "goodbye"]
    assert errors == ""
