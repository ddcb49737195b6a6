"""`chain_future`, `is_future` and the dummy executor."""

import gc
from concurrent import futures

from tests.legacy.golden.own_future import make_future
from tests.legacy.golden.stage import program


@program
def chain_future_from_a_cancelled_executor_future(stage):
    source, target = futures.Future(), make_future(stage)
    stage.concurrent.chain_future(source, target)
    stage.note("cancelled", source.cancel())
    stage.turn(3)
    stage.note("target done", target.done())


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
