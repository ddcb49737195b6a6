"""Stack contexts: `StackContext`, `ExceptionStackContext` and `NullContext`.

Rule: the cost of a callback does not depend on how many contexts were entered and left
before it was scheduled.  So the chain of contexts is walked for an error only, and
deactivated contexts are removed from it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from gencoro.errors import StackContextInconsistentError
from gencoro.legacy.active_contexts import (
    NOTHING,
    Contexts,
    HeldContexts,
    current_contexts,
    held,
    hold,
    restore,
)
from gencoro.runner import INTERRUPTS

__all__ = [
    "Context",
    "ExceptionStackContext",
    "NullContext",
    "StackContext",
    "chain",
    "on_first_context",
    "without_deactivated",
]

# A chain up to this length is freed of deactivated contexts before each call; a longer one
# each time that its length has doubled, so that the cost of each context is constant.
SHORT_CHAIN = 32


# Called when the program enters its first context; None after that.
_first_listeners: list[Callable[[], None]] | None = []

# Called before each outermost context is entered; set by `gencoro.legacy.upgrade_runner`.
before_outermost: Callable[[], None] | None = None


def on_first_context(listener: Callable[[], None]) -> None:
    """Call a function when the first context is entered; at once if one has been."""
    if _first_listeners is None:
        listener()
    else:
        _first_listeners.append(listener)


def _enter(contexts: Contexts) -> HeldContexts:
    global _first_listeners
    listeners, _first_listeners = _first_listeners, None
    for listener in listeners or ():
        listener()
    if before_outermost is not None and held() is NOTHING:
        before_outermost()
    return hold(contexts)


class Context:
    """The base class of both kinds of context: entering, exiting and deactivating."""

    # The number of contexts deactivated so far.  It tells whether a context was
    # deactivated before or during a callback, and whether there is anything to prune.
    deactivations = 0

    # (StackContexts, parent) when it was entered.  A deactivated parent may be replaced by
    # its own parent.
    old_contexts: Contexts

    def __init__(self) -> None:
        self.active = True
        self.deactivated_at = 0
        self._length = 1
        self._prune_beyond = SHORT_CHAIN
        # The value of `deactivations` when the chain was last pruned.
        self._pruned_at = -1
        self._holding: HeldContexts | None = None

    def _deactivate(self) -> None:
        if self.active:
            self.active = False
            Context.deactivations += 1
            self.deactivated_at = Context.deactivations

    def _push(self, stack_contexts: "tuple[StackContext, ...]") -> None:
        """Become the innermost context."""
        if self._holding is not None:
            raise StackContextInconsistentError(
                f"{self!r} is entered already; create a new context for each with block"
            )
        old = without_deactivated(current_contexts())
        self.old_contexts = old
        parent = old[1]
        if parent is not None:
            self._length = parent._length + 1
            self._prune_beyond = parent._prune_beyond
            if self._length > self._prune_beyond:
                self._length = 1 + _prune(parent)
                self._prune_beyond = max(SHORT_CHAIN, 2 * self._length)
        self._holding = _enter((old[0] + stack_contexts, self))

    def _pop(self) -> None:
        """Restore the context that was the innermost before.

        Raises:
            StackContextInconsistentError: this is not the innermost context.
        """
        holding, self._holding = self._holding, None
        is_innermost = held() is holding
        if holding is not None:
            restore(holding)
        if not is_innermost:
            raise StackContextInconsistentError(
                "a stack context was exited while another one was the innermost; maybe "
                'there is a "yield" in a "with" block of a stack context, or a context was '
                "entered and not exited"
            )

    def exit(self, *exc_info: Any) -> object:
        """Exit the context; return whether the error is consumed."""
        raise NotImplementedError


class StackContext(Context):
    """A context manager that is re-entered around every callback scheduled inside it.

    ``with StackContext(factory) as deactivate:``; calling ``deactivate()`` ends it for
    callbacks that have not run yet.  The return value of the manager's ``__exit__`` is
    ignored: use `ExceptionStackContext` to handle errors.

    Args:
        context_factory: Called each time; returns a new context manager.

    >>> import contextlib
    >>> from gencoro.legacy.stack_context import wrap
    >>> @contextlib.contextmanager
    ... def request(name):
    ...     print("enter", name)
    ...     yield
    ...     print("leave", name)
    >>> with StackContext(lambda: request("A")):
    ...     later = wrap(lambda: print("called back"))
    enter A
    leave A
    >>> later()
    enter A
    called back
    leave A
    """

    def __init__(
        self, context_factory: Callable[[], AbstractContextManager[Any]]
    ) -> None:
        super().__init__()
        self.context_factory = context_factory
        self.contexts: list[AbstractContextManager[Any]] = []

    def enter(self) -> None:
        """Enter a new context manager."""
        context = self.context_factory()
        context.__enter__()
        self.contexts.append(context)

    def exit(self, *exc_info: Any) -> None:
        """Exit the context manager that was entered last."""
        self.contexts.pop().__exit__(*exc_info)

    def __enter__(self) -> Callable[[], None]:
        self._push((self,))
        try:
            self.enter()
        except BaseException:
            self._pop()
            raise
        return self._deactivate

    def __exit__(self, *exc_info: object) -> None:
        try:
            self.exit(*exc_info)
        finally:
            self._pop()


class ExceptionStackContext(Context):
    """A handler for the errors of everything that is scheduled inside it.

    ``with ExceptionStackContext(handler) as deactivate:``.  The handler is called with
    the type, the value and the traceback of an error; if it returns true, the error is
    consumed, otherwise it propagates to the next outer context.  An error of the handler
    itself propagates in its place.  KeyboardInterrupt and SystemExit are never passed to a
    handler.

    Args:
        exception_handler: The handler.
        delay_warning: Has no effect; an argument of Tornado 5.

    >>> from gencoro.legacy.stack_context import wrap
    >>> def handle(typ, value, traceback):
    ...     print("handled", repr(value))
    ...     return True
    >>> def fail():
    ...     raise KeyError("k")
    >>> with ExceptionStackContext(handle):
    ...     later = wrap(fail)
    >>> later()
    handled KeyError('k')
    """

    def __init__(
        self,
        exception_handler: Callable[..., object],
        delay_warning: bool = False,
    ) -> None:
        super().__init__()
        del delay_warning
        self.exception_handler = exception_handler

    def exit(self, *exc_info: Any) -> object:
        """Call the handler, if there is an error; return whether it consumes it."""
        if exc_info[0] is None or isinstance(exc_info[1], INTERRUPTS):
            return None
        try:
            return self.exception_handler(*exc_info)
        finally:
            del exc_info  # The runner's rule 3.

    def enter_for_good(self) -> HeldContexts:
        """Become the innermost context, which is never exited; return its `HeldContexts`."""
        self._push(())
        holding, self._holding = self._holding, None
        assert holding is not None, "just entered"
        return holding.for_good()

    def retire(self) -> None:
        """Deactivate it and drop the handler with everything that it refers to."""
        self._deactivate()
        self.exception_handler = _consume_nothing

    def __enter__(self) -> Callable[[], None]:
        self._push(())
        return self._deactivate

    def __exit__(self, *exc_info: object) -> bool:
        try:
            return bool(self.exit(*exc_info))
        finally:
            self._pop()


def _consume_nothing(*_exc_info: object) -> None:
    """A handler that leaves every error to the outer contexts."""


class NullContext:
    """Runs a ``with`` block outside of all stack contexts.

    For shared objects such as a connection pool: the contexts of the request that creates
    it must not apply to the callbacks of other requests.

    >>> from gencoro.legacy.stack_context import _state
    >>> with ExceptionStackContext(print), NullContext():
    ...     _state.contexts
    ((), None)
    """

    def __init__(self) -> None:
        self._holdings: list[HeldContexts] = []

    def __enter__(self) -> None:
        self._holdings.append(_enter(((), None)))

    def __exit__(self, *_exc_info: object) -> None:
        restore(self._holdings.pop())


def chain(context: Context | None) -> Iterator[Context]:
    """Yield a context and its parents, innermost first."""
    while context is not None:
        parent = context.old_contexts[1]
        yield context
        context = parent


def without_deactivated(contexts: Contexts) -> Contexts:
    """Return the active contexts; the same object if nothing has to be removed."""
    stack, head = contexts
    while head is not None and not head.active:
        head = head.old_contexts[1]
    if (
        head is not None
        and head._pruned_at != Context.deactivations
        and head._length <= SHORT_CHAIN
    ):
        head._length = _prune(head)
    if all(context.active for context in stack):
        if head is contexts[1]:
            return contexts
        return stack, head
    return tuple(context for context in stack if context.active), head


def _prune(head: Context) -> int:
    """Remove deactivated contexts from a chain; return its new length."""
    head._pruned_at = Context.deactivations
    length = 1
    context = head
    while (parent := context.old_contexts[1]) is not None:
        if parent.active:
            context = parent
            length += 1
        else:
            context.old_contexts = parent.old_contexts
    return length
