"""Engines without a callback: what starts them, and where their errors go.

Rule: the error of an engine goes to the stack context of its call.  If there is none, an
error before it first waits is raised at the call, and a later one is logged; what starts it
must do the same with a coroutine.

Pure.  Used by the fixers for ``--to coroutine``.
"""

import ast
import functools
from collections.abc import Iterator
from typing import Any, cast

import libcst as cst

from gencoro.porting.callbacks.callback_functions import calls_of, returns_value
from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.future_callbacks import loop_reference
from gencoro.porting.callbacks.legacy import (
    as_coroutine,
    function_refusal,
    is_certain_call,
)
from gencoro.porting.callbacks.loops import switches_loops, uses_threads
from gencoro.porting.coroutines.tasks import is_stop_of_loop
from gencoro.porting.coroutines.users import is_plain
from gencoro.porting.fixer import Change, Fix, Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.call_graph import reachable
from gencoro.porting.program.origins import last_name
from gencoro.porting.program.references import references_of
from gencoro.porting.source.helpers import IN_BACKGROUND, in_background
from gencoro.porting.source.imports import is_free_in

__all__ = ["fixes_of_lone_engine"]

_SPAWN = "tornado.ioloop.IOLoop.spawn_callback"
_SIGNAL = "tornado.ioloop.IOLoop.add_callback_from_signal"

# What starts a function in the loop, and the place of that function.
_STARTERS = {
    "tornado.ioloop.IOLoop.add_callback": 0,
    "tornado.ioloop.IOLoop.add_timeout": 1,
    "tornado.ioloop.IOLoop.call_at": 1,
    "tornado.ioloop.IOLoop.call_later": 1,
    _SIGNAL: 0,
    _SPAWN: 0,
}
_IN_NO_CONTEXT = frozenset({_SIGNAL, _SPAWN})

# What makes a context, by the name of Tornado.
_CONTEXTS = frozenset(
    f"tornado.stack_context.{name}"
    for name in ("ExceptionStackContext", "StackContext", "run_with_stack_context")
)

_HANDLER = "handle_callback_exception"

# What runs its inside several times.
_LOOPS = (ast.DictComp, ast.For, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.While)

# How many functions may call each other on the way to what starts an engine.
_DEPTH = 5


def fixes_of_lone_engine(
    code: str, program: Program, function: Function
) -> Iterator[Fix | Refusal]:
    """Yield the changes of an engine without a callback, and of its calls.

    Args:
        code: The code of the fixer.
    """

    def is_start(module: Module, call: ast.Call, given: ast.expr) -> bool:
        if call.func is given:
            return _is_statement(program, module, call)
        return _is_start_by_loop(program, module, call, given)

    used = calls_of(program, function, is_start)
    started = may_start_callbacks(program, function)
    coroutine = as_coroutine(function, len(function.node.decorator_list) - 1)
    stop = _stop_before_error(program, function, used)
    if isinstance(used, str) or returns_value(function):
        name = used if isinstance(used, str) else "return"
        yield function_refusal(function, "engine-alone", name)
    elif started:
        yield function_refusal(function, "callbacks", started)
    elif _handles_errors(program):
        yield function_refusal(function, "engine-alone", _HANDLER)
    elif stop is not None:
        yield function_refusal(function, "engine-alone", ast.unparse(stop))
    elif coroutine is None:
        yield function_refusal(function, "name-taken", "gen")
    else:
        statements = [(m, c) for m, c in used if not _names_starter(m, c)]
        taken = [n for m, call in statements if (n := _taken(m, call))]
        if taken:
            yield function_refusal(function, "name-taken", taken[0])
            return
        yield Fix(code, function.module, function.line, (coroutine,), function)
        for user, call in statements:
            yield Fix(code, user, call.lineno, (_in_background(user, call),), function)


def _is_start_by_loop(
    program: Program, module: Module, call: ast.Call, given: ast.expr
) -> bool:
    names = {thing.name for thing in module.things(call.func)}
    if not _names_starter(module, call):
        return False
    places = {_STARTERS[name] for name in names}
    if not all(call.args[place : place + 1] == [given] for place in places):
        return False
    return names <= _IN_NO_CONTEXT or _is_in_no_context(program, module, call)


def _names_starter(module: Module, call: ast.Call) -> bool:
    names = {thing.name for thing in module.things(call.func)}
    return bool(names) and names <= _STARTERS.keys()


def _is_statement(program: Program, module: Module, call: ast.Call) -> bool:
    """Return whether a call is a statement that the helper can take.

    A coroutine needs a current loop when it is called, and an engine does not.
    """
    if not isinstance(module.parents[call], ast.Expr):
        return False
    if uses_threads(program) or switches_loops(program):
        return False
    is_certain = is_certain_call(program, module, call.func)
    return is_certain and _is_in_no_context(program, module, call)


