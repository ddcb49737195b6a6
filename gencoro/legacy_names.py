"""The legacy names of the facades: where each is defined, and what to write instead.

`gencoro.legacy` is loaded when the first of its names is used.  Those of Tornado's own modules,
for code that runs unchanged, are in `gencoro.compat.names`.
"""

from importlib import import_module
from typing import Any, NamedTuple

from gencoro.deprecated import warn_legacy

__all__ = ["CONCURRENT", "GEN", "STACK_CONTEXT", "hand_out"]


class Legacy(NamedTuple):
    """A legacy name.

    Attributes:
        place: Its module in `gencoro.legacy`, and its name there if that differs.
        instead: What to write instead.
    """

    place: str
    instead: str


_FUTURES = "yield Futures, which gen.coroutine takes as they are"
_WAIT = "make a Future, set its result in the callback, and yield it"
_CONTEXTS = "use contextvars, and catch errors where the coroutine is waited for"

GEN = {
    "Arguments": Legacy("adaptors", "set a Future's result to your own value"),
    "Callback": Legacy("yieldpoints", _WAIT),
    "MultiYieldPoint": Legacy("yieldpoints", "yield the list or the dict itself"),
    "Task": Legacy(
        "adaptors",
        "yield a function that returns a Future; or " + _WAIT,
    ),
    "TracebackFuture": Legacy("futures.LegacyFuture", "use gen.Future"),
    "Wait": Legacy("yieldpoints", _WAIT),
    "WaitAll": Legacy("yieldpoints", "yield a list of Futures"),
    "YieldFuture": Legacy("yieldpoints", "yield the Future itself"),
    "YieldPoint": Legacy("yieldpoints", _FUTURES),
    "engine": Legacy("engine", "use gen.coroutine, whose calls return a Future"),
    "_argument_adapter": Legacy("adaptors.argument_adapter", _WAIT),
    "_contains_yieldpoint": Legacy("yieldpoints.contains_yieldpoint", _FUTURES),
    "_value_from_stopiteration": Legacy("private", "read the attribute value"),
    "_wrap_awaitable": Legacy("private", "use gen.convert_yielded"),
}

CONCURRENT = {
    "TracebackFuture": GEN["TracebackFuture"],
    "return_future": Legacy("adaptors", "return a Future, usually from gen.coroutine"),
}

STACK_CONTEXT = {
    name: Legacy("stack_context", _CONTEXTS)
    for name in (
        "ExceptionStackContext",
        "NullContext",
        "StackContext",
        "StackContextInconsistentError",
        "_state",
        "run_with_stack_context",
        "wrap",
    )
}

NAMES = {
    "gencoro.concurrent": CONCURRENT,
    "gencoro.gen": GEN,
    "gencoro.stack_context": STACK_CONTEXT,
}


def hand_out(facade: str, name: str) -> Any:
    """Return a legacy name of a facade, and warn about the line that uses it.

    Raises:
        AttributeError: the facade has no such name.
    """
    legacy = NAMES[facade].get(name)
    if legacy is None:
        raise AttributeError(f"module {facade!r} has no attribute {name!r}")
    warn_legacy(f"{facade.rpartition('.')[2]}.{name}", legacy.instead)
    module, _, other_name = legacy.place.partition(".")
    return getattr(import_module(f"gencoro.legacy.{module}"), other_name or name)
