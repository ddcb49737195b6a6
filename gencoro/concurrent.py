"""Facade: the names of ``tornado.concurrent``.

The names of ``__all__`` are public, as are the legacy names, which are loaded on demand.
"""

from typing import Any

from gencoro.errors import ReturnValueIgnoredError
from gencoro.executors import DummyExecutor, dummy_executor, run_on_executor
from gencoro.futures import (
    FUTURES,
    Future,
    chain_future,
    future_add_done_callback,
    future_set_exc_info,
    future_set_exception_unless_cancelled,
    future_set_result_unless_cancelled,
    is_future,
)
from gencoro.legacy_names import hand_out

__all__ = [
    "FUTURES",
    "DummyExecutor",
    "Future",
    "ReturnValueIgnoredError",
    "chain_future",
    "dummy_executor",
    "future_add_done_callback",
    "future_set_exc_info",
    "future_set_exception_unless_cancelled",
    "future_set_result_unless_cancelled",
    "is_future",
    "run_on_executor",
]


def __getattr__(name: str) -> Any:
    return hand_out(__name__, name)
