"""4.5's own Future and who waits for it: coroutines, `async def`, `add_future`."""

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
