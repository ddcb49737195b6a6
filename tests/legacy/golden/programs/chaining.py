"""`chain_future`, `is_future` and the dummy executor."""

import gc
from concurrent import futures

from tests.legacy.golden.own_future import make_future
from tests.legacy.golden.stage import program


def mixes(stage):
    """Return (name, source, target) for every mix of the kinds of Futures."""
    kinds = (
        ("own", lambda: make_future(stage)),
        ("loop's", stage.concurrent.Future),
        ("executor's", futures.Future),
    )
    return [
        (f"{source_name} to {target_name}", make_source(), make_target())
        for source_name, make_source in kinds
        for target_name, make_target in kinds
    ]


@program
def chain_future_leaves_a_target_that_is_done(stage):
    for outcome in ("set_result", "set_exception"):
        source, target = make_future(stage), make_future(stage)
        stage.concurrent.chain_future(source, target)
        target.set_result("its own")
        getattr(source, outcome)(ValueError("late"))
        stage.turn(2)
        stage.note(target)
        del source, target
        gc.collect()
        stage.note("dropped")


@program
def chain_future_of_every_mix_copies_results_and_errors(stage):
    for outcome in ("set_result", "set_exception"):
        for name, source, target in mixes(stage):
            stage.concurrent.chain_future(source, target)
            getattr(source, outcome)(ValueError("either"))
            stage.turn(3)
            stage.note(name, target)


@program
def chain_future_from_a_cancelled_executor_future(stage):
    source, target = futures.Future(), make_future(stage)
    stage.concurrent.chain_future(source, target)
    stage.note("cancelled", source.cancel())
    stage.turn(3)
    stage.note("target done", target.done())


@program
def is_future_tells_futures_from_other_things(stage):
    @stage.gen.coroutine
    def work():
        pass

    class Duck:
        def add_done_callback(self, callback):
            pass

    def plain_generator():
        yield

    made = [make_future(stage), stage.concurrent.Future(), futures.Future()]
    given = [work(), stage.gen.maybe_future(1), stage.gen.sleep(0)]
    others = [None, 1, work, Duck(), plain_generator(), futures.Future, made]
    for things in (made, given, others):
        stage.note(
            [stage.concurrent.is_future(thing) for thing in things],
            [isinstance(thing, stage.concurrent.FUTURES) for thing in things],
        )


@program
def dummy_executor_calls_at_once_and_after_its_shutdown(stage):
    def work(*args, **kwargs):
        stage.note("works", args, kwargs)
        return len(args)

    for executor in (stage.concurrent.dummy_executor, stage.concurrent.DummyExecutor()):
        future = executor.submit(work, 1, 2, key=3)
        stage.note("submitted", future)
        future.add_done_callback(stage.noting("called back"))
        stage.note("added")
        stage.turn()
    stage.note(executor.shutdown(), executor.shutdown(wait=False))
    stage.note(executor.submit(work))


@program
def dummy_executor_puts_an_error_into_the_future(stage):
    def fail():
        raise ValueError("lost")

    future = stage.concurrent.dummy_executor.submit(fail)
    stage.note(future)
    stage.attempt(future.result)
    stage.concurrent.dummy_executor.submit(fail)
    gc.collect()
    stage.note("dropped another")
