"""Every exception of gencoro, and `Return`, in one tree::

    Exception
    +-- GencoroError
    |   +-- BadYieldError             a coroutine yielded something nobody can wait for
    |   |   +-- NeedsRunner           (in yieldables) nobody but the Runner that yields it
    |   +-- DeadlockError             virtual time: everything waits, and for ever
    |   +-- KeyReuseError             legacy: two outstanding callbacks share a key
    |   +-- UnknownKeyError           legacy: a wait for a key nobody registered
    |   +-- LeakedCallbackError       legacy: a coroutine ended with callbacks outstanding
    |   +-- ReturnValueIgnoredError   legacy: a callback-style function returned a value
    |   +-- StackContextInconsistentError   legacy: a context was left out of its turn
    +-- Return                        not an error: the value of a coroutine

Time-outs raise the builtin `TimeoutError`, which is also asyncio's and Tornado's.
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

    It is raised inside the coroutine, at the ``yield``; the text names the cure.
    """


class DeadlockError(GencoroError):
    """Nothing can run in virtual time, and nothing is left that could change this.

    The text shows who waits for whom.
    """


class KeyReuseError(GencoroError):
    """Two outstanding callbacks of one coroutine were given the same key."""


class UnknownKeyError(GencoroError):
    """A coroutine waited for a key that none of its callbacks has."""


class LeakedCallbackError(GencoroError):
    """A coroutine ended while callbacks that it had asked for were outstanding."""


class ReturnValueIgnoredError(GencoroError):
    """A function whose result goes to a callback returned a value as well."""


class StackContextInconsistentError(GencoroError):
    """A context was left in another place than where it was entered.

    Most often a coroutine has yielded within a ``with`` block of a stack context; use
    ``run_with_stack_context`` for what it yields.
    """


class Return(Exception):
    """The value of a coroutine, raised where ``return value`` cannot be written.

    ``raise gen.Return(value)`` ends the coroutine exactly as ``return value`` does.
    It dates from Python 2, whose generators could not return; it still serves in a
    plain function called by the coroutine.

    >>> Return(42).value
    42
    """

    def __init__(self, value: Any = None) -> None:
        super().__init__(value)
        self.value = value
