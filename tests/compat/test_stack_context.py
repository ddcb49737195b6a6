"""tornado.stack_context, back in its place."""

import contextlib

from tests.helpers.compat.rows import uses


@uses(
    "tornado.stack_context.StackContext",
    "tornado.stack_context.NullContext",
    "tornado.stack_context.wrap",
    "tornado.stack_context._state",
)
def test_contexts_follow_callbacks(loop):
    from tornado import stack_context

    entered = []

    @contextlib.contextmanager
    def request(name):
        entered.append(name)
        yield
        entered.remove(name)

    seen = []

    def look():
        seen.append(list(entered))

    with stack_context.StackContext(lambda: request("A")):
        loop.add_callback(look)
        wrapped = stack_context.wrap(look)
        assert stack_context._state.contexts[0]
        with stack_context.NullContext():
            loop.add_callback(look)
    loop.add_callback(wrapped)
    loop.add_callback(loop.stop)
    loop.start()

    assert seen == [["A"], [], ["A"]]
    assert stack_context._state.contexts == ((), None)


@uses(
    "tornado.stack_context.ExceptionStackContext",
    "tornado.stack_context.run_with_stack_context",
    "tornado.stack_context.StackContextInconsistentError",
)
def test_errors_go_to_the_contexts(loop):
    from tornado import gen, stack_context

    handled = []

    def handle(typ, value, traceback):
        handled.append(typ)
        return True

    @gen.coroutine
    def fails_later():
        loop.add_callback(lambda: 1 / 0)
        yield gen.moment
        yield gen.moment
        return 42

    @gen.coroutine
    def yields_within():
        with stack_context.ExceptionStackContext(lambda *exc_info: False):
            yield gen.moment

    @gen.coroutine
    def main():
        context = stack_context.ExceptionStackContext(handle)
        answer = yield stack_context.run_with_stack_context(context, fails_later)
        try:
            yield yields_within()
        except stack_context.StackContextInconsistentError:
            return answer

    assert loop.run_sync(main) == 42
    assert handled == [ZeroDivisionError]
