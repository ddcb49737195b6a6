"""gencoro.executors: blocking functions on other threads."""

import concurrent.futures
import threading
from datetime import timedelta

import pytest

from gencoro import gen
from gencoro.executors import run_on_executor
from gencoro.ioloop import IOLoop
from tests.helpers.gencoro.outcomes import Failure


@pytest.mark.parametrize("args", [(1,), (print, print)])
def test_wrong_arguments_are_refused(args):
    with pytest.raises(TypeError, match="write @run_on_executor alone"):
        run_on_executor(*args)


def test_unknown_keyword_is_refused():
    with pytest.raises(TypeError, match="takes executor= only"):
        run_on_executor(pool="executor")


class Pool:
    executor = concurrent.futures.ThreadPoolExecutor(1)

    @run_on_executor
    def call(self, job):
        return job()


WAYS_TO_RUN = {
    "yield": lambda pool, job: pool.executor.submit(job),
    "in a list": lambda pool, job: [pool.executor.submit(job)],
    "run_on_executor": lambda pool, job: pool.call(job),
    "run_in_executor": lambda pool, job: IOLoop.current().run_in_executor(
        pool.executor, job
    ),
    "chain_future": lambda pool, job: _chained(pool.executor.submit(job)),
}


def _chained(job):
    target = gen.Future()
    gen.chain_future(job, target)
    return target


@pytest.mark.parametrize("way", WAYS_TO_RUN)
def test_job_that_raises_stop_iteration_ends_the_wait(way):
    is_awaited = threading.Event()

    def job():
        is_awaited.wait()
        return next(iter(()))

    @gen.coroutine
    def main():
        IOLoop.current().add_callback(is_awaited.set)
        yield WAYS_TO_RUN[way](Pool(), job)

    loop = IOLoop(make_current=False)
    with pytest.raises(RuntimeError) as caught:
        loop.run_sync(main, timeout=20)
    loop.close()

    assert isinstance(caught.value.__cause__, StopIteration)


@pytest.mark.parametrize(
    ("wait", "logged"),
    [
        (lambda job: job, [("late",)]),
        (lambda job: [[None], {"job": job}], [("late",)]),
        # An iterator that is no longer used waits for nothing.
        (lambda job: gen.WaitIterator(job).next(), []),
    ],
    ids=["with_timeout", "with_timeout of nested lists", "WaitIterator"],
)
def test_job_keeps_one_callback_of_all_who_gave_up(wait, logged, caplog):
    job = concurrent.futures.Future()

    @gen.coroutine
    def main():
        for _ in range(3):
            with pytest.raises(TimeoutError):
                yield gen.with_timeout(timedelta(0), wait(job))
        callbacks = len(job._done_callbacks)
        job.set_exception(Failure("late"))
        with pytest.raises(Failure):
            yield wait(job)
        for _ in range(5):  # turns in which it would be logged
            yield gen.moment
        return callbacks

    loop = IOLoop(make_current=False)
    assert loop.run_sync(main, timeout=20) == 1
    loop.close()

    assert [record.exc_info[1].args for record in caplog.records] == logged