def _taken(module: Module, call: ast.Call) -> str:
    """Return the name that a module does not have free for the helper; else none."""
    if not loop_reference(module).text:
        return "IOLoop"
    is_free = is_free_in(IN_BACKGROUND, module, module.scope_at(call))
    return "" if is_free else IN_BACKGROUND


def _in_background(module: Module, call: ast.Call) -> Change:
    loop = loop_reference(module)

    def change(node: Any) -> Any:
        return cst.Call(func=cst.Name(IN_BACKGROUND), args=[cst.Arg(node)])

    return Change(call, change, "", loop.imports, (in_background(loop.text),))


def _stop_before_error(
    program: Program, function: Function, used: list[tuple[Module, ast.Call]] | str
) -> ast.expr | None:
    """Return what may stop the loop before it logs an error of an engine; else None.

    The error of a coroutine is logged in the next turn, which then never comes.  Of several
    coroutines that one engine becomes, one can stop the loop in the turn in which another fails.
    """
    stop = _stop_before_end(program, function)
    if stop is not None or isinstance(used, str) or function not in _stopping(program):
        return stop
    is_single = len(used) == 1 and _is_once(program, *used[0])
    return None if is_single else used[0][1]


def _is_once(
    program: Program, module: Module, node: ast.AST, seen: tuple[Function, ...] = ()
) -> bool:
    """Return whether a place is run once: not in a loop, nor in a function with several uses."""
    if _is_inside(module, node, _LOOPS):
        return False
    function = module.function_at(node)
    if function is None:
        return module.enclosing(node) is module.tree
    uses = references_of(program).of(function)
    is_first = function not in seen and len(uses) == 1
    return is_first and _is_once(
        program, uses[0].module, uses[0].node, (*seen, function)
    )


def _stop_before_end(
    program: Program, function: Function, seen: tuple[Function, ...] = ()
) -> ast.expr | None:
    """Return what stops the loop before a function ends; None if nothing does."""
    statement = function.node.body[-1]
    call = statement.value if isinstance(statement, ast.Expr) else None
    last = call.func if isinstance(call, ast.Call) else None
    module = function.module
    for node in function.own:
        if is_stop_of_loop(module, node) and node is not last:
            return cast(ast.expr, node)
        if not isinstance(node, ast.Call):
            continue
        for called in _called(program, module, node.func):
            if called in seen or called not in _stopping(program):
                continue
            is_end = node.func is last
            if not is_end or _stop_before_end(program, called, (*seen, function)):
                return node.func
    return None


@functools.lru_cache(maxsize=1)
def _stopping(program: Program) -> dict[Function, None]:
    """Return the functions that may stop the loop, or call such a function."""
    callers: dict[Function, list[Function]] = {}
    for function in program.functions:
        for node in function.own:
            if isinstance(node, ast.Call):
                for called in _called(program, function.module, node.func):
                    callers.setdefault(called, []).append(function)
    found = [
        f
        for f in program.functions
        if any(is_stop_of_loop(f.module, node) for node in f.own)
    ]
    return reachable(found, lambda function: callers.get(function, ()))


def _called(program: Program, module: Module, func: ast.expr) -> list[Function]:
    """Return the functions of the program that an expression may be."""
    certain = program.functions_of(module, func)
    if certain or any(
        thing.name.startswith("tornado.") for thing in module.things(func)
    ):
        return certain
    return program.functions_by_name.get(last_name(func), [])


@functools.lru_cache(maxsize=1)
def _handles_errors(program: Program) -> bool:
    """Return whether a program handles errors of callbacks; those of engines are logged."""
    return _HANDLER in program.functions_by_name or any(
        isinstance(node, ast.Attribute) and node.attr == _HANDLER
        for module in program.modules.values()
        for node in module.nodes
    )


def _is_in_no_context(
    program: Program, module: Module, node: ast.AST, depth: int = 0
) -> bool:
    """Return whether a place is run only while modules are run, outside of any ``with``.

    A ``with`` may be a context.
    """
    if _is_inside(module, node, ast.With):
        return False
    function = module.function_at(node)
    if function is None:
        return module.enclosing(node) is module.tree
    uses = references_of(program).of(function)
    is_known = bool(uses) and is_plain(function) and depth < _DEPTH
    return is_known and all(
        use.is_resolved
        and (use.module.is_called(use.node) or not _names_contexts(program))
        and _is_in_no_context(program, use.module, use.node, depth + 1)
        for use in uses
    )


@functools.lru_cache(maxsize=1)
def _names_contexts(program: Program) -> bool:
    """Return whether a function that is passed to another may be called in a context."""
    return any(
        isinstance(node, (ast.Attribute, ast.Name)) and module.names(node) & _CONTEXTS
        for module in program.modules.values()
        for node in module.nodes
    )


def _is_inside(
    module: Module, node: ast.AST, kinds: type[ast.AST] | tuple[type[ast.AST], ...]
) -> bool:
    """Return whether a node of one of these kinds, in the same scope, is around a node."""
    scope = module.enclosing(node)
    while node is not scope:
        if isinstance(node, kinds):
            return True
        node = module.parents[node]
    return False
