"""Calls with a callback that can return a Future instead.

Rule: only calls of which it is certain that they call back once: fetches, timers, and the
coroutines and engines of the program.

Pure.  Used by `gencoro.porting.callbacks` and the fixers for ``--to coroutine``.
"""

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

import libcst as cst

from gencoro.porting.callbacks.fetches import fetch_of
from gencoro.porting.callbacks.legacy import (
    called_coroutines,
    without_callback,
    without_last_positional,
)
from gencoro.porting.callbacks.timers import wait_of
from gencoro.porting.fixer import Change
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.source.imports import reference_to_gen
from gencoro.porting.source.lines import has_comment

__all__ = ["Start", "start_of", "task_of"]

_ENGINE = "tornado.gen.engine"


class Start(NamedTuple):
    """The replacement of a call with a callback.

    Attributes:
        change: Returns what can be yielded, for the node of LibCST of the call.
        imports, helpers: What the module needs.
        may_fail: Whether a Future of it may have an error.
        has_result: Whether the callback gets a value.
    """

    change: Callable[[Any], Any]
    imports: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    may_fail: bool = False
    has_result: bool = True

    def in_place_of(
        self, node: ast.AST, by: Callable[[Any], Any], kind: str = ""
    ) -> Change:
        """Return the change of a node into one that contains the replacement."""
        return Change(node, by, kind, self.imports, self.helpers)


def start_of(
    program: Program, function: Function, call: ast.Call, callback: ast.expr
) -> Start | None:
    """Return the replacement of a call with a callback; None if it is not certain.

    Args:
        callback: The argument of the call that is the callback.
    """
    module = function.module
    fetch = fetch_of(program, module, call)
    if fetch is not None and fetch.callback is callback:
        start = Start(fetch.change, fetch.imports, fetch.helpers)
        return start if fetch.helpers else None
    if call.args[-1:] == [callback] and not call.keywords:
        return _of_timer(program, function, call)
    is_by_name = any(k.arg == "callback" and k.value is callback for k in call.keywords)
    if not is_by_name:
        return None
    if called_coroutines(program, module, call.func):
        return Start(without_callback, may_fail=True)
    gen = reference_to_gen(function)
    if gen.text and _is_engine(program, module, call.func):
        return Start(task_of(gen.text), gen.imports, may_fail=True)
    return None


def _of_timer(program: Program, function: Function, call: ast.Call) -> Start | None:
    if len(call.args) > 2 or has_comment(function.module, call):
        return None
    deadline = call.args[0] if len(call.args) == 2 else None
    wait = wait_of(program, function, call.func, deadline)
    if wait is None:
        return None

    def change(_node: Any) -> Any:
        return cst.parse_expression(wait.text)

    return Start(change, wait.imports, has_result=False)


def _is_engine(program: Program, module: Module, func: ast.expr) -> bool:
    """Return whether a function certainly is an engine, whatever class has it."""
    functions = program.functions_of(module, func)
    if not functions:
        return False
    named = program.functions_by_name[functions[0].node.name]
    return all([names for _, names in f.decorators()] == [{_ENGINE}] for f in named)


def task_of(gen: str, is_last: bool = False) -> Callable[[Any], Any]:
    """Return a call with a callback as a Task, which another fixer converts.

    Args:
        is_last: Whether the callback is the last argument, without a name.
    """

    def change(node: Any) -> Any:
        kept = without_last_positional(node) if is_last else without_callback(node)
        function = cst.Arg(kept.func)
        task = cst.parse_expression(f"{gen}.Task")
        return kept.with_changes(func=task, args=[function, *kept.args])

    return change
