"""Lists and dicts of what can be waited for: `multi`, and yielding them as they are."""

import collections

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import failed_future, turns_until_done


def futures(stage, number):
    return [stage.gen.Future() for _ in range(number)]


def yield_it(stage, yielded):
    """Run a coroutine that yields this, and note what it gets, and whether at once."""

    @stage.gen.coroutine
    def work():
        try:
            stage.note("given", (yield yielded))
        except Exception as exc:
            stage.note("caught", exc)

    future = work()
    if not future.done():
        turns_until_done(stage, future)
        stage.note("it took some turns")


@program
def list_is_given_in_its_own_order_after_the_last_child(stage):
    a, b, c = futures(stage, 3)

    @stage.gen.coroutine
    def work():
        stage.note("given", (yield [a, b, c]))

    future = work()
    for child in (c, a, b):
        stage.turn()
        stage.note(future)
        child.set_result("abc"[(a, b, c).index(child)])
        stage.note("set", child)
    while not future.done():
        stage.turn()
        stage.note("turned", future)


@program
def list_logs_its_other_failures_unless_they_are_quiet(stage):
    def fail_thrice(**kwargs):
        errors = (ValueError("1st"), KeyError("2nd"), ValueError("3rd"))
        children = [failed_future(stage, error) for error in errors]
        stage.note(sorted(kwargs), stage.gen.multi(children, **kwargs))

    fail_thrice()
    fail_thrice(quiet_exceptions=KeyError)
    fail_thrice(quiet_exceptions=(TypeError, LookupError))
    fail_thrice(quiet_exceptions=(KeyError, ValueError))


@program
def list_of_one_future_many_times(stage):
    good, bad = futures(stage, 2)
    stage.loop.add_callback(good.set_result, 42)
    yield_it(stage, [good, good, {"again": good}])
    stage.loop.add_callback(bad.set_exception, ValueError("shared"))
    yield_it(stage, [bad, good, bad])


@program
def dict_keeps_its_keys_and_their_order(stage):
    keys = [3, "one", (2, 2), None]
    children = collections.OrderedDict((key, stage.gen.Future()) for key in keys)
    future = stage.gen.multi(children)
    for key in reversed(keys):
        children[key].set_result(f"of {key}")
    stage.turn()
    stage.note(type(future.result()), list(future.result().items()))
    pairs = [(key, failed_future(stage, ValueError(key))) for key in "cab"]
    stage.note(stage.gen.multi(collections.OrderedDict(pairs)))


@program
def tuples_sets_and_generators_are_refused_where_lists_are_taken(stage):
    pending = stage.gen.Future()
    yield_it(stage, (pending, pending))
    yield_it(stage, {pending})
    yield_it(stage, (x for x in [pending]))
    yield_it(stage, iter([pending]))
    yield_it(stage, [pending, (pending,)])
    yield_it(stage, {"a": pending, "b": 5})
    yield_it(stage, [[5], pending])
    stage.note(pending)
