"""Finds coroutines that schedule work that runs before their callers are resumed.

Rule: the caller of a coroutine is resumed in a turn of the loop after its end, and so after
the callbacks and coroutines that it woke; the caller of an ``async def`` in the same turn.
A callback that is called may wake something if the program passes on what does.

Pure.  Used by `gencoro.porting.coroutines.decisions`.
"""

import ast
import functools
from collections.abc import Iterator

from gencoro.porting.coroutines.candidates import candidates_of
from gencoro.porting.coroutines.hidden_calls import every_user_of
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.references import references_of

__all__ = ["schedules"]

# Methods of loops, Futures, locks and queues, and functions, that wake something.
_WAKING = frozenset(
    {
        "acquire",  # a `with` releases it
        "add_callback",
        "add_callback_from_signal",
        "add_done_callback",
        "add_future",
        "call_soon",
        "call_soon_threadsafe",
        "cancel",
        "chain_future",
        "close",
        "create_task",
        "ensure_future",
        "future_set_exception_unless_cancelled",
        "future_set_exc_info",
        "future_set_result_unless_cancelled",
        "get_nowait",
        "notify",
        "notify_all",
        "put",
        "put_nowait",
        "release",
        "set_exc_info",
        "set_exception",
        "set_result",
        "spawn_callback",
        "stop",
        "task_done",
    }
)

# Methods of events and queues, which those of dicts and context variables are not without
# arguments.
_WAKING_WITHOUT_ARGUMENTS = frozenset({"get", "set"})

# Those that are seldom passed on in order to wake a coroutine.
_SELDOM_PASSED = frozenset({"acquire", "cancel", "close", "stop"})

# What gives a callback that wakes a coroutine.
_GIVING_CALLBACKS = frozenset(
    {
        "tornado.concurrent.return_future",
        "tornado.gen.Callback",
        "tornado.gen.Task",
    }
)


def schedules(function: Function, program: Program) -> bool:
    """Return whether a body schedules work, directly or through its callees."""
    return function in _scheduling(program)


@functools.lru_cache(maxsize=1)
def _scheduling(program: Program) -> frozenset[Function]:
    """Return the functions that schedule work, directly or through others."""
    coroutines = {candidate.function for candidate in candidates_of(program)}
    found = [f for f in program.functions if any(map(_wakes, f.own))]
    for function in program.functions:
        if function in coroutines or isinstance(function.node, ast.AsyncFunctionDef):
            found += _starters(function, program)
    return every_user_of(found, program, _is_passed_on, are_probable=True)


def _is_passed_on(module: Module, node: ast.AST) -> bool:
    """Return whether a node is a waking method that is passed on, or a lambda that wakes."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in _WAKING:
            return name not in _SELDOM_PASSED and not module.is_called(node)
        case ast.Lambda(body=body):
            return any(map(_wakes, ast.walk(body)))
        case ast.Name() | ast.Attribute():
            return bool(module.names(node) & _GIVING_CALLBACKS)
    return False


def _starters(function: Function, program: Program) -> Iterator[Function]:
    """Yield the functions that start a coroutine and go on without waiting for it."""
    references = references_of(program)
    is_common = references.is_common(function.node.name)
    for use in references.of(function):
        user = use.module.function_at(use.node)
        is_probable = use.is_resolved or not is_common
        if user and is_probable and not _is_waited_for(use.module, use.node):
            yield user


def _wakes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name), args=[], keywords=[]):
            return name in _WAKING or name in _WAKING_WITHOUT_ARGUMENTS
        case ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name)):
            return name in _WAKING
    return False


def _is_waited_for(module: Module, node: ast.AST) -> bool:
    """Return whether a call is waited for in its statement, or by the caller of that."""
    if not module.is_called(node):
        return True  # it is not started here
    waits = (ast.Await, ast.Return, ast.Yield, ast.YieldFrom)
    while not isinstance(node, ast.stmt):
        node = module.parents[node]
        if isinstance(node, waits):
            return True
    return False
