"""The cost of stack contexts does not depend on the length of their chain."""

import contextlib
import gc

import pytest

from gencoro import gen
from gencoro.legacy.stack_context import (
    ExceptionStackContext,
    NullContext,
    StackContext,
    _state,
    wrap,
)
from gencoro.legacy.yieldpoints import Callback, Wait
from tests.helpers.gencoro.outcomes import Failure

ACTIVE = 2_000


def _refuse(*_error):
    return False


def _length():
    """Return how many contexts are entered here."""
    length, context = 0, _state.contexts[1]
    while context is not None:
        length += 1
        context = context.old_contexts[1]
    return length


class Counting(ExceptionStackContext):
    """Counts how often its parent is read, and how often its handler is called."""

    asked = 0
    handled = 0

    def __init__(self):
        super().__init__(_count)

    @property
    def old_contexts(self):
        Counting.asked += 1
        return self._old_contexts

    @old_contexts.setter
    def old_contexts(self, contexts):
        self._old_contexts = contexts


def _count(*_error):
    Counting.handled += 1


@pytest.fixture
def counts():
    """Return a function that returns the counts and resets them."""

    def counts():
        told = Counting.asked, Counting.handled
        Counting.asked = Counting.handled = 0
        return told

    counts()
    return counts


@pytest.fixture
def within(loop):
    """Schedule a callback in this number of contexts, and run the loop until it stops."""

    def within(number, make, callback, *args):
        with contextlib.ExitStack() as entered:
            for _ in range(number):
                entered.enter_context(make())
            loop.add_callback(callback, *args)
        loop.start()

    return within


def _handler():
    return ExceptionStackContext(_refuse)


def _managed():
    return StackContext(contextlib.nullcontext)


# How many are active around how many callbacks: none, about as many as are looked through
# each time, and many.
AROUND = pytest.mark.parametrize(
    ("around", "callbacks"),
    [(0, 2_000), (1, 200), (31, 200), (32, 200), (33, 200), (100, 1_000)],
)
KINDS = pytest.mark.parametrize("make", [_handler, _managed])


@KINDS
@AROUND
@pytest.mark.parametrize("when", ["at once", "in the next", "within the next"])
def test_callbacks_that_deactivate_their_contexts_leave_a_short_chain(
    loop, within, make, around, callbacks, new, when
):
    """Within the next, what is deactivated is not the innermost but buried."""
    most = 0

    def callback(left, deactivate):
        nonlocal most
        if when == "in the next":
            deactivate()
        with make() as deactivate_next:
            if when == "within the next":
                deactivate()
            most = max(most, _length())
            new.of(_state.contexts[1])
            if left:
                loop.add_callback(callback, left - 1, deactivate_next)
            else:
                loop.add_callback(loop.stop)
            if when == "at once":
                deactivate_next()

    within(around, _handler, callback, callbacks, int)

    # The longest chains are looked through only when they have doubled.
    longest = around if when == "at once" else max(around, 32)
    allowed = 2 * longest + (8 if when == "within the next" else 2)
    assert most <= allowed
    assert len(new) <= (2 if when == "at once" else allowed)


def test_chained_coroutine_calls_leave_no_chain_of_contexts(loop, new):
    @gen.coroutine
    def step():
        with _managed() as deactivate:
            future = inner()
        yield future
        new.of(_state)
        deactivate()
        return _length()

    @gen.coroutine
    def inner():
        new.of(_state.contexts[1])
        yield gen.moment

    @gen.coroutine
    def main():
        new.references.clear()
        for _ in range(1_000):
            assert (yield step()) == 0
            new.references.pop()
        return len(new)

    assert loop.run_sync(main) <= 2


def test_coroutines_that_schedule_each_other_leave_no_chain_of_contexts(loop, new):
    lengths = set()

    @gen.coroutine
    def step(left):
        (yield Callback("key"))()
        yield Wait("key")
        new.of(_state.contexts[1])
        lengths.add(_length())
        if left:
            loop.add_callback(step, left - 1)
        else:
            loop.add_callback(loop.stop)

    loop.add_callback(step, 1_000)
    loop.start()

    assert max(lengths) <= 34
    assert len(new) <= 34


@pytest.mark.parametrize("make", [Counting, None])
def test_successful_call_visits_none_of_thousands_of_contexts(loop, counts, make):
    calls = []
    with contextlib.ExitStack() as entered:
        for _ in range(ACTIVE):
            entered.enter_context(Counting())
        if make is None:
            entered.enter_context(_managed())
        wrapped = wrap(lambda: calls.append(_state.contexts[1] is not None))
        loop.add_callback(calls.append, "called by the loop")
        loop.add_callback(loop.stop)
    counts()

    wrapped()
    wrapped()
    loop.start()

    assert calls == [True, True, "called by the loop"]
    assert counts() == (0, 0)


def test_short_chain_is_pruned_once_after_a_deactivation(counts):
    with contextlib.ExitStack() as entered:
        for _ in range(20):
            entered.enter_context(Counting())
        wrapped = wrap(int)
    with _handler() as deactivate:
        deactivate()
    counts()
    wrapped()
    first = counts()[0]
    for _ in range(100):
        wrapped()

    assert 0 < first <= 2 * 20
    assert counts() == (0, 0)


