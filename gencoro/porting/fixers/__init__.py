"""The fixers: one module for each.

Rule: a fixer's examples are its tests and its documentation.

Inside, for ``--to async``::

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
from gencoro.porting.fixers.annotations import ANNOTATIONS
from gencoro.porting.fixers.anything import ANYTHING
from gencoro.porting.fixers.collections_ import COLLECTIONS
from gencoro.porting.fixers.coroutine import COROUTINES
from gencoro.porting.fixers.delegation import DELEGATION
from gencoro.porting.fixers.futures import FUTURES
from gencoro.porting.fixers.moments import MOMENTS
from gencoro.porting.fixers.returns import RETURNS
from gencoro.porting.fixers.starts_at_once import STARTS_AT_ONCE
from gencoro.porting.fixers.tests import TESTS
from gencoro.porting.fixers.unused_imports import UNUSED_IMPORTS

__all__ = ["TO_ASYNC", "TO_COROUTINE"]

# Callback-style code becomes coroutines, one fixer after the other.
TO_COROUTINE: tuple[Fixer, ...] = ()

# Coroutines become native ones, all fixers at once.
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
