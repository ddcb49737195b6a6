"""Request handlers that finish the response in a callback.

Rule: each path finishes the answer, or ends with one call that gets a callback that does.
After that call only statements may follow that raise no error, and no ``try`` may catch what
the callback raises.

Pure.  Used by `gencoro.porting.fixers.to_coroutine.asynchronous`.
"""

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

import libcst as cst

from gencoro.porting.callbacks.answering_callbacks import (
    AnsweringCallback,
    answering_callback,
)
from gencoro.porting.callbacks.awaitable_calls import Start, start_of
from gencoro.porting.callbacks.callback_functions import takes_only
from gencoro.porting.callbacks.control_flow import ends_each_path, is_guarded
from gencoro.porting.callbacks.finished_answers import finisher_of
from gencoro.porting.callbacks.loops import uses_threads
from gencoro.porting.callbacks.quiet_statements import assigned_names, is_quiet
from gencoro.porting.fixer import Change
from gencoro.porting.program import Function, Program
from gencoro.porting.program.trees import block_of
from gencoro.porting.source.imports import unused_name
from gencoro.porting.source.lines import is_alone

__all__ = ["Answer", "answers_of"]


class Answer(NamedTuple):
    """A last statement that passes on a callback.

    Attributes:
        call: The statement's call.
        changes: What waits for the result, and does what the callback did.
    """

    call: ast.Call
    changes: tuple[Change, ...]


def answers_of(program: Program, function: Function) -> list[Answer] | None:
    """Return the last statements that pass on methods; None if some path ends otherwise."""
    found: dict[ast.stmt, Answer] = {}
    finishes = finisher_of(program, function)

    def is_end(statement: ast.stmt) -> bool:
        answer = _answer(program, function, statement)
        if answer is not None:
            found[statement] = answer
        return answer is not None or finishes(statement)

    return list(found.values()) if ends_each_path(function, is_end) else None


def _answer(program: Program, function: Function, statement: ast.stmt) -> Answer | None:
    """Return the answer that ends with a statement; None if no answer does."""
    begin, after = _beginning(program, function, statement)
    match begin:
        case ast.Expr(value=ast.Call() as call):
            for argument in [*call.args, *(k.value for k in call.keywords)]:
                start = start_of(program, function, call, argument)
                if start is not None and _is_on_own_loop(program, start):
                    if begin is statement and after is None:
                        return _started(program, function, begin, argument, start)
                    return _kept(program, function, begin, argument, start, after)
    return None


def _beginning(
    program: Program, function: Function, statement: ast.stmt
) -> tuple[ast.stmt | None, ast.stmt | None]:
    """Return what may begin to answer, and after what the answer has to be.

    That is the statement itself; one before it, if no error can come from those between; or
    what ends the body of a ``try``, whose clauses the callback is not in.
    """
    parent = function.module.parents[statement]
    if not is_guarded(function, statement):
        block = block_of(function.module.parents, statement)
        place = block.index(statement)
        while place and is_quiet(program, function, block[place]):
            place -= 1
        return block[place], statement if block[place] is not statement else None
    match parent:
        case ast.Try(body=[*_, last], orelse=[], finalbody=[]) if last is statement:
            if not is_guarded(function, parent):
                return statement, parent
    return None, None


def _started(
    program: Program,
    function: Function,
    statement: ast.Expr,
    callback: ast.expr,
    start: Start,
) -> Answer | None:
    """Return an answer for a call that certainly calls back once."""
    call = statement.value
    assert isinstance(call, ast.Call), "it is the one that was started"
    place = _place_of(call, callback)
    found = answering_callback(program, function, callback, int(start.has_result))
    if found is not None and start.has_result:
        calling = _calling(found, place, start)
        return Answer(call, (start.in_place_of(call, calling, "Expr"),))
    if not is_alone(function, statement):
        return None
    if found is None and not _finishes_in_lambda(program, function, callback, start):
        return None
    lines = _lines(start, place, found)
    return Answer(call, (start.in_place_of(statement, lines, "SimpleStatementLine"),))


