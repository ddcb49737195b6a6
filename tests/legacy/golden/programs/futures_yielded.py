"""4.5's own Future and who waits for it: coroutines, `async def`, `add_future`."""

import gc
from concurrent import futures

from tests.legacy.golden.own_future import make_future
from tests.legacy.golden.stage import program


def waiting(stage, name, future):
    """Start a coroutine that notes what the Future gives it, and returns it."""

    @stage.gen.coroutine
    def wait():
        stage.note(name, "waits")
        try:
            value = yield future
        except Exception as exc:
            stage.note(name, "caught", exc)
            raise
        stage.note(name, "got", value)
        raise stage.gen.Return(value)

    return wait()


@program
def future_resumes_a_coroutine_in_a_later_turn_than_its_callbacks(stage):
    future = make_future(stage)
    future.add_done_callback(stage.noting("before"))
    waiting(stage, "coroutine", future)
    future.add_done_callback(stage.noting("after"))
    future.set_result(1)
    stage.note("set")
    for _ in range(2):
        stage.turn()
        stage.note("a turn later")


@program
def future_resumes_two_coroutines_in_one_turn_in_their_order(stage):
    future = make_future(stage)
    first = waiting(stage, "first", future)
    second = waiting(stage, "second", future)
    future.set_result(1)
    stage.turn()
    stage.note("a turn later")
    stage.turn(2)
    stage.note(first, second)


@program
def future_that_fails_is_thrown_into_each_coroutine(stage):
    future = make_future(stage)
    first = waiting(stage, "first", future)
    second = waiting(stage, "second", future)
    future.set_exception(ValueError("lost"))
    stage.note("set")
    stage.turn(3)
    stage.note(first, second)
    stage.note("the same error", first.exception() is second.exception())


@program
def future_that_failed_in_a_coroutine_is_logged_once_for_its_result(stage):
    future = make_future(stage)
    result = waiting(stage, "coroutine", future)
    future.set_exception(ValueError("lost"))
    stage.turn(3)
    del future
    gc.collect()
    stage.note("nothing of the Future")
    del result
    gc.collect()
    stage.note("the result is dropped")


@program
def future_is_awaited_by_async_def(stage):
    async def main():
        done, pending, failing = [make_future(stage) for _ in range(3)]
        done.set_result(1)
        stage.note("done", await done)
        stage.loop.add_callback(pending.set_result, 2)
        stage.note("pending", await pending)
        stage.loop.add_callback(failing.set_exception, ValueError("lost"))
        try:
            await failing
        except ValueError as exc:
            stage.note("caught", exc)
        return "ended"

    stage.run(main)


@program
def future_made_before_there_is_a_loop_is_waited_for_on_it(stage):
    stage.loop.clear_current()
    try:
        future = make_future(stage)
    except RuntimeError:
        stage.note("needs a loop")
        return
    stage.loop.make_current()
    waiting(stage, "coroutine", future)
    future.set_result(1)
    stage.turn(3)


@program
def future_made_on_one_loop_is_waited_for_on_another(stage):
    old = stage.ioloop.IOLoop()
    old.make_current()
    future = make_future(stage)
    stage.loop.make_current()
    waiting(stage, "coroutine", future)
    stage.loop.add_callback(future.set_result, 1)
    stage.turn(4)
    stage.note(future)
    old.close()


@program
def add_future_calls_back_in_the_turn_after_it_is_set(stage):
    future = make_future(stage)
    stage.loop.add_future(future, stage.noting("by the loop"))
    future.add_done_callback(stage.noting("by the Future"))
    stage.turn()
    future.set_result(1)
    stage.note("set")
    stage.turn()
    stage.note("a turn later")
    stage.turn()
    stage.note("two turns later")


@program
def add_future_calls_back_later_although_it_is_done(stage):
    future = make_future(stage)
    future.set_result(1)
    stage.loop.add_future(future, stage.noting("called back"))
    stage.note("added")
    stage.turn(2)


@program
def executor_future_resumes_a_coroutine_like_a_future_of_the_loop(stage):
    future = futures.Future()
    waiting(stage, "coroutine", future)
    future.add_done_callback(stage.noting("called back"))
    future.set_result(1)
    stage.note("set")
    for _ in range(2):
        stage.turn()
        stage.note("a turn later")


@program
def futures_of_every_kind_are_yielded_together(stage):
    kinds = (stage.concurrent.Future, lambda: make_future(stage), futures.Future)
    waited_for = [kind() for kind in kinds]
    result = waiting(stage, "coroutine", waited_for + waited_for[:1])
    for number, future in enumerate(waited_for):
        future.set_result(number)
    stage.note("set", result)
    stage.turn(4)
    stage.note(result)
