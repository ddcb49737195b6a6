"""Request handlers that finish the response in a callback.

Rule: each path finishes the answer, or ends with one call that gets a method, a function
inside or a lambda as its callback; each path of that finishes the answer, and starts no
callback.

Pure.  Used by `gencoro.porting.fixers.to_coroutine.asynchronous`.
"""

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

import libcst as cst

from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.callbacks.awaitable_calls import Start, start_of
from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.control_flow import ends_each_path
from gencoro.porting.callbacks.delayed_callbacks import is_alone
from gencoro.porting.callbacks.future_callbacks import is_bound_once
from gencoro.porting.callbacks.legacy import uses_threads
from gencoro.porting.fixer import Change
from gencoro.porting.program import Function, Program
from gencoro.porting.program.references import references_of

__all__ = ["FINISHERS", "Answer", "answers_of", "finisher_of"]

# Methods of a handler that finish the answer.
FINISHERS = frozenset({"finish", "redirect", "render", "send_error"})

# How many methods may call each other on the way to the end of an answer.
_DEPTH = 5

_ASYNC_CALLBACK = "tornado.web.RequestHandler.async_callback"


class Answer(NamedTuple):
    """A last statement that passes on a callback.

    Attributes:
        call: The statement's call.
        change: What waits for the result, and does what the callback did.
    """

    call: ast.Call
    change: Change


def finisher_of(program: Program, depth: int = 0) -> Callable[[ast.stmt], bool]:
    """Return a predicate that tells whether a statement finishes the response.

    A method of the program does so if it is the only one of that name, and each path
    through it finishes the response.
    """

    def finishes(statement: ast.stmt) -> bool:
        match statement:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))
            ):
                return name in FINISHERS or is_own_finisher(name)
        return False

    def is_own_finisher(name: str) -> bool:
        named = program.functions_by_name.get(name, [])
        if len(named) != 1 or depth == _DEPTH or not _is_plain_method(named[0]):
            return False
        if references_of(program).is_replaced(name):
            return False
        if TODAY.has(f"tornado.websocket.WebSocketHandler.{name}"):
            return False
        return ends_each_path(named[0], finisher_of(program, depth + 1))

    return finishes


def _is_plain_method(function: Function) -> bool:
    is_plain = isinstance(function.node, ast.FunctionDef) and not function.is_generator
    has_decorator = bool(function.node.decorator_list)
    return is_plain and function.owner is not None and not has_decorator


def answers_of(program: Program, function: Function) -> list[Answer] | None:
    """Return the last statements that pass on methods; None if some path ends otherwise."""
    found: dict[ast.stmt, Answer] = {}
    finishes = finisher_of(program)

    def is_end(statement: ast.stmt) -> bool:
        answer = _answer(program, function, statement)
        if answer is not None:
            found[statement] = answer
        return answer is not None or finishes(statement)

    return list(found.values()) if ends_each_path(function, is_end) else None


def _answer(program: Program, function: Function, statement: ast.stmt) -> Answer | None:
    match statement:
        case ast.Expr(value=ast.Call() as call) if _is_plain(function, statement):
            for argument in [*call.args, *(k.value for k in call.keywords)]:
                start = start_of(program, function, call, argument)
                if start is not None and _is_on_own_loop(program, start):
                    return _started(program, function, statement, argument, start)
    return None


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
    method = _method(program, function, callback, int(start.has_result))
    if method is not None and start.has_result:
        calling = _calling(ast.unparse(method), start)
        return Answer(call, start.in_place_of(call, calling, "Expr"))
    if not is_alone(function, statement):
        return None
    then = None
    if method is not None:
        then = cst.parse_expression(f"{ast.unparse(method)}()")
    elif not _finishes_in_lambda(program, function, callback, start):
        return None
    lines = _lines(start, _place_of(call, callback), then)
    return Answer(call, start.in_place_of(statement, lines, "SimpleStatementLine"))


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
    args = callback.args
    rest = (args.posonlyargs, args.kwonlyargs, args.vararg, args.kwarg, args.defaults)
    if any(rest) or len(args.args) != start.has_result:
        return False
    own = set(ast.walk(callback))
    others = [node for node in ast.walk(function.node) if node not in own]
    taken = {node.id for node in others if isinstance(node, ast.Name)}
    taken |= {node.arg for node in others if isinstance(node, ast.arg)}
    is_free = all(arg.arg not in taken for arg in args.args)
    return is_free and finisher_of(program)(ast.Expr(value=callback.body))


def _is_plain(function: Function, statement: ast.AST) -> bool:
    """Return whether a statement is in no ``try``, ``with`` or loop."""
    node = function.module.parents[statement]
    while isinstance(node, ast.If):
        node = function.module.parents[node]
    return node is function.node


def _method(
    program: Program, function: Function, argument: ast.expr, count: int
) -> ast.expr | None:
    """Return the method that an argument is, if it answers on each path.

    Args:
        count: How many arguments it gets.
    """
    module = function.module
    match argument:
        case ast.Call(func=func, args=[ast.Attribute() as wrapped], keywords=[]):
            if module.names(func) != {_ASYNC_CALLBACK}:
                return None
            return _method(program, function, wrapped, count)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            if not is_bound_once(module, argument):
                return None
            every = program.functions_by_name[name]
            named = [f for f in every if "<locals>" not in f.name]
            is_answer = len(named) == 1 and _answers(program, named[0], count + 1)
            return argument if is_answer else None
        case ast.Name(id=name):
            inner = [f for f in module.functions if f.node in function.node.body]
            named = [f for f in inner if f.node.name == name]
            is_answer = len(named) == 1 and _answers(program, named[0], count)
            return argument if is_answer and is_bound_once(module, argument) else None
    return None


def _answers(program: Program, function: Function, count: int) -> bool:
    """Return whether a function is plain, has `count` parameters, and finishes the answer."""
    args = function.node.args
    rest = (args.posonlyargs, args.kwonlyargs, args.vararg, args.kwarg, args.defaults)
    is_plain = isinstance(function.node, ast.FunctionDef) and not function.is_generator
    is_plain = is_plain and not function.node.decorator_list and not any(rest)
    return (
        is_plain
        and len(args.args) == count
        and ends_each_path(function, finisher_of(program))
        and not may_start_callbacks(program, function)
    )


def _calling(method: str, start: Start) -> Callable[[Any], Any]:
    """Return what calls a method with the result of a call that is waited for."""

    def change(node: Any) -> Any:
        called = start.change(node.value).with_changes(lpar=[], rpar=[])
        left, right = [cst.LeftParen()], [cst.RightParen()]
        value = cst.Yield(called, lpar=left, rpar=right)
        new = cst.Call(cst.parse_expression(method), [cst.Arg(value)])
        return node.with_changes(value=new)

    return change


def _lines(start: Start, place: int, then: Any = None) -> Callable[[Any], Any]:
    """Return what waits in one line, and answers in the next.

    Args:
        place: Which argument of the call the callback is.
        then: The answer; that of the lambda if it is None.
    """

    def change(node: Any) -> Any:
        call = node.body[0].value
        callback = call.args[place].value
        wait: Any = cst.Yield(start.change(call).with_changes(lpar=[], rpar=[]))
        first: Any = cst.Expr(wait)
        if start.has_result:
            name = callback.params.params[0].name
            first = cst.Assign([cst.AssignTarget(name)], wait)
        last = cst.Expr(callback.body if then is None else then)
        head = cst.SimpleStatementLine([first], leading_lines=node.leading_lines)
        return cst.FlattenSentinel(
            [head, node.with_changes(body=[last], leading_lines=[])]
        )

    return change
