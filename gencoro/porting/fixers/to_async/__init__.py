"""Fixers for ``--to async``: generator coroutines become native ones.

Rule: all fixers at once, so that a function is converted whole or not at all.

Inside::

    coroutine           gen.coroutine -> async def
    starts_at_once      the same, for coroutines whose calls must start at once
    tests               gen_test
    futures             yield a Future -> await
    collections_        yield a list or a dict -> await gen.multi
    moments             yield None -> await asyncio.sleep(0)
    anything            yield anything else -> await gen.convert_yielded
    returns             raise gen.Return -> return
    delegation          yield from -> await
    annotations         Generator[...] -> the type of the value
    unused_imports      imports that nothing uses any more
"""

from gencoro.porting.fixer import Fixer
from gencoro.porting.fixers.to_async.annotations import ANNOTATIONS
from gencoro.porting.fixers.to_async.anything import ANYTHING
from gencoro.porting.fixers.to_async.collections_ import COLLECTIONS
from gencoro.porting.fixers.to_async.coroutine import COROUTINES
from gencoro.porting.fixers.to_async.delegation import DELEGATION
from gencoro.porting.fixers.to_async.futures import FUTURES
from gencoro.porting.fixers.to_async.moments import MOMENTS
from gencoro.porting.fixers.to_async.returns import RETURNS
from gencoro.porting.fixers.to_async.starts_at_once import STARTS_AT_ONCE
from gencoro.porting.fixers.to_async.tests import TESTS
from gencoro.porting.fixers.to_async.unused_imports import UNUSED_IMPORTS

__all__ = ["TO_ASYNC"]

TO_ASYNC: tuple[Fixer, ...] = (
    COROUTINES,
    STARTS_AT_ONCE,
    TESTS,
    FUTURES,
    COLLECTIONS,
    MOMENTS,
    ANYTHING,
    RETURNS,
    DELEGATION,
    ANNOTATIONS,
    UNUSED_IMPORTS,
)
