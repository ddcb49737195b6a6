"""Plays random programs, on a virtual clock, and writes down what they do."""

import random
import re
import sys
import types
from typing import Any

from gencoro import gen
from gencoro.virtual_clock import VirtualClock
from tests.helpers.gencoro.outcomes import Failure
from tests.helpers.gencoro.playing import UNIT_S, Play, alone

__all__ = ["Thing", "play"]

CONTEXT = re.compile(r" after \w+")


class Thing:
    """An object that programs keep things on, and that decides which branch they take."""

    kept: Any = None
    function: Any = None
    is_up = False

    def flip(self) -> bool:
        self.is_up = not self.is_up
        return self.is_up


class Stand(Play):
    """One performance: what programs import from `stand`."""

    def __init__(self, loop: Any) -> None:
        super().__init__(gen, loop)
        self.lengths = random.Random(0)

    @staticmethod
    def told(value: Any) -> str:
        # What an error was raised after depends on which frames it has passed.
        return CONTEXT.sub("", Play.told(value))

    def short(self) -> float:
        """Return a length in seconds; no sum of some is a sum of others."""
        return UNIT_S * (1 + self.lengths.random())

    def later_on(self, value: Any) -> Any:
        future = self.loop.create_future()
        self.loop.call_later(
            self.short(), gen.future_set_result_unless_cancelled, future, value
        )
        return future

    def module(self) -> types.ModuleType:
        module = types.ModuleType("stand")
        names = {name: getattr(self, name) for name in ("failed", "noting", "ready")}
        vars(module).update(names, later=self.later_on, short=self.short)
        vars(module).update(trace=self.trace, Failure=Failure, Thing=Thing)
        return module


def play(program: str) -> list[Any]:
    """Return the events of a program, then the errors that were never retrieved."""
    with alone():
        stand = Stand(VirtualClock().new_event_loop())
        sys.modules["stand"] = stand.module()
        try:
            return stand.run(program)
        finally:
            del sys.modules["stand"]
