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
def dummy_executor_puts_an_error_into_the_future(stage):
    def fail():
        raise ValueError("lost")

    future = stage.concurrent.dummy_executor.submit(fail)
    stage.note(future)
    stage.attempt(future.result)
    stage.concurrent.dummy_executor.submit(fail)
    gc.collect()
    stage.note("dropped another")
