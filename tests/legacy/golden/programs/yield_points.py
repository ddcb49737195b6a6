"""User-made `gen.YieldPoint`s, and what the runner does for them."""

import datetime

from tests.legacy.golden.noting import tried
from tests.legacy.golden.stage import program


def new_point(stage, name, failing="", ready=True):
    """Return a yield point that notes its calls and fails in one of them."""

    class Point(stage.gen.YieldPoint):
        def called(self, method):
            stage.note(name, method)
            if method == failing:
                raise ValueError(f"{method} of {name}")

        def start(self, runner):
            self.called("start")

        def is_ready(self):
            self.called("is_ready")
            return ready

        def get_result(self):
            self.called("get_result")
            return f"result of {name}"

    return Point()


@program
def yield_future_of_a_done_future_takes_no_turn(stage):
    done = stage.concurrent.Future()
    done.set_result("was done")
    failed = stage.concurrent.Future()
    failed.set_exception(ValueError("had failed"))

    @stage.gen.coroutine
    def main():
        yield from tried(stage, new_point(stage, "first point"))
        yield from tried(stage, stage.gen.YieldFuture(done))
        yield from tried(stage, stage.gen.YieldFuture(failed))

    main()
    stage.turn()
    stage.note("after a turn")


@program
def yield_future_of_a_pending_future_resumes_through_the_loop(stage):
    pending = [stage.concurrent.Future(), stage.concurrent.Future()]

    @stage.gen.coroutine
    def main():
        for future in pending:
            yield from tried(stage, stage.gen.YieldFuture(future))

    main()
    stage.turn(2)
    pending[0].set_result("is done")
    stage.note("set")
    stage.turn(3)
    pending[1].set_exception(ValueError("fails"))
    stage.note("set")
    for turn in (1, 2, 3):
        stage.turn()
        stage.note("turn", turn)


@program
def yield_points_cannot_be_converted(stage):
    gen = stage.gen
    soon = datetime.timedelta(seconds=0.02)
    stage.attempt(gen.convert_yielded, gen.YieldPoint())
    stage.attempt(gen.with_timeout, soon, gen.Wait("key"))
    stage.attempt(stage.loop.run_sync, lambda: gen.Callback("key"))
    stage.attempt(gen.multi_future, [stage.concurrent.Future(), gen.Wait("key")])


@program
def list_of_yield_points_can_be_converted_but_not_timed(stage):
    gen = stage.gen
    soon = datetime.timedelta(seconds=0.02)
    for points in ([gen.Wait("key")], {"name": gen.Wait("key")}):
        try:
            converted = gen.convert_yielded(points)
        except gen.BadYieldError:
            stage.note("cannot be converted")
        else:
            stage.note("is a yield point:", isinstance(converted, gen.YieldPoint))
        try:
            gen.with_timeout(soon, points)
        except Exception as exc:
            stage.note("raised", type(exc))
