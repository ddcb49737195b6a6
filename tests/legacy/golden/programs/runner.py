"""`gen.Runner`: made by hand, watched, and entered again."""

from tests.legacy.golden.stage import program


def start(stage, generator):
    """Return the runner of a generator, and its result."""
    result = stage.concurrent.Future()
    return stage.gen.Runner(generator, result, next(generator)), result


def state(runner):
    """Return what tracers read of a runner."""
    names = ("running", "finished", "had_exception")
    flags = [name for name in names if getattr(runner, name)]
    return flags, runner.pending_callbacks, runner.results, type(runner.yield_point)


@program
def runner_by_hand_waits_for_futures(stage):
    answer = stage.concurrent.Future()

    def body():
        stage.note("answer", (yield answer))
        stage.note("in the body", state(runner), runner.future)
        yield another
        raise stage.gen.Return("ended")

    another = stage.concurrent.Future()
    generator = body()
    runner, result = start(stage, generator)
    stage.note(runner.gen is generator, runner.future is answer)
    stage.note(runner.result_future is result, runner.io_loop is stage.loop)
    stage.note("waiting", state(runner))
    answer.set_result(42)
    stage.turn(3)
    stage.note("waiting", state(runner), runner.future is another)
    another.set_result(None)
    stage.turn(3)
    stage.note("ended", state(runner), result)
    stage.note(runner.result_future, runner.future is None or runner.future.done())


@program
def runner_by_hand_waits_for_yield_points(stage):
    def body():
        callbacks.append((yield stage.gen.Callback("key")))
        yield stage.gen.Wait("key")
        stage.note("in the body", state(runner))

    callbacks = []
    runner, result = start(stage, body())
    stage.note("not started", state(runner), runner.future)
    stage.turn()
    stage.note("waiting", state(runner), runner.future)
    callbacks[0](42)
    stage.note("ended", state(runner), result)


@program
def runner_is_not_entered_again_while_it_runs(stage):
    def body():
        yield answer
        stage.note("run returned", runner.run())
        stage.note("handled", runner.handle_exception(*error))
        yield stage.gen.moment
        stage.note("body ends")

    error = (ValueError, ValueError("thrown"), None)
    answer = stage.concurrent.Future()
    runner, result = start(stage, body())
    stage.note("run while waiting returned", runner.run(), result)
    answer.set_result(None)
    stage.turn(4)
    stage.note(result)
    stage.note("run after the end returned", runner.run())
    stage.note("handled after the end", runner.handle_exception(*error))


@program
def runner_tells_whether_what_was_yielded_is_ready(stage):
    def body():
        yield answer

    answer = stage.concurrent.Future()
    done = stage.concurrent.Future()
    done.set_result(None)
    runner, _ = start(stage, body())
    for name, yielded in [
        ("done", done),
        ("not done", stage.concurrent.Future()),
        ("None", None),
        ("moment", stage.gen.moment),
        ("nonsense", 42),
        ("empty list", []),
        ("first yield point", stage.gen.Callback("a")),
        ("later yield point", stage.gen.Callback("b")),
    ]:
        stage.note(name, runner.handle_yield(yielded))
        if name == "nonsense":
            stage.note(runner.future)


@program
def runner_of_a_subclass_sees_each_yield_and_each_run(stage):
    class Tracer(stage.gen.Runner):
        def handle_yield(self, yielded):
            ready = super().handle_yield(yielded)
            stage.note("yielded", yielded, "ready:", ready)
            return ready

        def run(self):
            stage.note("run")
            super().run()
            stage.note("ran")

    def body():
        yield done
        yield [done, done]
        yield stage.gen.Task(stage.loop.add_callback)
        yield done

    done = stage.concurrent.Future()
    done.set_result(42)
    generator = body()
    result = stage.concurrent.Future()
    Tracer(generator, result, next(generator))
    stage.note("made")
    stage.turn(3)
    stage.note(result)
