"""gencoro.executors: blocking functions on other threads."""

import asyncio
import concurrent.futures
import threading

import pytest

from gencoro import gen
from gencoro.executors import DummyExecutor, dummy_executor, run_on_executor
from tests.helpers.gencoro.outcomes import Failure


class Worker:
    def __init__(self, executor):
        self.executor = self.pool = executor

    @run_on_executor
    def add(self, a, b=2):
        return a + b

    @run_on_executor()
    def fail(self):
        raise Failure("on the executor")

    @run_on_executor(executor="pool")
    def thread(self):
        """Tell where it runs."""
        return threading.current_thread()


@pytest.fixture
def worker():
    """A worker with a thread of its own."""
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        yield Worker(executor)


def test_result_comes_back_from_the_thread(worker):
    @gen.coroutine
    def main():
        return (yield [worker.add(40), worker.add(1, b=1), worker.thread()])

    first, second, thread = asyncio.run(_awaiting(main))

    assert (first, second) == (42, 2)
    assert thread is not threading.current_thread()


async def _awaiting(main):
    return await main()


def test_error_comes_back_from_the_thread(worker):
    @gen.coroutine
    def main():
        try:
            yield worker.fail()
        except Failure as error:
            return error.args

    assert asyncio.run(_awaiting(main)) == ("on the executor",)


def test_coroutine_goes_on_on_the_loops_thread(worker):
    @gen.coroutine
    def main():
        yield worker.executor.submit(max, 1, 2)
        return threading.current_thread()

    assert asyncio.run(_awaiting(main)) is threading.current_thread()


def test_decorated_method_looks_like_its_function():
    assert (Worker.thread.__name__, Worker.thread.__doc__) == (
        "thread",
        "Tell where it runs.",
    )


@pytest.mark.parametrize("args", [(1,), (print, print)])
def test_wrong_arguments_are_refused(args):
    with pytest.raises(TypeError, match="write @run_on_executor alone"):
        run_on_executor(*args)


def test_unknown_keyword_is_refused():
    with pytest.raises(TypeError, match="takes executor= only"):
        run_on_executor(pool="executor")


def test_dummy_executor_runs_at_once_and_keeps_the_error():
    good = dummy_executor.submit(max, 1, 2)
    bad = dummy_executor.submit(int, "no number")

    assert good.result(timeout=0) == 2
    assert isinstance(bad.exception(timeout=0), ValueError)


def test_dummy_executor_serves_methods_without_a_turn_of_the_loop(run):
    async def main():
        return Worker(DummyExecutor()).add(40).done()

    assert run(main)
