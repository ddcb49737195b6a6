"""gencoro: Tornado-style generator coroutines on today's Python.

>>> from gencoro import gen
>>> from gencoro.ioloop import IOLoop
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

The names live in `gencoro.gen`, `gencoro.concurrent` and `gencoro.ioloop`; the last
one loads Tornado, the others need asyncio only.
"""

from gencoro import concurrent, gen
from gencoro.coroutines import coroutine
from gencoro.errors import BadYieldError, GencoroError, Return
from gencoro.futures import Future
from gencoro.runner import Runner
from gencoro.waiting import WaitIterator, sleep, with_timeout
from gencoro.yieldables import convert_yielded, moment, multi

__all__ = [
    "BadYieldError",
    "Future",
    "GencoroError",
    "Return",
    "Runner",
    "WaitIterator",
    "concurrent",
    "convert_yielded",
    "coroutine",
    "gen",
    "moment",
    "multi",
    "sleep",
    "with_timeout",
]

__version__ = "0.1.0"
