"""The frames of a suspended coroutine, through ``yield from`` and ``await``.

Only reads, and runs no user code: safe at any time, from any thread.
"""

import gc
from collections.abc import Iterable, Iterator
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType
from typing import Any, NamedTuple

__all__ = [
    "Standing",
    "frames_in",
    "frames_of",
    "is_ours",
    "is_running",
    "line_of",
    "name_of",
    "standing_of",
]

# The attributes of a generator, a native coroutine and an asynchronous generator: the
# frame, the inner awaitable, and whether it is running.
ATTRIBUTES = [
    ("gi_frame", "gi_yieldfrom", "gi_running"),
    ("cr_frame", "cr_await", "cr_running"),
    ("ag_frame", "ag_await", "ag_running"),
]

# Objects between two coroutines that have no attribute for the inner one.
WRAPPERS = {"async_generator_asend", "async_generator_athrow", "coroutine_wrapper"}


def frames_of(coroutine: Any) -> Iterator[FrameType]:
    """Yield the frames of a suspended coroutine, outermost first.

    A coroutine that has ended has no frames; of a running one only the first is known.

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
            # Check the class: an awaitable of user code may have any attribute.
            if not hasattr(type(inside), frame_name):
                continue
            frame = getattr(inside, frame_name)
            if frame is not None:
                yield frame
                inside = getattr(inside, inside_name, None)
                break
        else:
            inside = _wrapped_in(inside)


def frames_in(runner: Any) -> Iterator[FrameType]:
    """Yield the frames of a suspended Runner, through a native coroutine it has entered.

    The Runner may be one of Tornado, which enters none.
    """
    yield from frames_of(runner.gen)
    inner = getattr(runner, "inner", None)
    if inner is not None:
        yield from frames_of(inner.gi_yieldfrom)


def is_ours(frame: FrameType) -> bool:
    """Return True if a frame belongs to gencoro itself."""
    module = str(frame.f_globals.get("__name__"))
    return module == "gencoro" or module.startswith("gencoro.")


class Standing(NamedTuple):
    """The frames of a coroutine, with the attributes of a native coroutine.

    Attributes:
        cr_frame: Its frame.
        cr_await: The inner coroutine, if any.
    """

    cr_frame: FrameType
    cr_await: "Standing | None"


def standing_of(frames: Iterable[FrameType]) -> Standing | None:
    """Return the frames of a coroutine in the form that asyncio's call graph reads.

    The call graph knows native coroutines only and would skip generators.  Returns None
    if there are none: the coroutine has ended.

    >>> def outer():
    ...     yield from inner()
    >>> def inner():
    ...     yield
    >>> generator = outer()
    >>> next(generator)
    >>> standing_of(frames_of(generator)).cr_await.cr_frame.f_code.co_name
    'inner'
    """
    standing = None
    for frame in reversed(list(frames)):
        standing = Standing(frame, standing)
    return standing


def is_running(coroutine: Any) -> bool:
    """Return True if a generator or a native coroutine is on some thread's stack."""
    return any(getattr(coroutine, name, None) is True for _, _, name in ATTRIBUTES)


def name_of(coroutine: Any) -> str:
    """Return the qualified name of the function of a generator or native coroutine.

    >>> name_of(x for x in ())
    '<genexpr>'
    """
    return str(getattr(coroutine, "__qualname__", coroutine))


def line_of(frame: FrameType) -> int:
    """Return the current line number of a frame.

    For an instruction without a line number it is the function's first line.
    """
    code: CodeType = frame.f_code
    return frame.f_lineno or code.co_firstlineno


def _wrapped_in(wrapper: Any) -> Any:
    if type(wrapper).__name__ in WRAPPERS:
        for inside in gc.get_referents(wrapper):
            if isinstance(inside, (CoroutineType, AsyncGeneratorType)):
                return inside
    return None
