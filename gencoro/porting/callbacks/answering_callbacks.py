"""Callbacks that certainly finish the response of a request, and the calls they become.

Rule: a method, or a function inside the handler's, each path of which finishes the response,
and which starts no callback; also in a ``functools.partial`` or an ``async_callback``.

Pure.  Used by `gencoro.porting.callbacks.request_handlers`.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import libcst as cst

from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.finished_answers import (
    finishes_on_each_path,
    own_method,
)
from gencoro.porting.callbacks.future_callbacks import is_bound_once
from gencoro.porting.callbacks.kept_values import is_same_later
from gencoro.porting.program import Function, Program
from gencoro.porting.program.library_names import library_name

__all__ = ["AnsweringCallback", "answering_callback"]

_PARTIAL = "functools.partial"
_WRAPPERS = frozenset(
    {"tornado.stack_context.wrap", "tornado.web.RequestHandler.async_callback"}
)


class AnsweringCallback(NamedTuple):
    """A callback that finishes the response.

    Attributes:
        call: Returns its call, for the node of LibCST of the callback and the arguments that
            it gets.
        names: The names of variables and attributes that this call uses.
    """

    call: Callable[[Any, list[Any]], Any]
    names: frozenset[str]


def answering_callback(
    program: Program, function: Function, callback: ast.expr, count: int
) -> AnsweringCallback | None:
    """Return a callback, if it finishes the response on each path.

    Args:
        function: The handler.
        count: How many arguments the callback gets.
    """
    given = _given(program, function, callback)
    if given is None:
        return None
    called, positional, words = given
    found = _function(program, function, called)
    if found is None or not is_bound_once(program, function.module, called):
        return None
    is_method = isinstance(called, ast.Attribute)
    total = is_method + count + len(positional)
    names = {word.arg or "" for word in words}
    if not _takes(found, total, names) or not _answers(program, found):
        return None
    # What has a name is evaluated after the wait.
    later = (word.value for word in words)
    if not all(is_same_later(function, value) for value in later):
        return None
    parts = [called, *positional, *(word.value for word in words)]
    return AnsweringCallback(
        _call, frozenset(n for part in parts for n in _names_in(part))
    )


def _given(
    program: Program, function: Function, callback: ast.expr
) -> tuple[ast.expr, list[ast.expr], list[ast.keyword]] | None:
    """Return the function that a callback calls, and the arguments that it adds."""
    if not isinstance(callback, ast.Call):
        return callback, [], []
    func, module = callback.func, function.module
    is_partial = library_name(program, module, func) == _PARTIAL
    names = module.names(func)
    is_wrapper = bool(names) and names <= _WRAPPERS
    inner = _given(program, function, callback.args[0]) if callback.args else None
    if not (is_partial or is_wrapper) or inner is None:
        return None
    added = callback.args[1:]
    values = [*added, *(word.value for word in callback.keywords)]
    if not all(isinstance(value, (ast.Constant, ast.Name)) for value in values):
        return None
    if any(word.arg is None for word in callback.keywords):
        return None
    called, positional, words = inner
    return called, [*positional, *added], [*words, *callback.keywords]


def _function(
    program: Program, function: Function, called: ast.expr
) -> Function | None:
    match called:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return own_method(program, function, name)
        case ast.Name(id=name):
            functions = function.module.functions
            named = [f for f in functions if f.node in function.node.body]
            named = [f for f in named if f.node.name == name]
            return named[0] if len(named) == 1 else None
    return None


def _takes(function: Function, count: int, names: set[str]) -> bool:
    """Return whether ``count`` arguments and those with names fit plain parameters."""
    args = function.node.args
    if args.posonlyargs or args.kwonlyargs or args.vararg or args.kwarg:
        return False
    every = [argument.arg for argument in args.args]
    rest = every[count:]
    required = len(every) - len(args.defaults)
    is_given = all(name in names for name in every[count:required])
    return len(every) >= count and names <= set(rest) and is_given


def _answers(program: Program, function: Function) -> bool:
    """Return whether a bare function finishes the response on each path."""
    return (
        function.is_bare
        and finishes_on_each_path(program, function)
        and not may_start_callbacks(program, function)
    )


def _names_in(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Name):
            yield part.id


def _call(callback: Any, results: list[Any]) -> Any:
    called, positional, words = _parts(callback)
    values = [cst.Arg(arg) for arg in [*positional, *results]]
    names = [word.with_changes(comma=cst.MaybeSentinel.DEFAULT) for word in words]
    return cst.Call(called.with_changes(lpar=[], rpar=[]), [*values, *names])


def _parts(callback: Any) -> tuple[Any, list[Any], list[Any]]:
    """Return what `_given` does, as nodes of LibCST."""
    if not isinstance(callback, cst.Call):
        return callback, [], []
    first, *rest = callback.args
    called, positional, words = _parts(first.value)
    positional = [*positional, *(arg.value for arg in rest if arg.keyword is None)]
    return called, positional, [*words, *(arg for arg in rest if arg.keyword)]
