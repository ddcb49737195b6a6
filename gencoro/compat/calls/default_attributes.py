"""Instance attributes that Tornado used to set, and computes today.

Rule: what a program has set or defined under such a name takes precedence, except None.
Programs have a None in a class where they expect Tornado to set the attribute.
"""

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["ByDefault", "set_by_default"]


class ByDefault:
    """A computed attribute, which instances and subclasses can set instead.

    >>> class Song:
    ...     title = ByDefault(lambda song: f"{type(song).__name__} 1")
    >>> song = Song()
    >>> song.title
    'Song 1'
    >>> song.title = "Yesterday"
    >>> song.title
    'Yesterday'
    """

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else self._compute(instance)


def set_by_default(instance: Any, name: str, value: Any) -> None:
    """Set an attribute of an instance, unless the program has one that is not None.

    >>> class Mixin:
    ...     title = None
    >>> song = Mixin()
    >>> set_by_default(song, "title", "Yesterday")
    >>> song.title
    'Yesterday'
    """
    if inspect.getattr_static(instance, name, None) is None:
        vars(instance)[name] = value
