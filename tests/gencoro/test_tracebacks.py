"""What an error shows: the frames of the user, in call order, and its true context."""

import asyncio
import pathlib
import sys
import traceback

import pytest

import gencoro
from gencoro import gen


class Failure(Exception):
    pass


def test_traceback_shows_the_bodies_in_call_order_and_nothing_of_ours(run):
    @gen.coroutine
    def culprit():
        yield gen.moment
        raise Failure("here")

    @gen.coroutine
    def middle():
        yield [culprit()]

    @gen.coroutine
    def caller():
        yield {"a": middle()}

    async def main():
        await caller()

    with pytest.raises(Failure) as caught:
        run(main)

    frames = traceback.extract_tb(caught.value.__traceback__)
    names = [frame.name for frame in frames]
    assert names[-4:] == ["main", "caller", "middle", "culprit"]
    package = str(pathlib.Path(gencoro.__file__).parent)
    assert [frame for frame in frames if frame.filename.startswith(package)] == []


def test_later_error_is_not_chained_to_one_that_was_dealt_with(run):
    @gen.coroutine
    def fails(text):
        yield gen.moment
        raise Failure(text)

    @gen.coroutine
    def body():
        try:
            yield fails("first")
        except Failure:
            pass
        assert sys.exc_info() == (None, None, None)
        yield fails("second")

    with pytest.raises(Failure, match="second") as caught:
        run(body)

    assert caught.value.__context__ is None


def test_error_while_another_is_handled_is_chained_to_it(run):
    @gen.coroutine
    def body():
        try:
            raise Failure("first")
        except Failure:
            yield gen.moment
            yield [42]

    with pytest.raises(gen.BadYieldError) as caught:
        run(body)

    assert repr(caught.value.__context__) == "Failure('first')"
    assert "Failure: first" in "".join(traceback.format_exception(caught.value))


def test_exception_being_handled_is_the_bodys_own_after_a_yield(run):
    @gen.coroutine
    def body():
        try:
            raise Failure("mine")
        except Failure:
            yield gen.moment
            return repr(sys.exc_info()[1])

    assert run(body) == "Failure('mine')"


def test_debug_mode_shows_the_line_of_the_call_as_origin():
    @gen.coroutine
    def body():
        yield gen.moment

    async def main():
        future = body()
        await future
        return future._source_traceback[-1].name

    assert asyncio.run(main(), debug=True) == "main"
