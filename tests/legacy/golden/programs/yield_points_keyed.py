"""What the runner does for `gen.YieldPoint`s that have keys."""

from tests.legacy.golden.noting import tried
from tests.legacy.golden.stage import program


def keyed_point(stage):
    """Return a class of yield points that are ready when they are given a value."""

    class Point(stage.gen.YieldPoint):
        def __init__(self, key):
            self.key = key

        def start(self, runner):
            self.runner = runner
            runner.register_callback(self.key)
            self.give = runner.result_callback(self.key)

        def is_ready(self):
            return self.runner.is_ready(self.key)

        def get_result(self):
            return self.runner.pop_result(self.key)

    return Point


@program
def runner_refuses_keys_that_are_taken_or_not_known(stage):
    class Point(stage.gen.YieldPoint):
        def start(self, runner):
            stage.attempt(runner.is_ready, "key")
            stage.note("registered", runner.register_callback("key"))
            stage.attempt(runner.register_callback, "key")
            stage.attempt(runner.is_ready, "other")
            stage.attempt(runner.pop_result, "other")
            stage.attempt(runner.is_ready, "key")
            stage.note("set", runner.set_result("key", 42))
            stage.attempt(runner.is_ready, "key")
            stage.attempt(runner.pop_result, "key")
            stage.attempt(runner.pop_result, "key")
            stage.attempt(runner.is_ready, "key")

        def is_ready(self):
            return True

        def get_result(self):
            return None

    @stage.gen.coroutine
    def main():
        yield Point()

    stage.run(main)


def fragile_point(stage, failing):
    """Return a keyed point that fails when it has its value."""

    class Fragile(keyed_point(stage)):
        def is_ready(self):
            ready = super().is_ready()
            if ready and failing == "is_ready":
                raise ValueError("is_ready")
            return ready

        def get_result(self):
            raise ValueError("get_result")

    return Fragile("key")


@program
def yield_point_that_fails_when_its_callback_is_called(stage):
    @stage.gen.coroutine
    def main(point):
        yield from tried(stage, point)

    for failing in ("is_ready", "get_result"):
        point = fragile_point(stage, failing)
        future = main(point)
        stage.turn()
        stage.attempt(point.give, 42)
        stage.note(failing, future)


@program
def yield_point_that_fails_when_its_result_is_set(stage):
    @stage.gen.coroutine
    def main(point):
        yield from tried(stage, point)

    for failing in ("is_ready", "get_result"):
        point = fragile_point(stage, failing)
        future = main(point)
        stage.turn()
        stage.attempt(point.runner.set_result, "key", 42)
        stage.note(failing, future)
