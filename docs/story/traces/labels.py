"""Names what is in the queue of a loop as a reader of the program would.

Objects in, text out.
"""

import re
import weakref
from collections.abc import Callable, MutableMapping, Sequence
from types import FrameType, GeneratorType, MethodType
from typing import Any

__all__ = [
    "label_of",
    "name_of_frame",
    "owner_of",
    "owner_of_locals",
    "plain",
    "with_owner",
]

# Of a Runner, a Task, or another object that runs a generator.
GENERATOR_NAMES = ("gen", "generator", "_generator")

# An ended generator has no frame any more.
NAME_BY_GENERATOR: MutableMapping[GeneratorType, str] = weakref.WeakKeyDictionary()


def label_of(callback: Callable[..., Any], args: Sequence[Any] = ()) -> str:
    """Name a callback, and the coroutine that it is about, if any.

    >>> label_of([].append), label_of(min)
    ('list.append', 'min')
    """
    if not hasattr(callback, "__qualname__"):  # an object that can be called
        return with_owner(f"{type(callback).__name__}.run", callback)
    if isinstance(callback, MethodType):
        subject = callback.__self__
        return with_owner(f"{type(subject).__name__}.{callback.__name__}", subject)
    return with_owner(plain(callback.__qualname__), *args[:1])


def with_owner(name: str, subject: Any = None) -> str:
    """Add the coroutine that an object is about to a name."""
    owner = owner_of(subject)
    return f"{name} of {owner}" if owner else name


def plain(qualname: str) -> str:
    """Return the name of a function without those that it is defined in.

    >>> plain("f.<locals>.g"), plain("C.run.<locals>.<lambda>"), plain("C.run")
    ('g', 'C.run.<lambda>', 'C.run')
    """
    *outer, name = qualname.split(".<locals>.")
    return f"{outer[-1]}.<lambda>" if name == "<lambda>" else name


def owner_of(subject: Any, distance: int = 3) -> str:
    """Name the coroutine that an object runs, or the one that waits for a Future.

    >>> owner_of(print)
    ''
    """
    for name in GENERATOR_NAMES:
        generator = getattr(subject, name, None)
        if is_generator(generator):
            return name_of(generator)
    callbacks = getattr(subject, "_callbacks", None) or []
    for callback in callbacks if distance else []:
        callback = callback[0] if isinstance(callback, tuple) else callback
        waiting = getattr(callback, "__self__", callback)
        if owner := owner_of(waiting, distance - 1):
            return owner
    return ""


def owner_of_locals(frame: FrameType) -> str:
    """Name the coroutine whose generator is an argument of this call."""
    found = [owner for owner in frame.f_locals.values() if is_generator(owner)]
    return name_of(found[0]) if found else ""


def name_of(generator: GeneratorType) -> str:
    frame = generator.gi_frame
    if frame:
        NAME_BY_GENERATOR[generator] = name_of_frame(frame)
    return NAME_BY_GENERATOR.get(generator, f"{generator.__name__}()")


def is_generator(value: object) -> bool:
    return isinstance(value, GeneratorType)


def name_of_frame(frame: FrameType) -> str:
    """Name a call by its function, and by its arguments that can be read.

    >>> import sys
    >>> def nap(seconds, log):
    ...     return name_of_frame(sys._getframe())
    >>> nap(3, [])
    'nap(3)'
    """
    code = frame.f_code
    function, args = (frame.f_locals.get(name) for name in ("function", "args"))
    if callable(function) and args is not None:  # `body_of` of stage 7
        return f"{function.__name__}({', '.join(map(repr, args))})"
    names = code.co_varnames[: code.co_argcount]
    values = [frame.f_locals.get(name) for name in names]
    # A claim of the crawler is known by its URL.
    values = [getattr(value, "url", value) for value in values]
    readable = [value for value in values if isinstance(value, str | int | float)]
    # The port of a server is another one each time.
    shown = [re.sub(r"http://[\w.:]+", "", repr(value)) for value in readable]
    return f"{code.co_name}({', '.join(shown)})"
