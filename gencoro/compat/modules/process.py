"""Legacy `tornado.process` and `tornado.autoreload`, with an explicit loop."""

import asyncio
import functools
from collections.abc import Callable
from typing import Any

from gencoro import context_hook
from gencoro.compat.calls.io_loop_arguments import on_loop, take_io_loop, taking_io_loop
from gencoro.ioloop import IOLoop
from gencoro.legacy.stack_context import wrap

__all__ = [
    "fork_processes",
    "initialize",
    "make_subprocess",
    "set_exit_callback",
    "start_autoreload",
    "uninitialize",
]


# tornado.autoreload.start(io_loop, check_time).
start_autoreload = taking_io_loop(place=0)


def fork_processes(original: Callable[..., int]) -> Callable[..., int]:
    """Give each child process its own loop if the parent already has one.

    Two processes that share a loop would take each other's events.  From 3.12 on, Python
    itself forgets the parent's loop.
    """

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> int:
        task_id = original(*args, **kwargs)
        if IOLoop.current(instance=False) is not None:
            asyncio.set_event_loop(asyncio.new_event_loop())
        return task_id

    return wrapper


def make_subprocess(original: Callable[..., None]) -> Callable[..., None]:
    """Accept ``Subprocess(..., io_loop=)``; the rest goes to `subprocess.Popen`."""

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        io_loop, _ = take_io_loop((), kwargs, place=0)
        with on_loop(io_loop):
            original(self, *args, **kwargs)

    return __init__


def initialize(
    original: "classmethod[Any, Any, None]",
) -> "classmethod[Any, Any, None]":
    """Accept ``Subprocess.initialize(io_loop)``.

    The signal handler is shared, and so runs outside of the stack contexts of the first
    caller.
    """

    def start(cls: Any, *args: Any, **kwargs: Any) -> None:
        io_loop, args = take_io_loop((cls, *args), kwargs, place=1, most=1)
        with on_loop(io_loop):
            if not cls._initialized:
                cls._io_loop = IOLoop.current()
            original.__func__(*args, **kwargs)

    @functools.wraps(original.__func__)
    def wrapper(cls: Any, *args: Any, **kwargs: Any) -> None:
        hook = context_hook.hook
        if hook is None:
            start(cls, *args, **kwargs)
        else:
            hook.without(start, cls, *args, **kwargs)

    return classmethod(wrapper)


def uninitialize(
    original: "classmethod[Any, Any, None]",
) -> "classmethod[Any, Any, None]":
    """Make ``Subprocess.uninitialize`` remove the handler from the loop that has it."""

    @functools.wraps(original.__func__)
    def wrapper(cls: Any) -> None:
        with on_loop(getattr(cls, "_io_loop", None)):
            original.__func__(cls)
        cls._io_loop = None

    return classmethod(wrapper)


def set_exit_callback(original: Callable[..., None]) -> Callable[..., None]:
    """Bind the callback to the caller's contexts, and use the loop of the process."""

    @functools.wraps(original)
    def wrapper(self: Any, callback: Callable[[int], Any]) -> None:
        with on_loop(self.io_loop):
            original(self, wrap(callback))

    return wrapper
