"""The stack contexts that are entered at present.

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
    "Held",
    "current_contexts",
    "held",
    "hold",
    "hold_again",
    "hold_nothing",
    "put_back",
    "state",
]

# What ``_state.contexts`` is: the StackContexts from the outermost to the innermost, and
# the innermost context of all or None; from that the chain of its parents goes outwards.
Contexts: TypeAlias = tuple[tuple[Any, ...], Any]

NO_CONTEXTS: Contexts = ((), None)


class _Thread(threading.local):
    """A thread, as long as it lives; the number that Python gives it is used again."""

    key: object = None


_thread = _Thread()


def _this_thread() -> object:
    if _thread.key is None:
        _thread.key = object()
    return _thread.key


class Held:
    """The value of the context variable: which contexts are entered, and where.

    Attributes:
        contexts: What ``_state.contexts`` gives.
        before: What was held before, as long as that is to be put back.
        is_set_by_others: Whether it was set through ``_state``.
    """

    __slots__ = ("_thread", "_token", "before", "contexts", "is_set_by_others")

    def __init__(self, contexts: Contexts) -> None:
        self.contexts = contexts
        self.before: Held | None = None
        self._token: contextvars.Token[Held] | None = None
        self.is_set_by_others = False
        self._thread = _this_thread()

    def is_of_this_thread(self) -> bool:
        """Return whether it was held on this thread, and not carried to it."""
        return self is NOTHING or self._thread is _this_thread()

    def was_set_here(self) -> bool:
        """Return whether the present `contextvars.Context` is where this was set.

        If not, it came with a copy of that one.
        """
        if self._token is None:  # it was put back since
            return False
        try:
            _held.reset(self._token)
        except ValueError:
            return False
        self._token = _held.set(self)  # a token can be reset once only
        return True

    def for_good(self) -> "Held":
        """Forget what was before: it will not be put back.  Return this."""
        # Callbacks may keep this for long; let it not keep what was before, as a token does
        # too.
        self.before = self._token = None
        return self

    def from_outside(self) -> "Held":
        """Return this, or what came with the present `contextvars.Context` before it."""
        holding = self
        while holding.before is not None and holding.was_set_here():
            holding = holding.before
        return holding


NOTHING = Held(NO_CONTEXTS)
_held: "contextvars.ContextVar[Held]"
_held = contextvars.ContextVar("gencoro.stack_context", default=NOTHING)

# What is held now; `NOTHING` if no context is entered.
held = _held.get


def hold(contexts: Contexts) -> Held:
    """Have other contexts from now on; return what holds them."""
    holding = Held(contexts)
    holding.before = _held.get()
    holding._token = _held.set(holding)
    return holding


def put_back(holding: Held) -> None:
    """Have again what was held before this."""
    _held.set(holding.before or NOTHING)
    holding.for_good()


def hold_nothing() -> Held:
    """Have no contexts from now on; return what was held before."""
    before = _held.get()
    _held.set(NOTHING)
    return before


def hold_again(before: Held) -> None:
    """Have what `hold_nothing` has returned."""
    _held.set(before)


def current_contexts() -> Contexts:
    """Return the contexts that are entered here and now, on this thread."""
    holding = _held.get()
    return holding.contexts if holding.is_of_this_thread() else NO_CONTEXTS


class _State:
    """Where code of others reads, and sets, which contexts are entered."""

    @property
    def contexts(self) -> Contexts:
        """The StackContexts, and the innermost context of all."""
        return current_contexts()

    @contexts.setter
    def contexts(self, contexts: Contexts) -> None:
        holding = _held.get()
        while holding.is_set_by_others and holding.before is not None:
            put_back(holding)
            holding = _held.get()
            if holding.contexts is contexts:
                return
        hold(contexts).is_set_by_others = True


state = _State()
