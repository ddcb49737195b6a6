"""The mistakes of users: an error at the yield names each one and its cure."""

import asyncio
import concurrent.futures
import threading
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
                f"yielded a {type(many).__name__} {many!r}",
                ["yield a list or a dict of them"],
            )
            for many in [(1, 2), {1, 2}, frozenset([1])]
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


@pytest.mark.parametrize("place", ["alone", "list", "dict"])
def test_future_of_another_loop(run, place):
    other = asyncio.new_event_loop()
    future = other.create_future()
    made = {"alone": future, "list": [None, future], "dict": {"k": future}}[place]
    prefix = {"alone": "", "list": "at [1]: ", "dict": "at ['k']: "}[place]

    text = _mistake(run, lambda: made)

    assert text.startswith(
        f"{prefix}yielded <Future pending>, which belongs to another"
    )
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


def test_coroutine_of_another_threads_loop(run):
    other = asyncio.new_event_loop()
    made = []

    def make_there():
        asyncio.set_event_loop(other)
        made.append(Thing().method())

    thread = threading.Thread(target=make_there)
    thread.start()
    thread.join()

    text = _mistake(run, lambda: made[0])

    assert "which belongs to another event loop" in text
    other.close()


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


def test_mistake_that_is_not_caught_fails_the_coroutine_at_its_line(run):
    @gen.coroutine
    def body():
        yield 42

    with pytest.raises(BadYieldError) as caught:
        run(body)

    names = [frame.name for frame in caught.traceback]
    assert names[-1] == "body"


@pytest.mark.parametrize("waiting", ["with_timeout", "multi"])
def test_mistake_given_to_a_function_is_raised_by_the_call(run, waiting):
    async def main():
        with pytest.raises(BadYieldError, match="yielded 42"):
            if waiting == "multi":
                gen.multi([42])
            else:
                gen.with_timeout(timedelta(seconds=1), 42)

    run(main)


def test_converter_that_raises_cancelled_error_cancels_the_coroutine(run):
    class Odd:
        pass

    @gen.convert_yielded.register(Odd)
    def _(odd):
        raise asyncio.CancelledError

    async def main():
        future = gen.coroutine(lambda: (yield Odd()))()
        await asyncio.wait([future])
        return future.cancelled()

    assert run(main)


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


def test_converter_that_returns_no_future_is_told_in_the_body(run):
    text = (
        "BadYieldError: the converter registered for Odd returned 42, which is not a Fu"
    )

    for outcome in run(_outcome_of_odd(lambda: 42)):
        assert outcome.startswith(text)


def test_converter_may_return_an_executors_future(run):
    job = concurrent.futures.Future()
    job.set_result(42)

    assert run(_outcome_of_odd(lambda: job)) == [42, 42]


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (
            StopIteration("over"),
            "RuntimeError: a Future cannot raise StopIteration('over')",
        ),
        (SystemExit("stop"), "SystemExit: stop"),
        (ZeroDivisionError("zero"), "ZeroDivisionError: zero"),
    ],
)
def test_what_a_converter_raises_is_raised_in_the_body(run, error, seen):
    assert run(_outcome_of_odd(lambda: _raises(error))) == [seen, seen]


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
