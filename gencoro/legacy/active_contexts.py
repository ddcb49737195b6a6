"""The stack contexts that are currently entered.

Rule 1: they are one value in a context variable.  So asyncio passes them on to
callbacks and coroutines without our help.

Rule 2: stack contexts belong to a thread.  A value that was copied to another thread
does not count there, unless a callback of that thread's loop brings it.
"""

import contextvars
import threading
from typing import Any, TypeAlias

__all__ = [
    "NOTHING",
    "NO_CONTEXTS",
    "Contexts",
    "HeldContexts",
    "current_contexts",
    "held",
    "hold",
    "restore",
    "set_held",
    "state",
]

# The value of ``_state.contexts``: the StackContexts from the outermost to the innermost,
# and the innermost context of any kind, or None; its parents form the chain outwards.
Contexts: TypeAlias = tuple[tuple[Any, ...], Any]

NO_CONTEXTS: Contexts = ((), None)


class _Thread(threading.local):
    """Identifies a live thread; Python reuses the numbers of threads."""

    key: object = None


_thread = _Thread()


def _this_thread() -> object:
    # On demand: a threading.local is empty on each new thread.
    if _thread.key is None:
        _thread.key = object()
    return _thread.key


class HeldContexts:
    """The value of the context variable: which contexts are entered, and where.

    Attributes:
        contexts: The value of ``_state.contexts``.
        before: The previous value, as long as it is to be restored.
        is_set_by_others: Whether it was set through ``_state``.
    """

    __slots__ = ("_thread", "_token", "before", "contexts", "is_set_by_others")

    def __init__(self, contexts: Contexts) -> None:
        self.contexts = contexts
        self.before: HeldContexts | None = None
        self._token: contextvars.Token[HeldContexts] | None = None
        self.is_set_by_others = False
        self._thread = _this_thread()

    def is_of_this_thread(self) -> bool:
        """Return True if it was set on this thread, and not copied to it."""
        return self is NOTHING or self._thread is _this_thread()

    def was_set_here(self) -> bool:
        """Return True if this was set in the current `contextvars.Context`.

        If not, the current one is a copy of the one in which it was set.
        """
        if self._token is None:  # the previous value has been restored
            return False
        # A token can be reset only in the Context of its `set`: Python has no other way to ask
        # which Context is the current one.
        try:
            _held.reset(self._token)
        except ValueError:
            return False
        self._token = _held.set(self)  # a token can be used only once
        return True

    def for_good(self) -> "HeldContexts":
        """Forget the previous value, which will not be restored; return self."""
        # Callbacks may keep this object for long, and both attributes would keep the
        # previous value alive.
        self.before = self._token = None
        return self

    def from_outside(self) -> "HeldContexts":
        """Return the value with which the current `contextvars.Context` started."""
        holding = self
        while holding.before is not None and holding.was_set_here():
            holding = holding.before
        return holding


NOTHING = HeldContexts(NO_CONTEXTS)
_held: "contextvars.ContextVar[HeldContexts]"
_held = contextvars.ContextVar("gencoro.stack_context", default=NOTHING)

# Return the current value, which is `NOTHING` if no context is entered, and replace it.
held = _held.get
set_held = _held.set


def hold(contexts: Contexts) -> HeldContexts:
    """Make these the current contexts; return the new value of the variable."""
    holding = HeldContexts(contexts)
    holding.before = _held.get()
    holding._token = _held.set(holding)
    return holding


def restore(holding: HeldContexts) -> None:
    """Restore the value from before this one."""
    _held.set(holding.before or NOTHING)
    holding.for_good()


def current_contexts() -> Contexts:
    """Return the contexts that are currently entered on this thread."""
    holding = _held.get()
    return holding.contexts if holding.is_of_this_thread() else NO_CONTEXTS


class _State:
    """The object through which legacy code reads and sets the current contexts."""

    @property
    def contexts(self) -> Contexts:
        """The StackContexts, and the innermost context of any kind."""
        return current_contexts()

    @contexts.setter
    def contexts(self, contexts: Contexts) -> None:
        holding = _held.get()
        while holding.is_set_by_others and holding.before is not None:
            restore(holding)
            holding = _held.get()
            if holding.contexts is contexts:
                return
        hold(contexts).is_set_by_others = True


state = _State()
