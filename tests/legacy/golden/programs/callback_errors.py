"""Callbacks that nobody waits for, and errors in the contexts of those who wait."""

from tests.legacy.golden.noting import handler
from tests.legacy.golden.stage import program


def depth(stage):
    """Return how many contexts are in force that were not deactivated."""
    head, count = stage.stack_context._state.contexts[1], 0
    while head is not None:
        head, count = head.old_contexts[1], count + head.active
    return count


def leaking(stage):
    """Return the body of a coroutine or engine that forgets a callback."""

    def work():
        yield stage.gen.Callback("key")
        stage.note("ending")

    return work


@program
def leaked_callback_of_a_coroutine_tells_its_context(stage):
    with handler(stage, "context", consumes=True):
        future = stage.gen.coroutine(leaking(stage))()
    stage.turn(3)
    stage.note(future)
    stage.note("with no context")
    future = stage.gen.coroutine(leaking(stage))()
    stage.turn(3)
    stage.note(future)
    stage.note("contexts", stage.stack_context._state.contexts)


@program
def leaked_callback_of_an_engine_tells_its_context(stage):
    with handler(stage, "context", consumes=True):
        stage.gen.engine(leaking(stage))()
    stage.turn(3)
    stage.note("with no context")
    stage.gen.engine(leaking(stage))()
    stage.turn(3)


@program
def leaked_callback_of_a_coroutine_that_is_waited_for(stage):
    @stage.gen.coroutine
    def main():
        try:
            yield stage.gen.coroutine(leaking(stage))()
        except stage.gen.LeakedCallbackError as exc:
            stage.note("caught", exc)

    stage.run(main)


@program
def leaked_callback_found_when_another_callback_resumes(stage):
    callbacks = []

    @stage.gen.engine
    def work():
        yield stage.gen.Callback("forgotten")
        callbacks.append((yield stage.gen.Callback("key")))
        stage.note((yield stage.gen.Wait("key")))

    with handler(stage, "caller", consumes=False):
        work()
    stage.turn(2)
    with handler(stage, "resumer", consumes=False):
        stage.attempt(callbacks[0], 42)


@program
def leaked_callback_after_an_error_that_was_thrown_in(stage):
    def tried():
        failed = stage.concurrent.Future()
        failed.set_exception(ValueError("thrown in"))
        try:
            yield failed
        except ValueError as exc:
            stage.note("caught", exc)

    @stage.gen.coroutine
    def main(fails_first):
        if fails_first:
            yield from tried()
        yield stage.gen.Callback("key")
        if not fails_first:
            yield from tried()
        raise stage.gen.Return("no leak")

    for fails_first in (False, True):
        stage.run(lambda fails_first=fails_first: main(fails_first))


@program
def leaked_callback_after_an_error_of_the_body(stage):
    def work(error):
        yield stage.gen.Callback("key")
        try:
            raise ValueError("caught by the body")
        except ValueError as exc:
            stage.note("caught", exc)
        if error:
            raise error

    for error in (KeyError("not caught"), None):
        with handler(stage, "context", consumes=True):
            future = stage.gen.coroutine(work)(error)
        stage.turn(3)
        stage.note(future)


@program
def error_in_a_callback_is_thrown_at_the_wait(stage):
    def fail(error):
        stage.note("failing")
        raise error

    @stage.gen.coroutine
    def main():
        yield stage.gen.Callback("key")
        stage.loop.add_callback(fail, ValueError("first"))
        stage.loop.add_callback(fail, ValueError("second"))
        for _ in range(2):
            try:
                yield stage.gen.Wait("key")
            except ValueError as exc:
                stage.note("caught", exc)

    with handler(stage, "context", consumes=True):
        future = main()
    stage.turn(4)
    stage.note(future)


@program
def error_in_a_callback_before_the_first_yield_point_is_not_thrown_in(stage):
    def fail():
        raise ValueError("failed")

    @stage.gen.coroutine
    def main():
        stage.loop.add_callback(fail)
        try:
            stage.loop.call_later(0.02, (yield stage.gen.Callback("key")))
            yield stage.gen.Wait("key")
        except ValueError as exc:
            stage.note("caught", exc)
        stage.note("ending")

    with handler(stage, "context", consumes=True):
        future = main()
    stage.wait(0.06)
    stage.note(future)


@program
def error_in_a_callback_is_thrown_where_a_future_is_waited_for(stage):
    answer = stage.concurrent.Future()

    def fail():
        raise ValueError("failed")

    @stage.gen.coroutine
    def main():
        (yield stage.gen.Callback("key"))("value")
        yield stage.gen.Wait("key")
        stage.loop.add_callback(fail)
        try:
            yield answer
        except ValueError as exc:
            stage.note("caught", exc)
        stage.note((yield answer))

    future = main()
    stage.turn(3)
    stage.note(future)
    answer.set_result("answered")
    stage.turn(2)
    stage.note(future)


@program
def callback_forgotten_for_an_error_answers_the_future_waited_for_next(stage):
    """The Wait that an error ended is still the one that is asked."""
    callbacks = []
    answer = stage.concurrent.Future()

    def fail():
        raise ValueError("failed")

    @stage.gen.coroutine
    def main():
        callbacks.append((yield stage.gen.Callback("key")))
        stage.loop.add_callback(fail)
        try:
            yield stage.gen.Wait("key")
        except ValueError as exc:
            stage.note("caught", exc)
        stage.note("the future gave", (yield answer))

    future = main()
    stage.turn(4)
    callbacks[0]("a late value")
    stage.turn(2)
    stage.note(future, answer)


@program
def callback_resumes_in_the_contexts_of_its_coroutine(stage):
    callbacks = []

    @stage.gen.coroutine
    def main():
        stage.note("body in", depth(stage))
        callbacks.append((yield stage.gen.Callback("key")))
        stage.note("after the first yield point in", depth(stage))
        yield stage.gen.Wait("key")
        stage.note("resumed in", depth(stage))
        yield stage.gen.moment
        stage.note("later in", depth(stage))

    with handler(stage, "caller", consumes=True):
        future = main()
    stage.turn(2)
    outer = handler(stage, "resumer", consumes=True)
    with outer, handler(stage, "inner resumer", consumes=True):
        callbacks[0]()
        stage.note("resumer in", depth(stage))
    stage.turn(2)
    stage.note(future, "contexts", stage.stack_context._state.contexts)


@program
def contexts_of_a_coroutine_end_with_it(stage):
    def work(error):
        (yield stage.gen.Callback("key"))()
        yield stage.gen.Wait("key")
        stage.note("in", depth(stage))
        stage.loop.add_callback(lambda: stage.note("after the end in", depth(stage)))
        if error:
            raise error

    for error in (None, ValueError("failed")):
        with handler(stage, "caller", consumes=True):
            future = stage.gen.coroutine(work)(error)
        stage.turn(3)
        stage.note(future)
