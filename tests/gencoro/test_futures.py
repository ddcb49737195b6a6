"""gencoro.futures: the helpers around asyncio's Future."""

import asyncio
import concurrent.futures
import logging
import threading

import pytest

from gencoro.futures import (
    CoroutineFuture,
    chain_future,
    from_concurrent,
    future_set_exc_info,
    future_set_exception_unless_cancelled,
    future_set_result_unless_cancelled,
)


@pytest.fixture
def make_future():
    """Make Futures on a loop that never runs."""
    loop = asyncio.new_event_loop()
    yield loop.create_future
    loop.close()


def test_coroutine_future_poses_as_a_task_for_the_call_graph_only():
    has_call_graph = hasattr(asyncio, "capture_call_graph")

    assert hasattr(CoroutineFuture, "get_coro") == has_call_graph


def test_result_of_a_done_future_is_refused(make_future):
    future = make_future()
    future_set_result_unless_cancelled(future, 1)

    with pytest.raises(asyncio.InvalidStateError):
        future_set_result_unless_cancelled(future, 2)

    assert future.result() == 1


def test_error_of_a_cancelled_future_is_logged(make_future, caplog):
    future, error = make_future(), KeyError("k")
    future.cancel()

    future_set_exception_unless_cancelled(future, error)

    [record] = caplog.records
    assert (record.name, record.levelno) == ("tornado.application", logging.ERROR)
    assert record.exc_info[1] is error


def test_exc_info_without_an_error_is_refused(make_future):
    with pytest.raises(ValueError, match="holds none"):
        future_set_exc_info(make_future(), (None, None, None))


def test_chain_leaves_a_done_target_alone(make_future):
    source, target = make_future(), make_future()
    target.set_result("first")
    source.set_result("second")

    chain_future(source, target)

    assert target.result() == "first"


def test_job_of_another_thread_arrives_on_the_loop():
    async def main():
        job = concurrent.futures.Future()
        future, threads = from_concurrent(job), []
        future.add_done_callback(lambda _: threads.append(threading.current_thread()))
        worker = threading.Thread(target=job.set_result, args=(42,))
        worker.start()
        result = await future
        await asyncio.sleep(0)
        worker.join()
        return result, threads

    assert asyncio.run(main()) == (42, [threading.current_thread()])


def test_cancellation_reaches_an_executors_future_that_is_running(run):
    async def main():
        source = asyncio.get_running_loop().create_future()
        target = concurrent.futures.Future()
        target.set_running_or_notify_cancel()
        chain_future(source, target)
        source.cancel()
        await asyncio.sleep(0)
        return target

    with pytest.raises(concurrent.futures.CancelledError):
        run(main).result(0)
