"""The hook that runs loop callbacks inside stack contexts.

`gencoro.legacy` installs it when a program enters its first stack context, so that other
programs do not pay for it.  Used by `gencoro.ioloop.callbacks`.
"""

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["ContextHook", "hook"]


class ContextHook(Protocol):
    """Runs functions inside or outside of stack contexts."""

    def run(self, callback: Callable[[], Any]) -> Any:
        """Run a callback inside the contexts in which it was scheduled."""

    def wrap(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """Bind a handler to the current contexts."""

    def without_carried(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function outside of contexts inherited from another thread."""

    def without(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function outside of all contexts."""


# The installed hook, if any; always read, and set, as an attribute of this module.
hook: ContextHook | None = None
