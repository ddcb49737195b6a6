"""What is put around the callbacks of a loop: nothing, unless stack contexts are in use.

`gencoro.legacy` registers here when a program enters its first stack context; until
then no callback is slower for it.  Used by `gencoro.ioloop.callbacks`.
"""

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Surroundings", "register", "surroundings"]


class Surroundings(Protocol):
    """What contexts do for a loop."""

    def run(self, callback: Callable[[], Any]) -> Any:
        """Run a callback within the contexts in which it was scheduled."""

    def wrap(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """Tie a handler to the contexts of now."""

    def without_carried(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function outside of contexts that another thread has carried here."""

    def without(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function outside of all contexts."""


# Who has registered; to be read as an attribute of this module.
surroundings: Surroundings | None = None


def register(those: Surroundings) -> None:
    """Put these around every callback from now on."""
    global surroundings
    surroundings = those
