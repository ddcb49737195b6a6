"""What `gencoro.compat` does on threads that have no loop.

As until Tornado 4, they use the program's: a coroutine begins on the thread and goes on on
the loop.  Without compat there is no hook, and coroutines cannot be called there.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["LoopHook", "hook"]


class LoopHook(Protocol):
    """The interface of the hook; each method returns None if the program has no loop."""

    def loop(self) -> asyncio.AbstractEventLoop | None:
        """Return the program's loop."""

    def begin(
        self,
        new_future: Callable[..., Any],
        func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Call a coroutine's function; return the Future that ``new_future`` makes."""


# None without compat.
hook: LoopHook | None = None
