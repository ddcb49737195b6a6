"""gencoro: Tornado-style generator coroutines on today's Python.

>>> from gencoro import IOLoop, gen
>>> @gen.coroutine
... def double(x):
...     yield gen.sleep(0.001)
...     raise gen.Return(2 * x)
>>> @gen.coroutine
... def main():
...     answers = yield [double(1), double(2)]
...     return answers
>>> IOLoop.current().run_sync(main)
[2, 4]

The public modules, each with its public names in ``__all__``:

- `gencoro.gen`, `gencoro.concurrent`, `gencoro.stack_context` and `gencoro.ioloop`: the names
  of the Tornado modules of the same name,
- `gencoro.locks` and `gencoro.queues`: the same for these two, where a cancelled waiter loses
  nothing,
- `gencoro.errors`: every exception,
- `gencoro.introspect`: where coroutines are suspended, and what they wait for,
- `gencoro.testing` and `gencoro.virtual_clock`: tests of coroutines, in real or virtual time;
  pytest finds `gencoro.pytest_plugin` by itself,
- `gencoro.compat`: runs legacy code unmodified.

Only `IOLoop`, `gencoro.ioloop`, `gencoro.testing` and `gencoro.compat` import Tornado;
everything else, except for legacy names, needs asyncio only.
"""

from typing import TYPE_CHECKING

from gencoro import concurrent, gen
from gencoro.coroutines import coroutine, is_coroutine_function
from gencoro.errors import (
    BadYieldError,
    DeadlockError,
    GencoroError,
    KeyReuseError,
    LeakedCallbackError,
    Return,
    ReturnValueIgnoredError,
    StackContextInconsistentError,
    UnknownKeyError,
)
from gencoro.executors import run_on_executor
from gencoro.futures import Future, is_future
from gencoro.runner import Runner
from gencoro.waiting import WaitIterator, sleep, with_timeout
from gencoro.yieldables import convert_yielded, moment, multi

if TYPE_CHECKING:
    from gencoro.ioloop import IOLoop

__all__ = [
    "BadYieldError",
    "DeadlockError",
    "Future",
    "GencoroError",
    "IOLoop",
    "KeyReuseError",
    "LeakedCallbackError",
    "Return",
    "ReturnValueIgnoredError",
    "Runner",
    "StackContextInconsistentError",
    "UnknownKeyError",
    "WaitIterator",
    "concurrent",
    "convert_yielded",
    "coroutine",
    "gen",
    "is_coroutine_function",
    "is_future",
    "moment",
    "multi",
    "run_on_executor",
    "sleep",
    "with_timeout",
]

__version__ = "0.1.0"

# Not for type checkers, which would accept any name then.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # On demand only: gencoro itself loads no Tornado.
        if name == "IOLoop":
            return gen.IOLoop
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), "IOLoop"})
