"""What `gen.coroutine` makes of functions of all kinds, and how they look after it."""

import functools

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future


@program
def coroutine_of_a_plain_function_is_done_at_once(stage):
    @stage.gen.coroutine
    def do(function):
        return function()

    def fail(error):
        raise error

    stage.note(do(lambda: 42), do(lambda: None))
    stage.attempt(do, lambda: fail(ValueError("at once")))
    stage.note(do(lambda: fail(stage.gen.Return(1))))
    stage.note(do(lambda: fail(StopIteration(2))), do(lambda: next(iter(()))))
    stage.note("future as value", do(stage.gen.Future))
    stage.note("iterator as value", list(do(lambda: iter([1, 2])).result()))


@program
def coroutine_called_wrongly_returns_a_failed_future(stage):
    @stage.gen.coroutine
    def work(needed):
        stage.note("not run")
        yield

    for call in (work, lambda: work(1, 2), lambda: work(1, wrong=2)):
        stage.note(type(call().exception()))


@program
def coroutine_looks_like_its_function(stage):
    def raw(a, b=2):
        """Does it."""
        yield done_future(stage)

    raw.mark = [1]
    work = stage.gen.coroutine(raw)
    stage.note(work.__name__, work.__doc__, work.mark, work.mark is raw.mark)
    stage.note("wrapped", work.__wrapped__ is raw, work.__tornado_coroutine__)
    stage.note("marks on the function", sorted(vars(raw)))
    twice = stage.gen.coroutine(work)
    stage.note("twice", twice.__wrapped__ is work, twice(1))


@program
def coroutine_functions_are_told_by_their_mark(stage):
    class Work:
        @stage.gen.coroutine
        def method(self):
            yield

    class Marked:
        __tornado_coroutine__ = "any mark"

    def plain():
        yield

    is_coroutine_function = stage.gen.is_coroutine_function
    work = stage.gen.coroutine(plain)
    stage.note(is_coroutine_function(work), is_coroutine_function(plain))
    stage.note("methods", *map(is_coroutine_function, (Work.method, Work().method)))
    stage.note("partial", is_coroutine_function(functools.partial(work)))
    stage.note("engine", is_coroutine_function(stage.gen.engine(plain)))
    stage.note("wraps", is_coroutine_function(functools.wraps(work)(lambda: None)))
    stage.note(is_coroutine_function(None), is_coroutine_function(Marked()))


@program
def coroutine_makes_the_generators_of_its_function_yieldable(stage):
    @stage.gen.coroutine
    def inner():
        stage.note("begun")
        return (yield done_future(stage, 42))

    @stage.gen.coroutine
    def work():
        for yielded in (inner.__wrapped__(), [inner.__wrapped__(), inner()]):
            try:
                stage.note("given", (yield yielded))
            except RuntimeError as exc:
                stage.note("caught", type(exc))

    stage.run(work)
