"""Tracebacks show the user's frames, in call order.

Its true context is compared with that in Tornado, in `test_differential`.
"""

import asyncio
import pathlib
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest

import gencoro
from gencoro import concurrent as gen_concurrent
from gencoro import gen
from gencoro.concurrent import run_on_executor
from tests.helpers.gencoro.outcomes import Failure

PACKAGE = str(pathlib.Path(gencoro.__file__).parent)


def _frames(error):
    """Return the names of an error's frames, and those of them that are ours."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame.name for frame in frames if frame.filename.startswith(PACKAGE)]
    return [frame.name for frame in frames], ours


def _raise_here():
    raise Failure("here")


class _Worker:
    def __init__(self, executor):
        self.executor = executor

    raise_there = run_on_executor(lambda self: _raise_here())


@gen.coroutine
def _raises_at_once():
    _raise_here()


async def _native():
    _raise_here()


CULPRITS = {
    "after a wait": lambda: gen.sleep(0.001),
    "at once": _raises_at_once,
    "native coroutine": _native,
    "executor thread": lambda: _Worker(ThreadPoolExecutor(1)).raise_there(),
    "executor of no thread": lambda: _Worker(
        gen_concurrent.dummy_executor
    ).raise_there(),
}


@pytest.mark.parametrize("culprit", CULPRITS)
def test_ten_coroutines_are_ten_frames_in_call_order(loop, culprit):
    names = [f"level{level}" for level in range(10)]
    namespace = {"gen": gen, "culprit": CULPRITS[culprit]}
    ways = [
        "yield {inner}()",
        "yield [{inner}(), gen.moment]",
        "yield {{'key': {inner}()}}",
        "yield gen.with_timeout(__import__('datetime').timedelta(9), {inner}())",
        "yield from helper({inner})",
    ]
    source = "def helper(inner):\n    yield inner()\n"
    for number, (name, inner) in enumerate(zip(names, [*names[1:], "culprit"])):
        way = ways[number % len(ways)].format(inner=inner)
        source += f"@gen.coroutine\ndef {name}():\n    {way}\n    after()\n"
    source += "def after():\n    raise ValueError('here')\n"
    exec(source, namespace)  # noqa: S102 (a function of its own for each level)

    with pytest.raises((Failure, ValueError)) as caught:
        loop.run_sync(namespace["level0"])

    found, ours = _frames(caught.value)
    assert [name for name in found if name.startswith("level")] == names
    assert ours == ["run_sync"]
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)


def test_debug_mode_shows_the_line_of_the_call_as_origin():
    @gen.coroutine
    def body():
        yield gen.moment

    async def main():
        future = body()
        await future
        return future._source_traceback[-1].name

    assert asyncio.run(main(), debug=True) == "main"
