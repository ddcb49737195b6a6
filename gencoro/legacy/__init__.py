"""The callback-style API of Tornado until version 5, built on gencoro's Runner.

It subclasses the core or registers with it, and is never imported by it: a program that
does not use it does not load it.  Its names are available from `gencoro.gen`,
`gencoro.concurrent` and `gencoro.stack_context`, each with a DeprecationWarning.

Inside::

    engine           gen.engine
    yieldpoints      YieldPoint, Callback, Wait, WaitAll and the like
    adaptors         gen.Task, gen.Arguments, return_future
    futures          Tornado 4's Future
    legacy_runner    the Runner of coroutines that use these
    upgrade_runner   turns a Runner into a LegacyRunner when it is needed
    contexts         StackContext, ExceptionStackContext, NullContext
    active_contexts  which contexts are entered at present
    stack_context    wrap and run_with_stack_context
    native           native coroutines inside stack contexts
    private          private names of tornado.gen that packages import
"""

# Imported with every module of the package: the others rely on what these two register.
from gencoro.legacy import native, upgrade_runner

__all__ = ["native", "upgrade_runner"]
