"""`run_sync`: results, errors, time-outs, nesting, threads, and what interrupts it."""

import concurrent.futures
import functools
import os
import signal
import time

from tests.legacy.golden.stage import program


def attempt_all(stage, function, *args, **kwargs):
    """Note what a function returns, or the class of whatever it raises."""
    try:
        result = function(*args, **kwargs)
    except BaseException as exc:
        stage.note("raised", type(exc))
    else:
        stage.note("returned", result)


def resolved(stage, result):
    future = stage.concurrent.Future()
    future.set_result(result)
    return future


@program
def run_sync_returns_results_of_all_kinds(stage):
    @stage.gen.coroutine
    def work(result):
        yield stage.gen.moment
        raise stage.gen.Return(result)

    async def native():
        await stage.gen.sleep(0.02)
        return "native"

    run_sync = stage.loop.run_sync
    stage.note("coroutine", run_sync(lambda: work(1)))
    stage.note("native coroutine", run_sync(native))
    stage.note("future", run_sync(lambda: resolved(stage, 2)))
    stage.note("list", run_sync(lambda: [work(3), resolved(stage, 4), None]))
    stage.note("dict", run_sync(lambda: {"five": work(5)}))
    stage.note("nested", run_sync(lambda: [[work(6)], {"seven": work(7)}]))
    stage.note("empty", run_sync(list), run_sync(dict))
    stage.note("moment is none", run_sync(lambda: stage.gen.moment) is None)
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        stage.note("executor", run_sync(lambda: executor.submit(pow, 2, 3)))


@program
def run_sync_times_out_and_its_coroutine_goes_on(stage):
    @stage.gen.coroutine
    def work():
        try:
            stage.note("resumed with", (yield future))
        except BaseException as exc:
            stage.note("resumed by", type(exc))

    future = stage.concurrent.Future()
    try:
        stage.loop.run_sync(work, timeout=0.02)
    except stage.ioloop.TimeoutError as exc:
        stage.note("timed out", isinstance(exc, stage.gen.TimeoutError))
    stage.note("the future", future)
    if not future.done():
        future.set_result(42)
    stage.turn(3)


@program
def run_sync_with_no_time_at_all(stage):
    attempt_all(stage, stage.loop.run_sync, lambda: None, timeout=0)
    attempt_all(stage, stage.loop.run_sync, lambda: resolved(stage, 42), timeout=0)
    attempt_all(stage, stage.loop.run_sync, lambda: stage.gen.sleep(0.1), timeout=0)
    attempt_all(stage, stage.loop.run_sync, lambda: resolved(stage, "usable"))


@program
def run_sync_beside_a_coroutine_that_timed_out_before(stage):
    @stage.gen.coroutine
    def late():
        yield future
        stage.note("the late one ends")

    @stage.gen.coroutine
    def main():
        if not future.done():
            stage.loop.add_callback(future.set_result, None)
        yield stage.gen.sleep(0.02)
        stage.note("main ends")

    future = stage.concurrent.Future()
    attempt_all(stage, stage.loop.run_sync, late, timeout=0.02)
    attempt_all(stage, stage.loop.run_sync, main)


@program
def run_sync_inside_the_running_loop(stage):
    @stage.gen.coroutine
    def inner():
        stage.note("the inner one is called all the same")

    @stage.gen.coroutine
    def main():
        attempt_all(stage, stage.loop.run_sync, inner)
        yield stage.gen.sleep(0.02)
        stage.note("main ends")

    attempt_all(stage, stage.loop.run_sync, main)
    stage.wait(0.04)


@program
def run_sync_on_a_loop_that_is_stopped_meanwhile(stage):
    @stage.gen.coroutine
    def main():
        stage.loop.add_callback(stage.loop.stop)
        yield stage.gen.sleep(0.02)
        stage.note("main ends")

    attempt_all(stage, stage.loop.run_sync, main)
    attempt_all(stage, stage.loop.run_sync, lambda: stage.gen.sleep(0.04))


@program
def run_sync_is_left_by_what_is_no_exception(stage):
    @stage.gen.coroutine
    def leave_at_once(error):
        raise error

    @stage.gen.coroutine
    def leave_later(error):
        yield stage.gen.moment
        raise error

    for error in (KeyboardInterrupt(), SystemExit(3)):
        for leave in (leave_at_once, leave_later):
            stage.note(leave.__name__)
            loop = stage.ioloop.IOLoop(make_current=False)
            attempt_all(stage, loop.run_sync, functools.partial(leave, error))
            is_current = stage.ioloop.IOLoop.current() is stage.loop
            stage.note("current as before", is_current)
            attempt_all(stage, loop.run_sync, lambda: resolved(stage, "usable"))
            loop.close()


@program
def run_sync_is_left_by_a_callback(stage):
    @stage.gen.coroutine
    def main():
        stage.loop.add_callback(leave)
        yield future
        stage.note("main ends")

    def leave():
        raise SystemExit(3)

    future = stage.concurrent.Future()
    attempt_all(stage, stage.loop.run_sync, main)
    if not future.done():
        future.set_result(None)
    attempt_all(stage, stage.turn, 3)


@program
def signal_interrupts_run_sync_and_its_coroutine_cleans_up(stage):
    @stage.gen.coroutine
    def main():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.02)
            yield stage.gen.sleep(0.1)
            stage.note("not interrupted")
        finally:
            stage.note("cleaned up")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    attempt_all(stage, stage.loop.run_sync, main)
    signal.signal(signal.SIGINT, before)
