"""gencoro.executors: blocking functions on other threads."""

import pytest

from gencoro.executors import DummyExecutor, dummy_executor, run_on_executor


class Worker:
    pool = DummyExecutor()

    @run_on_executor(executor="pool")
    def add(self, a, b=2):
        return a + b


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
        return Worker().add(40).done()

    assert run(main)
