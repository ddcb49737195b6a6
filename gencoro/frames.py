"""The frames of one coroutine: where it stands, through ``yield from`` and ``await``.

Reads only, and runs no code of others: safe at any moment, from any thread.
"""

import gc
from collections.abc import Iterator
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType
from typing import Any, NamedTuple

__all__ = [
    "Standing",
    "frames_of",
    "is_ours",
    "is_running",
    "line_of",
    "name_of",
    "standing_of",
]

# Where a generator, a native coroutine and an asynchronous generator keep their frame,
# what they wait in, and whether they are on the stack.
ATTRIBUTES = [
    ("gi_frame", "gi_yieldfrom", "gi_running"),
    ("cr_frame", "cr_await", "cr_running"),
    ("ag_frame", "ag_await", "ag_running"),
]

# What stands between two coroutines and says nothing of the inner one.
WRAPPERS = {"async_generator_asend", "async_generator_athrow", "coroutine_wrapper"}


def frames_of(coroutine: Any) -> Iterator[FrameType]:
    """Give the frames of a suspended coroutine, the outermost first.

    One that has ended has none; of one that is running the first can be told only.

    >>> def outer():
    ...     yield from inner()
    >>> def inner():
    ...     yield
    >>> generator = outer()
    >>> next(generator)
    >>> [frame.f_code.co_name for frame in frames_of(generator)]
    ['outer', 'inner']
    """
    inside = coroutine
    while inside is not None:
        for frame_name, inside_name, _ in ATTRIBUTES:
            # Asked of its class first: what others await may answer to any name.
            if not hasattr(type(inside), frame_name):
                continue
            frame = getattr(inside, frame_name)
            if frame is not None:
                yield frame
                inside = getattr(inside, inside_name, None)
                break
        else:
            inside = _wrapped_in(inside)


def is_ours(frame: FrameType) -> bool:
    """Return whether a frame is of gencoro itself, and not of its users."""
    module = str(frame.f_globals.get("__name__"))
    return module == "gencoro" or module.startswith("gencoro.")


class Standing(NamedTuple):
    """Where a coroutine stands, in the attributes of a native one.

    Attributes:
        cr_frame: Its frame.
        cr_await: What it waits in, if that has a frame too.
    """

    cr_frame: FrameType
    cr_await: "Standing | None"


def standing_of(coroutine: Any) -> Standing | None:
    """Return the frames of a coroutine the way that asyncio's call graph reads them.

    It knows native coroutines only, and would pass over our generators.  One that has
    ended gives None.

    >>> def outer():
    ...     yield from inner()
    >>> def inner():
    ...     yield
    >>> generator = outer()
    >>> next(generator)
    >>> standing_of(generator).cr_await.cr_frame.f_code.co_name
    'inner'
    """
    standing = None
    for frame in reversed(list(frames_of(coroutine))):
        standing = Standing(frame, standing)
    return standing


def is_running(coroutine: Any) -> bool:
    """Return whether a generator or a native coroutine is on some thread's stack."""
    return any(getattr(coroutine, name, None) is True for _, _, name in ATTRIBUTES)


def name_of(coroutine: Any) -> str:
    """Return the qualified name of the function whose generator or the like it is.

    >>> name_of(x for x in ())
    '<genexpr>'
    """
    return str(getattr(coroutine, "__qualname__", coroutine))


def line_of(frame: FrameType) -> int:
    """Return the number of the line where a frame stands.

    An instruction that belongs to no line counts as the function's first.
    """
    code: CodeType = frame.f_code
    return frame.f_lineno or code.co_firstlineno


def _wrapped_in(wrapper: Any) -> Any:
    if type(wrapper).__name__ in WRAPPERS:
        for inside in gc.get_referents(wrapper):
            if isinstance(inside, (CoroutineType, AsyncGeneratorType)):
                return inside
    return None
