"""Weak references that show what has been freed."""

import weakref
from typing import Any

__all__ = ["Thing", "Watch"]


class Thing:
    """What can be watched."""


class Watch:
    """Makes things, and tells how many of these and of others are alive."""

    def __init__(self) -> None:
        self.references: list[weakref.ref[Any]] = []

    def __call__(self) -> Thing:
        return self.of(Thing())

    def of(self, thing: Any) -> Any:
        """Watch another thing too; return it."""
        self.references.append(weakref.ref(thing))
        return thing

    def __len__(self) -> int:
        return sum(reference() is not None for reference in self.references)
