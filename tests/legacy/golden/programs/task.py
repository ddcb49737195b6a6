"""`gen.Task`: a function with a callback as something to wait for."""

from tests.legacy.golden.noting import handler
from tests.legacy.golden.stage import program


@program
def task_result_is_none_a_value_or_arguments(stage):
    def answer(args, kwargs, callback):
        callback(*args, **kwargs)

    @stage.gen.coroutine
    def main():
        for args in ((), (None,), (1,), ([1, 2],), ((1, 2),), (1, 2), (None, None)):
            stage.note(args, "->", (yield stage.gen.Task(answer, args, {})))
        result = yield stage.gen.Task(answer, (), {"a": 1})
        stage.note(result, result.args, result.kwargs)
        result = yield stage.gen.Task(answer, (1,), {"a": 2})
        stage.note(result, isinstance(result, stage.gen.Arguments), tuple(result))
        same = yield stage.gen.Task(answer, (result,), {})
        stage.note("handed through", same is result)

    stage.run(main)


@program
def task_leaves_no_context_to_whoever_waits_for_it(stage):
    def keep(callback):
        stage.note("function in contexts:", depth())
        callbacks.append(callback)

    def depth():
        head, count = stage.stack_context._state.contexts[1], 0
        while head is not None:
            head, count = head.old_contexts[1], count + 1
        return count

    @stage.gen.coroutine
    def main():
        task = stage.gen.Task(keep)
        stage.note("body in contexts:", depth())
        yield task
        stage.note("resumed in contexts:", depth())

    callbacks = []
    main()
    outer = handler(stage, "caller", consumes=True)
    with outer, handler(stage, "inner caller", consumes=True):
        callbacks[0]()
    stage.turn(2)
    stage.note("contexts", stage.stack_context._state.contexts)
