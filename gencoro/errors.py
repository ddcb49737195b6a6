"""Every exception of gencoro, and `Return`, in one tree::

    Exception
    +-- GencoroError
    |   +-- BadYieldError             a coroutine yielded what cannot be waited for
    |   |   +-- NeedsRunner           (in yieldables) only the yielding Runner can wait
    |   +-- DeadlockError             virtual time: everything waits, and forever
    |   +-- KeyReuseError             legacy: two pending callbacks share a key
    |   +-- UnknownKeyError           legacy: a wait for a key that was never registered
    |   +-- LeakedCallbackError       legacy: a coroutine ended with pending callbacks
    |   +-- ReturnValueIgnoredError   legacy: a callback-style function returned a value
    |   +-- StackContextInconsistentError   legacy: contexts exited in the wrong order
    +-- Return                        not an error: the value of a coroutine

Timeouts raise the builtin `TimeoutError`, which is also asyncio's and Tornado's.
"""

from typing import Any

__all__ = [
    "BadYieldError",
    "DeadlockError",
    "GencoroError",
    "KeyReuseError",
    "LeakedCallbackError",
    "Return",
    "ReturnValueIgnoredError",
    "StackContextInconsistentError",
    "UnknownKeyError",
]


class GencoroError(Exception):
    """The base of every error that gencoro itself raises."""


class BadYieldError(GencoroError):
    """A coroutine yielded something that cannot be waited for.

    It is raised inside the coroutine, at the ``yield``; the text says how to fix it.
    """


class DeadlockError(GencoroError):
    """Nothing can run in virtual time, and nothing can change that.

    The text shows what each coroutine waits for.
    """


class KeyReuseError(GencoroError):
    """Two pending callbacks of one coroutine have the same key."""


class UnknownKeyError(GencoroError):
    """A coroutine waited for a key that it has not registered."""


class LeakedCallbackError(GencoroError):
    """A coroutine ended while callbacks that it had requested were pending."""


class ReturnValueIgnoredError(GencoroError):
    """A function that passes its result to a callback also returned a value."""


class StackContextInconsistentError(GencoroError):
    """Stack contexts were not exited in the order in which they were entered.

    The usual cause is a coroutine that yields inside a ``with`` block of a stack context;
    use ``run_with_stack_context`` for what it yields.
    """


class Return(Exception):
    """The value of a coroutine, raised where ``return value`` cannot be written.

    ``raise gen.Return(value)`` ends the coroutine exactly as ``return value`` does.
    It dates from Python 2, whose generators could not return a value; it is still useful
    in a plain function called by the coroutine.

    Attributes:
        value: The value of the coroutine.

    >>> Return(42).value
    42
    """

    def __init__(self, value: Any = None) -> None:
        super().__init__(value)
        self.value = value