def test_entering_visits_none_of_thousands_of_contexts(counts):
    with contextlib.ExitStack() as entered:
        for _ in range(ACTIVE):
            entered.enter_context(Counting())
        counts()
        for _ in range(10):
            with Counting():
                pass

    assert counts()[0] <= 2 * 10


def test_entering_thousands_visits_each_a_few_times(counts):
    with contextlib.ExitStack() as entered:
        for _ in range(ACTIVE):
            entered.enter_context(Counting())

    asked, handled = counts()
    assert asked <= 4 * ACTIVE
    assert handled == 0


def test_coroutine_steps_visit_none_of_thousands_of_contexts(loop, counts):
    @gen.coroutine
    def steps():
        yield gen.moment
        counts()
        for _ in range(100):
            yield gen.moment
        return counts()

    @gen.coroutine
    def main():
        with contextlib.ExitStack() as entered:
            for _ in range(ACTIVE):
                entered.enter_context(Counting())
            future = steps()
        return (yield future)

    assert loop.run_sync(main) == (0, 0)


def test_error_is_passed_to_each_handler_once(counts):
    def fail():
        raise Failure

    with contextlib.ExitStack() as entered:
        for _ in range(ACTIVE):
            entered.enter_context(Counting())
        wrapped = wrap(fail)
    counts()

    with pytest.raises(Failure):
        wrapped()

    asked, handled = counts()
    assert handled == ACTIVE
    assert asked <= 2 * ACTIVE


def test_deactivated_contexts_are_neither_kept_nor_called(new, counts):
    def fail():
        raise Failure

    with contextlib.ExitStack() as entered:
        for _ in range(ACTIVE):
            context = new.of(Counting())
            deactivate = entered.enter_context(context)
            deactivate()
        del context, deactivate
        wrapped = wrap(fail)
        calls = [wrap(lambda: None) for _ in range(3)]
    for call in calls:
        call()
    counts()

    with pytest.raises(Failure):
        wrapped()

    assert counts()[1] == 0
    wrapped = calls = call = None
    # What has just been called may remember the place where it was called.
    assert len(new) <= 1


def test_context_is_freed_after_its_block_and_callbacks(loop, new):
    def enter(make):
        context = new.of(make())
        with context:
            loop.add_callback(int)
            wrap(int)

    for make in (_handler, _managed, NullContext):
        enter(make)
    loop.add_callback(loop.stop)
    loop.start()

    assert len(new) == 0


def test_long_chain_of_contexts_is_freed_without_recursion(loop):
    """Freeing a long chain of references must not recurse."""

    def callback(left):
        with _handler():
            if left:
                loop.add_callback(callback, left - 1)
            else:
                loop.add_callback(loop.stop)

    # All of them stay active: so the chain is as long as it looks.
    loop.add_callback(callback, 20_000)
    loop.start()

    assert _state.contexts == ((), None)
    gc.collect()


PLAIN = """
    import sys
    from gencoro import gen
    from gencoro import context_hook
    from gencoro.ioloop import IOLoop
    from gencoro.runner import Runner

    before = dict(vars(Runner))
    core = context_hook, Runner

    def untouched():
        methods = ("__init__", "handle_yield", "run", "__call__", "cancel")
        return context_hook.hook, [
            name for name in methods if vars(Runner)[name] is not before[name]
        ]

    @gen.coroutine
    def main():
        yield [gen.sleep(0), None, gen.moment]
        yield gen.convert_yielded(native())

    async def native():
        await gen.sleep(0)

    def run():
        loop = IOLoop(make_current=False)
        loop.run_sync(main)
        loop.spawn_callback(int)
        loop.add_callback(loop.stop)
        loop.start()
        loop.close()
"""


def test_program_without_contexts_runs_on_the_core_alone(script):
    output = script(
        PLAIN
        + """
    run()
    print(untouched())
    from gencoro.legacy import futures, stack_context, yieldpoints
    stack_context.wrap(int)()
    run()
    print(untouched())
    with stack_context.NullContext():
        pass
    print(untouched()[0] is not None)
    run()
    """
    )

    assert output == "(None, [])\n(None, [])\nTrue\n"


def test_first_context_applies_to_suspended_coroutines_and_callbacks(script):
    output = script("""
    import contextlib
    from gencoro import gen
    from gencoro.ioloop import IOLoop

    def handle(typ, value, traceback):
        print("handled", typ.__name__)
        return typ is ValueError

    @gen.coroutine
    def earlier():
        yield gen.moment
        yield gen.moment
        from gencoro.legacy.stack_context import ExceptionStackContext
        try:
            with ExceptionStackContext(handle):
                loop.add_callback(int, "no number")
                yield gen.moment
        except Exception as error:
            print(type(error).__name__)
        yield gen.moment

    loop = IOLoop(make_current=False)
    loop.run_sync(earlier)
    loop.close()
    """)

    assert output == (
        "handled StackContextInconsistentError\n"
        "StackContextInconsistentError\n"
        "handled ValueError\n"
    )
