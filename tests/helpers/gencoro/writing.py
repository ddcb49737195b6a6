"""The base class of the writers of random programs.

A function calls only those below it, so that every program ends; one that is never called
is not written.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

__all__ = ["MAX_DEPTH", "Writer", "indented"]

MAX_DEPTH = 3


class Writer:
    """Writes one program from random bytes; after the last, the first option is chosen.

    Attributes:
        heads: The first lines of a function, by its kind.
        epilogues: The last lines of a function, by its kind.
        kinds: The kinds of the functions f0 (main), f1 ...
    """

    heads: ClassVar[Mapping[str, str]]
    epilogues: ClassVar[Mapping[str, tuple[str, ...]]]

    def __init__(self, choices: bytes) -> None:
        self._choices = iter(choices)
        self.kinds: list[str] = self.chosen_kinds()
        self.place = 0
        self.number = 0

    def program(self) -> str:
        functions = ["main = f0"]
        for place in range(len(self.kinds)):
            if any(f"f{place}" in function for function in functions):
                self.place = place
                functions.append(self.function())
        return "\n\n".join([*functions[1:], functions[0]]) + "\n"

    def function(self) -> str:
        lines = [self.heads[self.kind].format(f"f{self.place}")]
        lines += indented(self.block(0))
        lines += indented(self.epilogues.get(self.kind, ()))
        return "\n".join(lines)

    # Choices.

    @property
    def kind(self) -> str:
        return self.kinds[self.place]

    def below(self, limit: int) -> int:
        return next(self._choices, 0) % limit

    def choose(self, options: list[Any]) -> Any:
        return options[self.below(len(options))]

    def small(self) -> int:
        return self.below(4)

    def chosen_kinds(self) -> list[str]:
        raise NotImplementedError

    def some_kinds(self, most: int) -> list[str]:
        return [self.choose(sorted(self.heads)) for _ in range(self.below(most + 1))]

    def next_number(self) -> int:
        self.number += 1
        return self.number

    def callees(self, *kinds: str) -> list[str]:
        below = range(self.place + 1, len(self.kinds))
        return [f"f{place}" for place in below if self.kinds[place] in kinds]

    # Statements.

    def block(self, depth: int) -> list[str]:
        lines = []
        for _ in range(1 + self.small()):
            lines += self.statement(depth)
        if self.small() == 3:
            lines.append(self.ending())
        return lines

    def ending(self) -> str:
        raise NotImplementedError

    def statement(self, depth: int) -> list[str]:
        raise NotImplementedError

    def loop(self, depth: int) -> list[str]:
        return ["for _ in range(2):", *indented(self.block(depth + 1))]


def indented(lines: Iterable[str]) -> list[str]:
    return ["    " + line for line in lines]
