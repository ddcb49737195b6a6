"""The ``io_loop=`` argument of Tornado's own classes and functions, as in Tornado 4.

Rule: the given loop is current for the duration of the call.  An IOLoop in the former
position of the argument is the loop; anything else there means what it means today.
"""

import asyncio
import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tornado.ioloop import IOLoop

__all__ = [
    "is_stand_in",
    "most_by_position",
    "on_loop",
    "running_loop_replaced",
    "take_io_loop",
    "taking_io_loop",
]


def take_io_loop(
    args: tuple[Any, ...], kwargs: dict[str, Any], place: int, most: int = sys.maxsize
) -> tuple[IOLoop | None, tuple[Any, ...]]:
    """Remove the loop from the arguments of a call.

    Args:
        args: The positional arguments.
        kwargs: The keyword arguments; ``io_loop`` is removed from this dict.
        place: The former position of the loop, from 0; ``self`` counts.
        most: How many positional arguments the function takes today.  If there are more, a
            None in the loop's position is the loop.

    Returns the loop or None, and the positional arguments without it.
    """
    if "io_loop" in kwargs:
        return kwargs.pop("io_loop"), args
    if len(args) > place and (
        isinstance(args[place], IOLoop) or (len(args) > most and args[place] is None)
    ):
        return args[place], args[:place] + args[place + 1 :]
    return None, args


# Looked up once: compat replaces it with ours.
_current_task = asyncio.current_task

# Shared, since it has no state.
_UNCHANGED = contextlib.nullcontext()


def on_loop(io_loop: IOLoop | None) -> contextlib.AbstractContextManager[None]:
    """Make a loop the current one of this thread within a ``with`` block.

    Args:
        io_loop: None changes nothing, and neither does the stand-in of a test.
    """
    if io_loop is None or is_stand_in(io_loop):
        return _UNCHANGED
    return _being_current(io_loop)


def is_stand_in(io_loop: IOLoop) -> bool:
    """Return True for a mock, which may claim to be a loop."""
    return not issubclass(type(io_loop), IOLoop)


@contextlib.contextmanager
def _being_current(io_loop: IOLoop) -> Iterator[None]:
    loop: asyncio.AbstractEventLoop = io_loop.asyncio_loop  # type: ignore[attr-defined]
    if loop is asyncio._get_running_loop():
        yield
    elif loop.is_running():  # on another thread, where it stays the running loop
        with running_loop_replaced():
            before = _set_loop()
            asyncio.set_event_loop(loop)
            try:
                yield
            finally:
                asyncio.set_event_loop(before)
                io_loop.add_callback(bool)  # wake it up for what it now has to do
    else:
        with running_loop_replaced(loop):
            yield


@contextlib.contextmanager
def running_loop_replaced(
    loop: asyncio.AbstractEventLoop | None = None,
) -> Iterator[None]:
    """Make a loop the running one of this thread within a ``with`` block.

    Args:
        loop: With None no loop runs, so that another one can be started.
    """
    running = asyncio._get_running_loop()
    # asyncio has no public way to run a loop inside a running one, which blocking clients and
    # WSGI calls need.  A thread has one current Task since Python 3.14; before, each loop had
    # its own.
    task = None if running is None else _current_task()
    if task is not None:
        asyncio.tasks._leave_task(running, task)  # type: ignore[arg-type]
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(running)
        if task is not None:
            asyncio.tasks._enter_task(running, task)  # type: ignore[arg-type]


def _set_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop that was set for this thread, where none runs; never create one."""
    # Until 3.13 get_event_loop() creates a loop, or warns that it will not any more.
    if sys.version_info < (3, 14):
        local = getattr(asyncio.events.get_event_loop_policy(), "_local", None)
        return getattr(local, "_loop", None)
    with contextlib.suppress(RuntimeError):
        return asyncio.get_event_loop()
    return None


def taking_io_loop(place: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds an ``io_loop`` argument to a function."""

    def decorate(original: Callable[..., Any]) -> Callable[..., Any]:
        most = most_by_position(original)

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            io_loop, args = take_io_loop(args, kwargs, place, most)
            # Measured: an empty context manager would double the cost of this wrapper.
            if io_loop is None:
                return original(*args, **kwargs)
            with on_loop(io_loop):
                return original(*args, **kwargs)

        return wrapper

    return decorate


def most_by_position(function: Callable[..., Any]) -> int:
    """Return how many positional arguments a function takes.

    >>> most_by_position(lambda a, b=1, *, c=2: None)
    2
    """
    by_position = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    parameters = inspect.signature(function).parameters.values()
    return sum(parameter.kind in by_position for parameter in parameters)
