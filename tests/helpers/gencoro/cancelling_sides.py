"""Writes one program twice: as generators, and as native coroutines in Tasks.

It is written once, with words of its own where the two differ: `WORDS`.
"""

from typing import Any, NamedTuple, Self

from gencoro import gen
from tests.helpers.gencoro import tasks_as_gen
from tests.helpers.gencoro.cancelling_play import (
    Cancel,
    CancelledPlay,
    CountedLoop,
    Point,
)
from tests.helpers.gencoro.playing import alone

__all__ = ["Sides", "as_generators", "as_natives"]

# Each word, in generators and in native coroutines.
WORDS = {
    "COROUTINE": ("@coroutine\ndef", "@coroutine\nasync def"),
    "HELPER": ("def", "async def"),
    "WAIT(": ("(yield ", "await taken("),
    "FROM(": ("(yield from ", "(await "),
}


def as_generators(program: str) -> str:
    return _written(program, 0)


def as_natives(program: str) -> str:
    return _written(program, 1)


def _written(program: str, side: int) -> str:
    for word, meanings in WORDS.items():
        program = program.replace(word, meanings[side])
    return program


class Seen(NamedTuple):
    """What was seen of a program on both sides.

    Attributes:
        points: Where it can be cancelled, in the order they were come by.
        targets: How many Futures can be, with that of `main`.
        asked_twice: Whether a cancel met a gather in two ways.
    """

    ours: list[Any]
    theirs: list[Any]
    points: list[Point]
    targets: int
    asked_twice: bool


class Sides:
    """Both sides of a program, ready to be performed many times."""

    def __init__(self, program: str) -> None:
        self.program = program
        # The second who waits for a cancelled Task gets no message: where there may be
        # one, messages are not compared.
        self.tells_messages = "kept(" not in program
        self.ours = compile(as_generators(program), "<program>", "exec")
        self.theirs = compile(as_natives(program), "<program>", "exec")
        self.loop = CountedLoop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.close()

    def play(self, *cancels: Cancel) -> Seen:
        """Perform it once on each side."""
        ours = CancelledPlay(gen, self.loop, cancels)
        theirs = CancelledPlay(tasks_as_gen, self.loop, cancels)
        ours.tells_messages = theirs.tells_messages = self.tells_messages
        with alone():
            return Seen(
                ours.perform(self.ours),
                theirs.perform(self.theirs),
                ours.points,
                ours.targets,
                ours.asked_twice,
            )
