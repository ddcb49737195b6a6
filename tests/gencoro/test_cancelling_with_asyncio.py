"""asyncio's own ways to cancel and to protect, around coroutines and within them."""

import asyncio
import concurrent.futures
import threading

import pytest

from gencoro import gen


class Failure(Exception):
    pass


class Sleeper:
    """A coroutine that sleeps for a minute, and what became of it."""

    def __init__(self):
        self.steps = []

    @gen.coroutine
    def sleep(self):
        try:
            yield gen.sleep(60)
            self.steps.append("slept")
        except asyncio.CancelledError as error:
            self.steps.append(("cancelled", *error.args))
            raise
        finally:
            yield gen.sleep(1)
            self.steps.append("clean")


@pytest.fixture
def sleeper():
    return Sleeper()


@pytest.fixture
def executor():
    """An executor with one thread."""
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        yield executor


def _now():
    return asyncio.get_running_loop().time()


def test_wait_for_cancels_and_waits_for_the_clean_up(run, sleeper):
    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(sleeper.sleep(), 5)
        return _now()

    assert run(main) == 6
    assert sleeper.steps == [("cancelled",), "clean"]


def test_wait_for_takes_the_result_of_what_refuses_to_be_cancelled(run):
    @gen.coroutine
    def stubborn():
        try:
            yield gen.sleep(60)
        except asyncio.CancelledError:
            return "finished all the same"

    async def main():
        return await asyncio.wait_for(stubborn(), 5)

    assert run(main) == "finished all the same"


def test_wait_for_may_be_yielded(run, sleeper):
    @gen.coroutine
    def body():
        try:
            yield asyncio.wait_for(sleeper.sleep(), 5)
        except TimeoutError:
            return _now()

    assert run(body) == 6
    assert sleeper.steps == [("cancelled",), "clean"]


def test_timeout_around_an_awaited_coroutine_cancels_it(run, sleeper):
    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await sleeper.sleep()
        return _now()

    assert run(main) == 6
    assert sleeper.steps == [("cancelled",), "clean"]


def test_shield_keeps_a_cancel_from_the_coroutine(run, sleeper):
    @gen.coroutine
    def outer(shielded):
        yield asyncio.shield(shielded)

    async def main():
        shielded = sleeper.sleep()
        future = outer(shielded)
        future.cancel()
        await asyncio.wait([future])
        before = list(sleeper.steps)
        await shielded
        return future.cancelled(), before

    assert run(main) == (True, [])
    assert sleeper.steps == ["slept", "clean"]


def test_task_group_cancels_a_coroutine_beside_one_that_fails(run, sleeper):
    @gen.coroutine
    def failing():
        yield gen.sleep(5)
        raise Failure("in the group")

    async def awaiting(future):
        return await future

    async def main():
        with pytest.raises(ExceptionGroup) as caught:
            async with asyncio.TaskGroup() as group:
                group.create_task(awaiting(sleeper.sleep()))
                group.create_task(awaiting(failing()))
        return [str(error) for error in caught.value.exceptions], _now()

    assert run(main) == (["in the group"], 6)
    assert sleeper.steps == [("cancelled",), "clean"]


def test_cancel_goes_through_a_native_coroutine_in_between(run, sleeper):
    steps = []

    async def between():
        try:
            await sleeper.sleep()
        finally:
            steps.append("between")

    @gen.coroutine
    def outer():
        try:
            yield between()
        finally:
            steps.append("outer")

    async def main():
        future = outer()
        await asyncio.sleep(1)
        future.cancel("enough")
        await asyncio.wait([future])
        return future.cancelled()

    assert run(main)
    assert sleeper.steps == [("cancelled", "enough"), "clean"]
    assert steps == ["between", "outer"]


def test_cancelling_a_task_cancels_the_coroutine_that_it_awaits(run, sleeper):
    async def native():
        await sleeper.sleep()

    async def main():
        task = asyncio.create_task(native())
        await asyncio.sleep(1)
        task.cancel("enough")
        await asyncio.wait([task])
        return task.cancelled()

    assert run(main)
    assert sleeper.steps == [("cancelled", "enough"), "clean"]


def test_gather_cancels_its_coroutines(run, sleeper):
    async def main():
        future = asyncio.gather(sleeper.sleep(), sleeper.sleep())
        future.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await future

    run(main)

    assert sleeper.steps == [("cancelled", "enough")] * 2 + ["clean"] * 2


def test_job_that_has_not_begun_is_cancelled(executor):
    release = threading.Event()

    @gen.coroutine
    def waits_for(job):
        yield job

    async def main():
        executor.submit(release.wait)
        job = executor.submit(print, "never")
        future = waits_for(job)
        future.cancel("enough")
        await asyncio.wait([future])
        release.set()
        return future.cancelled(), job.cancelled()

    assert asyncio.run(main()) == (True, True)


def test_job_that_runs_goes_on_and_nobody_waits_for_it(executor):
    begun, release = threading.Event(), threading.Event()

    def work():
        begun.set()
        release.wait()
        return "result"

    @gen.coroutine
    def waits_for(job):
        yield job

    async def main():
        job = executor.submit(work)
        future = waits_for(job)
        begun.wait()
        future.cancel("enough")
        await asyncio.wait([future])
        running = job.running()
        release.set()
        return future.cancelled(), running, await asyncio.wrap_future(job)

    assert asyncio.run(main()) == (True, True, "result")


def test_list_of_jobs_cancels_those_that_have_not_begun(executor):
    begun, release = threading.Event(), threading.Event()

    def work():
        begun.set()
        release.wait()

    async def main():
        jobs = [executor.submit(work), executor.submit(print, "never")]
        future = gen.multi(jobs)
        begun.wait()
        future.cancel()
        await asyncio.wait([future])
        release.set()
        return future.cancelled(), [job.cancelled() for job in jobs]

    assert asyncio.run(main()) == (True, [False, True])