def _kept(
    program: Program,
    function: Function,
    statement: ast.Expr,
    callback: ast.expr,
    start: Start,
    after: ast.stmt | None,
) -> Answer | None:
    """Return an answer whose Future is kept in a variable until what comes after it.

    Args:
        after: A statement that the answer follows, or a ``try`` whose ``else`` it becomes.
    """
    call = statement.value
    assert isinstance(call, ast.Call), "it is the one that was started"
    found = answering_callback(program, function, callback, 1)
    if found is None or not start.has_result or not is_alone(function, statement):
        return None
    assert after is not None, "the answer comes after something"
    is_in_try = isinstance(after, ast.Try)
    block = block_of(function.module.parents, statement)
    between = [] if is_in_try else block[block.index(statement) + 1 :]
    if any(name in found.names for s in between for name in assigned_names(s)):
        return None
    if not is_in_try and not is_alone(function, after):
        return None
    place, name = _place_of(call, callback), unused_name("future", function.module)
    taken: list[Any] = []

    def keep(node: Any) -> Any:
        taken.append(node.value.args[place].value)
        value = start.change(node.value)
        return cst.Assign([cst.AssignTarget(cst.Name(name))], value)

    def then(node: Any) -> Any:
        value = cst.parse_expression(f"(yield {name})")
        line = cst.SimpleStatementLine([cst.Expr(found.call(taken[0], [value]))])
        if is_in_try:
            return node.with_changes(orelse=cst.Else(cst.IndentedBlock([line])))
        return cst.FlattenSentinel([node, line])

    kind = "Try" if is_in_try else "SimpleStatementLine"
    return Answer(
        call, (start.in_place_of(call, keep, "Expr"), Change(after, then, kind))
    )


def _is_on_own_loop(program: Program, start: Start) -> bool:
    """Return whether what calls back is certainly the loop of the handler.

    The timers of another thread's loop are those without a result.
    """
    return start.has_result or not uses_threads(program)


def _place_of(call: ast.Call, callback: ast.expr) -> int:
    """Return which argument of a call the callback is."""
    return [*call.args, *(k.value for k in call.keywords)].index(callback)


def _finishes_in_lambda(
    program: Program, function: Function, callback: ast.expr, start: Start
) -> bool:
    """Return whether a callback is a lambda that finishes the answer.

    Its parameter becomes a variable of the handler, which must not have one of that name.
    """
    if not isinstance(callback, ast.Lambda):
        return False
    if not takes_only(callback.args, int(start.has_result)):
        return False
    own = set(ast.walk(callback))
    others = [node for node in ast.walk(function.node) if node not in own]
    taken = {node.id for node in others if isinstance(node, ast.Name)}
    taken |= {node.arg for node in others if isinstance(node, ast.arg)}
    is_free = all(arg.arg not in taken for arg in callback.args.args)
    return is_free and finisher_of(program, function)(ast.Expr(value=callback.body))


def _calling(
    found: AnsweringCallback, place: int, start: Start
) -> Callable[[Any], Any]:
    """Return what calls a method with the result of a call that is waited for."""

    def change(node: Any) -> Any:
        called = start.change(node.value).with_changes(lpar=[], rpar=[])
        left, right = [cst.LeftParen()], [cst.RightParen()]
        value = cst.Yield(called, lpar=left, rpar=right)
        new = found.call(node.value.args[place].value, [value])
        return node.with_changes(value=new)

    return change


def _lines(
    start: Start, place: int, found: AnsweringCallback | None
) -> Callable[[Any], Any]:
    """Return what waits in one line, and answers in the next.

    Args:
        place: Which argument of the call the callback is.
        found: The callback; None if it is a lambda.
    """

    def change(node: Any) -> Any:
        call = node.body[0].value
        callback = call.args[place].value
        wait: Any = cst.Yield(start.change(call).with_changes(lpar=[], rpar=[]))
        first: Any = cst.Expr(wait)
        if start.has_result:
            name = callback.params.params[0].name
            first = cst.Assign([cst.AssignTarget(name)], wait)
        then = found.call(callback, []) if found is not None else callback.body
        last = cst.Expr(then)
        head = cst.SimpleStatementLine([first], leading_lines=node.leading_lines)
        return cst.FlattenSentinel(
            [head, node.with_changes(body=[last], leading_lines=[])]
        )

    return change
