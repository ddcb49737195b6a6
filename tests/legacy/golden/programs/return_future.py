"""`return_future`: where its callback goes, who calls it, and what comes of errors."""

from tests.legacy.golden.stage import program


@program
def return_future_finds_the_callback_wherever_it_stands(stage):
    @stage.concurrent.return_future
    def first(callback, a, b=2):
        callback((a, b))

    @stage.concurrent.return_future
    def middle(a, callback, b=2):
        callback((a, b))

    @stage.concurrent.return_future
    def optional(a, b=2, callback=None, c=3):
        callback((a, b, c))

    @stage.concurrent.return_future
    def by_name(a, *args, callback, **kwargs):
        callback((a, args, kwargs))

    @stage.concurrent.return_future
    def anything(*args, **kwargs):
        kwargs.pop("callback")((args, kwargs))

    stage.note(first(a=1), first(None, 1), first(None, 1, 5))
    stage.note(middle(1), middle(1, b=5), middle(1, None, 5), middle(a=1))
    stage.note(optional(1), optional(1, 5), optional(1, 5, None, 6), optional(1, c=6))
    stage.note(by_name(1), by_name(1, 2, 3, d=4))
    stage.note(anything(), anything(1, 2, d=4))


@program
def return_future_called_back_at_once_calls_the_caller_back_before_it_returns(stage):
    @stage.concurrent.return_future
    def work(callback):
        callback(42)
        stage.note("goes on")

    future = work(callback=stage.noting("caller's callback"))
    stage.note("returned", future)
    stage.turn(2)


@program
def return_future_called_back_with_nothing_gives_the_caller_nothing(stage):
    @stage.concurrent.return_future
    def at_once(callback):
        callback()

    @stage.concurrent.return_future
    def later(callback):
        stage.loop.add_callback(callback)

    @stage.gen.coroutine
    def wait(future):
        value = yield future
        stage.note("yielded a", type(value))

    for work in (at_once, later):
        wait(work(callback=stage.noting("called back without arguments")))
        stage.turn(4)
