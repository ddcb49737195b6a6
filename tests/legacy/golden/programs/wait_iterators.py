"""`gen.WaitIterator`: outcomes as they come."""

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future, failed_future


def position(iterator):
    return "at", iterator.current_index, iterator.current_future


@program
def wait_iterator_gives_outcomes_in_the_order_they_come(stage):
    a, b, c = (stage.gen.Future() for _ in range(3))
    iterator = stage.gen.WaitIterator(a, b, c)

    @stage.gen.coroutine
    def work():
        while not iterator.done():
            try:
                stage.note("given", (yield iterator.next()), *position(iterator))
            except ValueError as exc:
                stage.note("caught", exc, *position(iterator))
        stage.note("end", *position(iterator))

    stage.note("new", *position(iterator))
    future = work()
    for set_outcome, outcome in (
        (c.set_result, "third"),
        (a.set_exception, ValueError("first")),
        (b.set_result, "second"),
    ):
        set_outcome(outcome)
        stage.turn(6)
        stage.note("turned")
    stage.note(future)


@program
def wait_iterator_is_done_when_all_was_given(stage):
    a = stage.gen.Future()
    iterator = stage.gen.WaitIterator(a)
    stage.note("pending", iterator.done())
    a.set_result("a")
    stage.turn()
    stage.note("not asked", iterator.done())
    stage.note("asked", iterator.next(), *position(iterator))
    stage.note("done", iterator.done(), *position(iterator))
    try:
        stage.note("for ever", iterator.next())
    except Exception:
        stage.note("there is nothing more")


@program
def wait_iterator_refuses_arguments_beside_keywords(stage):
    try:
        stage.gen.WaitIterator(stage.gen.Future(), a=stage.gen.Future())
    except Exception as exc:
        stage.note(type(exc))


@program
def wait_iterator_of_one_future_twice(stage):
    shared, other = done_future(stage, "shared"), done_future(stage, "other")
    iterator = stage.gen.WaitIterator(shared, shared, other)
    for _ in range(3):
        try:
            stage.note(iterator.next(), "at", iterator.current_index)
        except KeyError as exc:
            stage.note("raised", type(exc))
    stage.note("done", iterator.done())


@program
def wait_iterator_is_looped_over_by_native_coroutines(stage):
    async def work(*futures):
        iterator = stage.gen.WaitIterator(*futures)
        try:
            async for result in iterator:
                stage.note("given", result, "at", iterator.current_index)
        except ValueError as exc:
            stage.note("caught", exc, "at", iterator.current_index)
        return "end", iterator.current_index

    good = [done_future(stage, 1), stage.gen.sleep(0.02), done_future(stage, 3)]
    stage.run(lambda: work(*good))
    bad = failed_future(stage, ValueError("stops it"))
    stage.run(lambda: work(done_future(stage, 1), bad, done_future(stage, 3)))
