"""Facade: the names of ``tornado.gen``, as in ``from gencoro import gen``.

The names of ``__all__`` are public, as are `IOLoop`, `Runner` and the legacy names, which are
loaded on demand.
"""

import builtins
from importlib import import_module
from typing import Any

from gencoro import runner, yieldables
from gencoro.coroutines import coroutine, is_coroutine_function
from gencoro.errors import (
    BadYieldError,
    KeyReuseError,
    LeakedCallbackError,
    Return,
    ReturnValueIgnoredError,
    UnknownKeyError,
)
from gencoro.futures import (
    Future,
    app_log,
    chain_future,
    future_add_done_callback,
    future_set_exc_info,
    future_set_result_unless_cancelled,
    is_future,
)
from gencoro.legacy_names import hand_out
from gencoro.waiting import WaitIterator, sleep, with_timeout
from gencoro.yieldables import (
    convert_yielded,
    maybe_future,
    moment,
    multi,
    multi_future,
)

__all__ = [
    "BadYieldError",
    "Future",
    "KeyReuseError",
    "LeakedCallbackError",
    "Multi",
    "Return",
    "ReturnValueIgnoredError",
    "TimeoutError",
    "UnknownKeyError",
    "WaitIterator",
    "app_log",
    "chain_future",
    "convert_yielded",
    "coroutine",
    "future_add_done_callback",
    "future_set_exc_info",
    "future_set_result_unless_cancelled",
    "is_coroutine_function",
    "is_future",
    "maybe_future",
    "moment",
    "multi",
    "multi_future",
    "sleep",
    "with_timeout",
]

TimeoutError = builtins.TimeoutError
Multi = multi

# Private names of tornado.gen that programs use.
_Yieldable = yieldables.Yieldable[Any]
_null_future = yieldables._null_future


def __getattr__(name: str) -> Any:
    # Handed out on demand only: gencoro.gen loads no Tornado, and nothing legacy.
    if name == "IOLoop":
        from gencoro.ioloop import IOLoop  # noqa: PLC0415

        return IOLoop
    if name == "Runner":
        # Code that handles Runners expects the methods of Tornado's, which legacy adds.
        import_module("gencoro.legacy")
        return runner.Runner
    return hand_out(__name__, name)
