"""Mistakes of users raise an error at the yield that names the cure."""

import asyncio
import concurrent.futures
import functools
import itertools
import unittest.mock
from datetime import timedelta

import pytest

from gencoro import gen
from gencoro.errors import BadYieldError


def plain_generator():
    yield gen.moment


async def async_generator():
    yield 1


def undecorated():
    return 42


class Thing:
    @gen.coroutine
    def method(self):
        yield gen.moment

    def __call__(self):
        return 42


def _mistake(run, make):
    """Yield what ``make`` makes; return the text of the error, caught at the yield."""

    @gen.coroutine
    def body():
        yield gen.moment
        try:
            yield make()
        except BadYieldError as error:
            text = str(error)
        # It was the error of one yield: the coroutine goes on.
        yield gen.moment
        return text

    return run(body)


def _cannot(result):
    return f"yielded {result!r} ({type(result).__name__}), which cannot"


@pytest.mark.parametrize(
    ("make", "begin", "cures"),
    [
        (
            plain_generator,
            "yielded a plain generator <generator object plain_gen",
            ["decorate plain_generator with @gen.coroutine", "it with `yield from`"],
        ),
        (
            async_generator,
            "yielded an async generator <async_generator object",
            ["iterate over it with `async for`"],
        ),
        *(
            (
                lambda many=many: many,
                f"yielded a {type(many).__name__} ",
                ["yield a list or a dict of them"],
            )
            for many in [
                (1, 2),
                {1, 2},
                frozenset([1]),
                {}.values(),
                map(print, ()),
                itertools.chain(),
                (one for one in ()),
            ]
        ),
        *(
            (
                lambda result=result: result,
                _cannot(result),
                ["that function lacks @gen.coroutine", "its call needs no `yield`"],
            )
            for result in [42, "text", 1.5, b"", True]
        ),
        (
            lambda: undecorated,
            "yielded <function undecorated at ",
            ["itself, which has not been called", "write `yield undecorated(...)`"],
        ),
        (
            lambda: Thing().method,
            "yielded <bound method Thing.method of ",
            ["write `yield Thing.method(...)`"],
        ),
        (
            Thing,
            "yielded <",
            ["itself, which has not been called"],
        ),
        (
            unittest.mock.Mock(name="fetch"),
            "yielded <Mock name='fetch()' id=",
            ["make what was called an AsyncMock"],
        ),
        (
            lambda: [None, {"a": None, "b": [None, 42]}],
            "at [1]: at ['b']: at [1]: yielded 42 (int)",
            [],
        ),
    ],
)
def test_value_that_cannot_be_waited_for_is_named_with_the_cure(
    run, make, begin, cures
):
    text = _mistake(run, make)

    assert text.startswith(begin)
    assert [cure for cure in cures if cure not in text] == []


def _coroutine_on(loop):
    asyncio.set_event_loop(loop)
    future = Thing().method()
    asyncio.set_event_loop(None)
    return future


@pytest.mark.parametrize(
    ("make", "begin"),
    [
        (lambda loop: loop.create_future(), "yielded <Future pending>, wh"),
        (lambda loop: [None, loop.create_future()], "at [1]: yielded <Future pe"),
        (lambda loop: {"k": loop.create_future()}, "at ['k']: yielded <Future pe"),
        (_coroutine_on, "yielded <CoroutineFuture "),
    ],
    ids=["alone", "list", "dict", "coroutine"],
)
def test_future_of_another_loop(run, make, begin):
    other = asyncio.new_event_loop()
    made = make(other)

    text = _mistake(run, lambda: made)

    assert text.startswith(begin)
    assert "which belongs to another event loop" in text
    assert "pass its result to this loop with call_soon_threadsafe" in text
    other.close()


def test_done_future_of_another_loop_is_no_mistake(run):
    other = asyncio.new_event_loop()
    future = other.create_future()
    future.set_result(42)
    other.close()

    @gen.coroutine
    def body():
        return (yield future), (yield [future])

    assert run(body) == (42, [42])


def test_own_future(run):
    async def main():
        @gen.coroutine
        def body():
            yield gen.moment
            try:
                yield future
            except BadYieldError as error:
                return str(error)

        future = body()
        return await future

    text = run(main)

    assert text.startswith("the coroutine yielded its own Future <CoroutineFuture of ")
    assert "it would wait for itself forever" in text


