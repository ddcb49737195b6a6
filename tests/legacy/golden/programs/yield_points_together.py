"""Lists and dicts with `gen.YieldPoint`s in them, and `gen.MultiYieldPoint`."""

from tests.legacy.golden.noting import tried
from tests.legacy.golden.stage import program


def new_point(stage, name, failing=""):
    """Return a yield point that notes its calls and fails in one of them."""

    class Point(stage.gen.YieldPoint):
        def called(self, method):
            stage.note(name, method)
            if method == failing:
                raise ValueError(f"{method} of {name}")

        def start(self, runner):
            self.called("start")

        def is_ready(self):
            # Not noted: the order in which children are asked is nobody's business.
            if failing == "is_ready":
                raise ValueError(f"is_ready of {name}")
            return True

        def get_result(self):
            self.called("get_result")
            return name.upper()

    return Point()


def failed(stage, error):
    """Return a future that failed."""
    future = stage.concurrent.Future()
    future.set_exception(error)
    return future


def yield_first_and_later(stage, new_yielded):
    """Yield something as the first thing of a coroutine, then after another."""

    @stage.gen.coroutine
    def body(first):
        if not first:
            yield stage.gen.moment
        yield from tried(stage, new_yielded())

    for first in (True, False):
        stage.note("first:" if first else "later:")
        future = stage.attempt(body, first)
        stage.turn(3)
        stage.note("in the end", future)


@program
def list_with_a_yield_point_starts_its_children_in_order(stage):
    @stage.gen.coroutine
    def work(name):
        stage.note(name, "begun")
        yield stage.gen.moment
        stage.note(name, "ends")
        raise stage.gen.Return(name)

    @stage.gen.coroutine
    def main():
        points = [new_point(stage, name) for name in ("one", "two")]
        yield from tried(stage, [points[0], work("coroutine"), points[1]])
        points = [new_point(stage, name) for name in ("three", "four")]
        yield from tried(stage, {"p": points[0], "w": work("other"), "q": points[1]})

    stage.run(main)


@program
def list_with_a_yield_point_may_hold_moments(stage):
    @stage.gen.coroutine
    def main(moment):
        yield from tried(stage, [moment, new_point(stage, "point")])

    for moment in (None, stage.gen.moment):
        stage.attempt(main, moment)
        stage.turn(3)


@program
def list_with_a_yield_point_refuses_what_cannot_be_yielded(stage):
    yield_first_and_later(stage, lambda: [new_point(stage, "point"), 42])


@program
def list_with_a_yield_point_holds_another_two_levels_deeper(stage):
    def yielded():
        deeper = {"a": [new_point(stage, "deep")]}
        return [new_point(stage, "flat"), deeper]

    yield_first_and_later(stage, yielded)


@program
def several_errors_of_which_some_are_quiet(stage):
    @stage.gen.coroutine
    def main():
        for quiet in ((), OSError, (OSError, ValueError)):
            stage.note("quiet", quiet)
            children = [failed(stage, KeyError("first")), failed(stage, OSError("f"))]
            children.append(new_point(stage, "point", "get_result"))
            multi = stage.gen.multi(children, quiet_exceptions=quiet)
            yield from tried(stage, multi)

    stage.run(main)


@program
def child_that_fails_to_start_keeps_later_ones_from_starting(stage):
    @stage.gen.coroutine
    def main():
        names = ("one", "two", "three")
        points = [new_point(stage, name, "start" * (name == "two")) for name in names]
        yield from tried(stage, points)
        yield from tried(stage, [new_point(stage, "one", "is_ready")])

    stage.run(main)


@program
def children_started_before_the_one_that_failed_keep_their_keys(stage):
    @stage.gen.coroutine
    def main():
        broken = new_point(stage, "broken", "start")
        yield from tried(stage, [stage.gen.Callback("key"), broken])
        yield from tried(stage, stage.gen.Callback("key"))

    stage.run(main)


@program
def yield_point_twice_in_one_list(stage):
    point = new_point(stage, "point")

    @stage.gen.coroutine
    def main():
        yield from tried(stage, [point, point])
        (yield stage.gen.Callback("key"))(42)
        wait = stage.gen.Wait("key")
        yield from tried(stage, [wait, wait])

    stage.run(main)


@program
def multi_yield_point_of_no_yield_points(stage):
    done = stage.concurrent.Future()
    done.set_result("done")

    @stage.gen.coroutine
    def main():
        for children in ([], {}, [done], {"a": done, "b": [done]}):
            yield from tried(stage, stage.gen.MultiYieldPoint(children))

    stage.note("called", main())
    stage.turn()
    stage.note("after a turn")
    stage.turn()
