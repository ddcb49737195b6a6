"""Fixers for ``--to coroutine``: callback style becomes generator coroutines.

Rule: one fixer after the other, each on what the one before has left.

Inside, in the order in which they run::

    loop_instance       IOLoop.instance() -> IOLoop.current()
    io_loop_argument    io_loop=, where it is the current loop
    asynchronous        web.asynchronous
    stop_and_wait       stop() and wait() of tests
    functions_of_tasks  a function with a callback that only gen.Task calls
    keys                gen.Callback, gen.Wait and gen.WaitAll
    arguments           several arguments of a callback
    return_future       return_future -> gen.coroutine with a result
    engine              gen.engine with a callback -> gen.coroutine with a result
    fetches             fetch with a callback, or in a Task
    native_calls        callback= of a resolver or a TCP client
    task                gen.Task of a coroutine, or of the loop
    callback_argument   callback= of a coroutine of the program
    contexts            StackContext around what starts nothing
    null_context        stack_context.NullContext and wrap, where they do nothing
    removed_imports     imports of removed names that nothing uses any more
    eras                a comment that says for which Tornado tests were written
"""

from gencoro.porting.fixer import Fixer
from gencoro.porting.fixers.to_coroutine.arguments import ARGUMENTS
from gencoro.porting.fixers.to_coroutine.asynchronous import ASYNCHRONOUS
from gencoro.porting.fixers.to_coroutine.callback_argument import CALLBACK_ARGUMENTS
from gencoro.porting.fixers.to_coroutine.contexts import CONTEXTS
from gencoro.porting.fixers.to_coroutine.engine import ENGINES
from gencoro.porting.fixers.to_coroutine.eras import TEST_ERAS
from gencoro.porting.fixers.to_coroutine.fetches import FETCHES
from gencoro.porting.fixers.to_coroutine.functions_of_tasks import FUNCTIONS_OF_TASKS
from gencoro.porting.fixers.to_coroutine.io_loop_argument import IO_LOOP_ARGUMENT
from gencoro.porting.fixers.to_coroutine.keys import KEYS
from gencoro.porting.fixers.to_coroutine.loop_instance import LOOP_INSTANCE
from gencoro.porting.fixers.to_coroutine.native_calls import NATIVE_CALLS
from gencoro.porting.fixers.to_coroutine.null_context import NULL_CONTEXTS
from gencoro.porting.fixers.to_coroutine.removed_imports import REMOVED_IMPORTS
from gencoro.porting.fixers.to_coroutine.return_future import RETURN_FUTURES
from gencoro.porting.fixers.to_coroutine.stop_and_wait import STOP_AND_WAIT
from gencoro.porting.fixers.to_coroutine.task import TASKS

__all__ = ["TO_COROUTINE"]

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
    TEST_ERAS,
)