@pytest.mark.parametrize("place", ["multi", "with_timeout"])
@pytest.mark.parametrize("told", ["yielded 42", "belongs to another event loop"])
def test_mistake_given_to_a_function_is_raised_by_the_call(run, place, told):
    other = asyncio.new_event_loop()
    mistake = 42 if told == "yielded 42" else other.create_future()

    async def main():
        with pytest.raises(BadYieldError, match=told):
            if place == "multi":
                gen.multi([mistake])
            else:
                gen.with_timeout(timedelta(seconds=1), mistake)

    run(main)
    other.close()


@pytest.mark.parametrize(
    ("mistake", "cure"),
    [
        (lambda: gen.multi(gen.sleep(0), gen.sleep(0)), r"write multi\(\[a, b\]\)"),
        (lambda: gen.multi(42), r"write multi\(\[a, b\]\)"),
        (lambda: gen.WaitIterator([gen.sleep(0)]), r"WaitIterator\(\*futures\)"),
        (lambda: gen.WaitIterator(map(gen.sleep, [0])), r"WaitIterator\(\*futures\)"),
        (lambda: gen.WaitIterator(a={}), r"WaitIterator\(\*futures\)"),
        *(
            (
                lambda kind=kind: gen.coroutine(kind(plain_generator)),
                f"write @{kind.__name__} above @gen.coroutine",
            )
            for kind in (property, classmethod, functools.cached_property)
        ),
        (lambda: gen.coroutine(42), "got 42, which is not a function$"),
        *(
            (
                lambda method=method: gen.coroutine(method),
                "^Thing.method is decorated .* twice",
            )
            for method in (Thing.method, functools.partial(Thing.method, Thing()))
        ),
    ],
)
def test_call_that_cannot_be_meant_is_refused_with_the_cure(run, mistake, cure):
    async def main():
        mistake()

    with pytest.raises(TypeError, match=cure):
        run(main)


def test_coroutine_that_wraps_another_one_is_no_mistake(run):
    @gen.coroutine
    @functools.wraps(Thing.method)
    def wrapper():
        return 42

    assert run(wrapper) == 42


def test_recursion_without_end_is_not_told_as_the_lack_of_a_loop(run):
    @gen.coroutine
    def body():
        return (yield body())

    with pytest.raises(RecursionError) as caught:
        run(body)

    assert getattr(caught.value, "__notes__", []) == []


# Converters that do not do what they promised.


class Odd:
    """What the converter below is asked for; its result is what it is made with."""

    def __init__(self, convert):
        self.convert = convert


@gen.convert_yielded.register(Odd)
def _convert_odd(odd):
    return odd.convert()


def _raises(error):
    raise error


NO_FUTURE = "the converter registered for Odd returned 42, which is not a Future"


def _outcome_of_odd(convert):
    @gen.coroutine
    def body(first):
        if not first:
            yield gen.moment
        try:
            return (yield Odd(convert))
        except BaseException as error:
            return f"{type(error).__name__}: {error}"

    async def main():
        return [await body(True), await body(False)]

    return main


def _done_job():
    job = concurrent.futures.Future()
    job.set_result(42)
    return job


@pytest.mark.parametrize(
    ("convert", "seen"),
    [
        (_done_job, 42),
        (lambda: 42, f"BadYieldError: {NO_FUTURE}"),
        (
            lambda: _raises(StopIteration("over")),
            "RuntimeError: a Future cannot raise StopIteration('over')",
        ),
        (lambda: _raises(SystemExit("stop")), "SystemExit: stop"),
        (lambda: _raises(ZeroDivisionError("zero")), "ZeroDivisionError: zero"),
        (lambda: _raises(asyncio.CancelledError("no")), "CancelledError: no"),
    ],
)
def test_what_a_converter_returns_or_raises_is_seen_in_the_body(run, convert, seen):
    for outcome in run(_outcome_of_odd(convert)):
        assert outcome == seen


def test_type_that_cannot_be_hashed_is_a_mistake_like_others(run):
    class Meta(type):
        def __eq__(cls, other):
            return False

        __hash__ = None

    class Unhashable(metaclass=Meta):
        pass

    @gen.coroutine
    def body():
        try:
            yield Unhashable()
        except TypeError as error:
            return str(error)

    assert "unhashable" in run(body)
