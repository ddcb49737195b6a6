"""The event loop policies of asyncio, which Python 3.16 will not have.

Rule: all that is left of a policy is which loops are made.  Installed only where Python no
longer has the names.
"""

import asyncio
from typing import Any

__all__ = ["EventLoopPolicy", "get_event_loop_policy", "set_event_loop_policy"]

# Looked up once: a policy replaces it.
_new_event_loop = asyncio.new_event_loop


class EventLoopPolicy:
    """The default policy, and the base class of others."""

    def get_event_loop(self) -> asyncio.AbstractEventLoop:
        """Return the running loop, or the one that is set for this thread.

        Raises:
            RuntimeError: there is none.
        """
        return asyncio.get_event_loop()

    def set_event_loop(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Set the loop of this thread."""
        asyncio.set_event_loop(loop)

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """Return a new loop of asyncio."""
        return _new_event_loop()


_policy: Any = EventLoopPolicy()


def get_event_loop_policy() -> Any:
    """Return the policy."""
    return _policy


def set_event_loop_policy(policy: Any) -> None:
    """Let a policy make all new loops; None for the default one."""
    global _policy
    _policy = EventLoopPolicy() if policy is None else policy
    make: Any = _new_event_loop if policy is None else _policy.new_event_loop
    asyncio.new_event_loop = asyncio.events.new_event_loop = make
