"""The fixers, one module each.

Rule: a fixer's examples are its tests and its documentation.

Inside, for ``--to coroutine``::

    loop_instance       IOLoop.instance() -> IOLoop.current()
    io_loop_argument    io_loop=, where it is the current loop
    asynchronous        web.asynchronous
    stop_and_wait       stop() and wait() of tests
    functions_of_tasks  a function with a callback that only gen.Task calls
    keys                gen.Callback, gen.Wait and gen.WaitAll
    arguments           several arguments of a callback
    return_future       return_future -> gen.coroutine with a result
    engine              gen.engine with a callback -> gen.coroutine with a result
    task                gen.Task of a coroutine, or of the loop
    callback_argument   callback= of a coroutine of the program
    contexts            StackContext around what starts nothing
    null_context        stack_context.NullContext and wrap, where they do nothing
    fetches             fetch with a callback, or in a Task
    native_calls        callback= of a resolver or a TCP client
    removed_imports     imports of removed names that nothing uses any more

For ``--to async``::

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
from gencoro.porting.fixers.arguments import ARGUMENTS
from gencoro.porting.fixers.asynchronous import ASYNCHRONOUS
from gencoro.porting.fixers.callback_argument import CALLBACK_ARGUMENTS
from gencoro.porting.fixers.collections_ import COLLECTIONS
from gencoro.porting.fixers.contexts import CONTEXTS
from gencoro.porting.fixers.coroutine import COROUTINES
from gencoro.porting.fixers.delegation import DELEGATION
from gencoro.porting.fixers.engine import ENGINES
from gencoro.porting.fixers.fetches import FETCHES
from gencoro.porting.fixers.functions_of_tasks import FUNCTIONS_OF_TASKS
from gencoro.porting.fixers.futures import FUTURES
from gencoro.porting.fixers.io_loop_argument import IO_LOOP_ARGUMENT
from gencoro.porting.fixers.keys import KEYS
from gencoro.porting.fixers.loop_instance import LOOP_INSTANCE
from gencoro.porting.fixers.moments import MOMENTS
from gencoro.porting.fixers.native_calls import NATIVE_CALLS
from gencoro.porting.fixers.null_context import NULL_CONTEXTS
from gencoro.porting.fixers.removed_imports import REMOVED_IMPORTS
from gencoro.porting.fixers.return_future import RETURN_FUTURES
from gencoro.porting.fixers.returns import RETURNS
from gencoro.porting.fixers.starts_at_once import STARTS_AT_ONCE
from gencoro.porting.fixers.stop_and_wait import STOP_AND_WAIT
from gencoro.porting.fixers.task import TASKS
from gencoro.porting.fixers.tests import TESTS
from gencoro.porting.fixers.unused_imports import UNUSED_IMPORTS

__all__ = ["TO_ASYNC", "TO_COROUTINE"]

# Callback-style code becomes coroutines, one fixer after the other.
TO_COROUTINE: tuple[Fixer, ...] = (
    LOOP_INSTANCE,
    IO_LOOP_ARGUMENT,
    ASYNCHRONOUS,
    STOP_AND_WAIT,
    FUNCTIONS_OF_TASKS,
    KEYS,
    ARGUMENTS,
    RETURN_FUTURES,
    ENGINES,
    FETCHES,
    NATIVE_CALLS,
    TASKS,
    CALLBACK_ARGUMENTS,
    CONTEXTS,
    NULL_CONTEXTS,
    REMOVED_IMPORTS,
)

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
