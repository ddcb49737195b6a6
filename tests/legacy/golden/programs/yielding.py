"""What else a coroutine may yield: nothing, natives, threads, naps."""

import threading
import time
from concurrent import futures

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future, turns_until_done


@program
def moment_and_none_take_a_turn_each(stage):
    @stage.gen.coroutine
    def work():
        yield stage.gen.moment
        stage.note("after moment")
        stage.note("after None", (yield None))
        stage.note("after nothing", (yield))
        stage.note("after a ready one", (yield done_future(stage, 42)))

    future = work()
    for _ in range(4):
        stage.turn()
        stage.note("turned", future)


@program
def moment_waits_for_its_turn_among_the_callbacks(stage):
    @stage.gen.coroutine
    def work():
        yield stage.gen.moment
        stage.loop.add_callback(stage.noting("added after the moment"))
        yield None
        stage.note("resumed")

    stage.loop.add_callback(stage.noting("added before the call"))
    work()
    stage.loop.add_callback(stage.noting("added after the call"))
    for _ in range(2):
        stage.turn()
        stage.note("turned")


@program
def moment_lets_timers_run(stage):
    due = []

    @stage.gen.coroutine
    def work():
        give_up_at = time.time() + 5
        while not due and time.time() < give_up_at:
            yield stage.gen.moment
        stage.note("due", due)

    stage.loop.call_later(0.02, due.append, "the timer")
    stage.run(work)


@program
def moment_is_awaited_by_native_coroutines(stage):
    async def work():
        await stage.gen.moment
        return "awaited"

    @stage.gen.coroutine
    def call():
        try:
            stage.note((yield work()))
        except TypeError as exc:
            stage.note("caught", type(exc))

    stage.run(call)


@program
def bad_yield_is_thrown_in_and_may_be_caught(stage):
    @stage.gen.coroutine
    def work():
        for bad in (42, "text", b"bytes", object(), len, work, stage.gen.Future):
            try:
                yield bad
            except stage.gen.BadYieldError as exc:
                stage.note("caught", exc)
            yield done_future(stage)
        return "went on"

    stage.note(work())


@program
def bad_yield_not_caught_fails_the_coroutine(stage):
    @stage.gen.coroutine
    def work(yields):
        try:
            yield from yields
        finally:
            stage.note("finally")

    stage.note("the first", work([42]), "a later", work([done_future(stage), 42]))
    after_a_wait = work([None, 42])
    stage.turn(2)
    stage.note("after a wait", after_a_wait)


@program
def native_coroutine_yielded_begins_and_is_waited_for(stage):
    async def native(wait_for):
        stage.note("begun")
        return await wait_for

    pending = stage.gen.Future()

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield native(pending)))

    future = work()
    stage.note("called")
    stage.turn(2)
    pending.set_result(42)
    turns_until_done(stage, future)
    stage.note(future)


@program
def native_coroutine_yielded_gives_its_result_or_error(stage):
    async def native(error=None):
        await stage.gen.sleep(0.02)
        if error:
            raise error
        return 42

    async def calls_native():
        return await native() + 1

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield native()), (yield calls_native()))
        try:
            yield native(ValueError("inside"))
        except ValueError as exc:
            stage.note("caught", exc)
        stage.note("given", (yield [native(), {"a": native()}]))

    stage.run(work)


@program
def awaitable_objects_are_waited_for(stage):
    class Awaitable:
        def __init__(self, error=None):
            self.error = error

        def __await__(self):
            waited = yield from stage.gen.sleep(0.02).__await__()
            if self.error:
                raise self.error
            return "awaited", waited

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield Awaitable()), (yield [Awaitable()]))
        try:
            yield Awaitable(ValueError("inside"))
        except ValueError as exc:
            stage.note("caught", exc)

    stage.run(work)


@program
def awaitable_that_yields_no_future_is_told_so(stage):
    class Awaitable:
        def __await__(self):
            try:
                yield 42
            except Exception as exc:
                stage.note("thrown in", type(exc))
            return "went on"

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield Awaitable()))

    stage.run(work)


@program
def executor_results_come_back_to_the_thread_of_the_loop(stage):
    pool = futures.ThreadPoolExecutor(2)

    def fail():
        raise ValueError("in a thread")

    @stage.gen.coroutine
    def work():
        thread = threading.current_thread()
        stage.note(
            "own thread", (yield pool.submit(threading.current_thread)) is thread
        )
        stage.note("resumed there", threading.current_thread() is thread)
        try:
            yield pool.submit(fail)
        except ValueError as exc:
            stage.note("caught", exc, threading.current_thread() is thread)

    stage.run(work)
    pool.shutdown()


@program
def executor_futures_in_a_list_tell_which_thread_it_is_done_on(stage):
    pool = futures.ThreadPoolExecutor(1)
    may_end = threading.Event()

    def done(future):
        here = threading.current_thread() is threading.main_thread()
        stage.note("done", future, "on the thread of the loop", here)

    future = stage.gen.multi([pool.submit(may_end.wait), done_future(stage, 42)])
    future.add_done_callback(done)
    may_end.set()
    pool.shutdown()
    stage.note("the thread has ended")
    stage.turn(4)


@program
def sleeps_end_in_the_order_of_their_lengths(stage):
    @stage.gen.coroutine
    def nap(seconds):
        stage.note("slept", seconds, (yield stage.gen.sleep(seconds)))

    @stage.gen.coroutine
    def work():
        yield [nap(0.08), nap(0.04), nap(0), nap(0.04)]

    asleep = stage.gen.sleep(0)
    stage.note("not at once", asleep, stage.gen.is_future(asleep))
    stage.run(work)
    stage.note(asleep)


@program
def maybe_future_wraps_all_that_is_no_future(stage):
    maybe_future = stage.gen.maybe_future
    for future in (stage.gen.Future(), futures.Future(), done_future(stage, 42)):
        stage.note("the same", maybe_future(future) is future)
    pending = stage.gen.Future()
    for value in (42, None, ValueError("a value"), [pending], {"a": pending}):
        stage.note(maybe_future(value), isinstance(maybe_future(value), type(pending)))
