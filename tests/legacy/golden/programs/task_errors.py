"""`gen.Task`: errors of its function, and whom they reach."""

from tests.legacy.golden.noting import handler
from tests.legacy.golden.stage import program


@program
def task_that_fails_at_once_after_its_answer_raises_to_its_maker(stage):
    def answer_and_fail(callback):
        callback(42)
        raise ValueError("failed")

    stage.attempt(stage.gen.Task, answer_and_fail)
    with handler(stage, "context", consumes=True):
        stage.attempt(stage.gen.Task, answer_and_fail)
        stage.gen.Task(answer_and_fail)
    stage.note("contexts", stage.stack_context._state.contexts)


@program
def task_of_a_coroutine_gets_its_result_and_its_error(stage):
    @stage.gen.coroutine
    def work(value):
        yield stage.gen.moment
        raise stage.gen.Return(10 / value)

    @stage.gen.coroutine
    def main():
        stage.note((yield stage.gen.Task(work, 5)))
        try:
            yield stage.gen.Task(work, 0)
        except ZeroDivisionError:
            stage.note("caught ZeroDivisionError")

    stage.run(main)
