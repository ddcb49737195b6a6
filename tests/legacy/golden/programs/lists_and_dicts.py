"""Lists and dicts of what can be waited for: `multi`, and yielding them as they are."""

import collections

from tests.legacy.golden.stage import program
from tests.legacy.golden.waited_for import done_future, failed_future, turns_until_done


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
def list_waits_for_all_children_and_fails_with_the_first_of_the_list(stage):
    a, b, c, d = futures(stage, 4)
    future = stage.gen.multi([a, b, c, d])
    d.set_exception(ValueError("first in time"))
    stage.turn(2)
    stage.note(future)
    c.set_exception(KeyError("second in time"))
    b.set_exception(ValueError("first in the list"))
    stage.turn(2)
    stage.note(future)
    a.set_result(None)
    stage.turn(2)
    stage.note(future)


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
def list_and_dict_without_children_are_done_at_once(stage):
    stage.note(stage.gen.multi([]), stage.gen.multi({}))
    yield_it(stage, [])
    yield_it(stage, {})
    yield_it(stage, [[], {}, [{}]])
    stage.turn()


@program
def list_of_nones_and_moments_takes_no_turn(stage):
    yield_it(stage, [None])
    yield_it(stage, {"a": stage.gen.moment, "b": None})
    yield_it(stage, [None, None, [stage.gen.moment], done_future(stage, 42)])
    stage.note(stage.gen.multi([None, stage.gen.moment]))


@program
def list_and_dict_nest(stage):
    a, b, c = futures(stage, 3)
    stage.loop.add_callback(c.set_result, "c")
    stage.loop.add_callback(b.set_result, "b")
    stage.loop.add_callback(a.set_result, "a")
    yield_it(stage, [{"a": a, "more": [b, [c]]}, [], [a]])
    deepest = failed_future(stage, ValueError("deepest"))
    yield_it(stage, {"a": a, "more": {"b": [b, [deepest]]}})


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
def list_given_is_looked_at_once_and_the_one_got_is_new(stage):
    a, b = futures(stage, 2)
    children, by_key = [a], {"a": a}
    results = [stage.gen.multi(children), stage.gen.multi(by_key)]
    children.append(b)
    by_key["b"] = b
    a.set_result("a")
    stage.turn()
    stage.note(results, results[0].result() is children)


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


@program
def multi_itself_takes_tuples_sets_and_generators(stage):
    multi = stage.gen.multi
    a, b = done_future(stage, "a"), done_future(stage, "b")
    stage.note(multi((a, b)), multi({a}), multi(x for x in [a, b]))
    stage.note(multi({"b": b}.values()), multi(()))
    stage.attempt(multi, [a, 5])
    stage.attempt(multi, [a, (a, b)])


@program
def multi_has_three_names_and_gives_futures(stage):
    gen = stage.gen
    stage.note(gen.Multi is gen.multi, gen.multi_future is gen.multi)
    for function in (gen.multi, gen.multi_future):
        made = function([done_future(stage, 1)], ())
        stage.note(isinstance(made, gen.Future), made)


@program
def multi_is_awaited_by_native_coroutines(stage):
    async def native(value):
        await stage.gen.sleep(0)
        return value

    async def work():
        stage.note("given", await stage.gen.multi([native(1), {"a": native(2)}]))
        failures = [failed_future(stage, ValueError("1st")), native(3)]
        try:
            await stage.gen.multi(failures)
        except ValueError as exc:
            stage.note("caught", exc)

    stage.run(work)
