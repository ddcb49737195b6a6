"""Finds what prevents the body of a coroutine from becoming an ``async def``.

Rule: when it is not certain that the meaning stays the same, it is a problem.

Pure.  Used by `gencoro.porting.coroutines.decisions` and
`gencoro.porting.callbacks.tail_calls`.
"""

import ast
import functools
import re
from collections.abc import Iterator

from gencoro.porting.coroutines.awaitables import Kind, awaitables_of
from gencoro.porting.coroutines.candidates import (
    COROUTINE,
    GEN_TEST,
    Candidate,
    is_abstract,
    marks_test,
)
from gencoro.porting.coroutines.context_managers import is_neutral_of_library
from gencoro.porting.coroutines.decorators import forwards_call, is_wraps
from gencoro.porting.coroutines.raised_returns import callee_of, problems_of_returns
from gencoro.porting.coroutines.returned_generators import may_be_generator
from gencoro.porting.coroutines.stack_inspection import asks_for_caller
from gencoro.porting.coroutines.tasks import asks_for_task
from gencoro.porting.coroutines.unawaited_calls import unawaited_call
from gencoro.porting.coroutines.users import (
    is_undecorated,
    probable_uses,
)
from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.kept_functions import uses_of_kept
from gencoro.porting.program.listed_names import listed_at
from gencoro.porting.program.origins import original_names
from gencoro.porting.program.references import references_of
from gencoro.porting.reasons import refusal

__all__ = ["may_stop_iteration", "problems_of"]

_CONTEXTS = "tornado.stack_context."
_CATCHING = frozenset({"BaseException", "Exception", "StopIteration"})
_MAKER = re.compile(rb"\b(?:Exception)?StackContext\(")


def problems_of(candidate: Candidate, program: Program) -> Iterator[Refusal]:
    """Yield the refusals of a coroutine."""
    function = candidate.function
    if not candidate.is_certain and candidate.decorator is not None:
        name = ast.unparse(candidate.decorator)
        yield refusal(function, "uncertain-decorator", candidate.decorator, name)
    for decorator in candidate.below:
        # A gen_test of today looks at whether it gets an `async def`.
        if candidate.kind == GEN_TEST:
            is_fine = marks_test(program, function, decorator)
        else:
            is_fine = _may_be_below(function, program, decorator)
        if not is_fine:
            name = ast.unparse(decorator)
            yield refusal(function, "decorator-below", decorator, name)
    is_helper = candidate.decorator is None
    yield from problems_of_returns(function, program, is_helper)
    yield from _of_yields(function, program)
    asking = asks_for_task(function)
    if asking is not None and candidate.kind == GEN_TEST:
        yield refusal(function, "current-task", asking, ast.unparse(asking))
    unawaited = unawaited_call(function)
    if unawaited is not None:
        yield refusal(function, "unawaited", unawaited, ast.unparse(unawaited.func))
    place = listed_at(function.module, program)
    if place:
        yield refusal(function, "names-listed", None, place)
    looking = asks_for_caller(function, program)
    if looking is not None and candidate.kind == COROUTINE:
        yield refusal(function, "caller", looking)
    if not function.is_generator:
        yield from _of_results(function, program)


def _may_be_below(function: Function, program: Program, decorator: ast.expr) -> bool:
    """Return whether a decorator does the same to an ``async def`` as to a generator."""
    if is_abstract(program, function, decorator):
        return True
    if is_wraps(program, function.module, decorator):
        return True  # it copies attributes, and returns the function
    wrapper = forwards_call(program, function, decorator)
    if wrapper is None or wrapper in _stopping(program):
        return False
    return not any(problems_of_returns(wrapper, program, is_helper=True))


def _of_yields(function: Function, program: Program) -> Iterator[Refusal]:
    awaitables = awaitables_of(program)
    module = function.module
    points = _modules_with_points(program)
    has_points = bool(points) and not points.isdisjoint(program.related(module))
    for node in function.own:
        if isinstance(node, (ast.Yield, ast.YieldFrom)) and _is_in_text(module, node):
            yield refusal(function, "in-f-string", node)
        if isinstance(node, ast.Yield):
            is_unknown = awaitables.kind(module, node.value) is Kind.ANYTHING
            if has_points and is_unknown:
                yield refusal(function, "yield-point", node, ast.unparse(node))
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from _of_contexts(function, program, node)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            if awaitables.is_legacy(module, node):
                yield refusal(function, "yield-point", node, ast.unparse(node))
        elif function.is_generator and _raises_stop_iteration(node):
            yield refusal(function, "stop-iteration", node)


def _of_contexts(
    function: Function, program: Program, node: ast.With | ast.AsyncWith
) -> Iterator[Refusal]:
    """Check for stack contexts, and for what may be one around a ``yield``."""
    module = function.module
    waits = any(
        isinstance(n, (ast.Yield, ast.YieldFrom))
        for s in node.body
        for n in ast.walk(s)
    )
    for item in node.items:
        names = module.names(callee_of(item.context_expr))
        is_one = any(name.startswith(_CONTEXTS) for name in names)
        is_unknown = waits and not is_neutral_of_library(
            function, program, item.context_expr
        )
        if is_one or (is_unknown and _has_contexts(program, module)):
            name = ast.unparse(item.context_expr)
            yield refusal(function, "stack-context", node, name)


def _has_contexts(program: Program, module: Module) -> bool:
    """Return whether a module, or one that it has to do with, makes stack contexts."""
    return any(_MAKER.search(m.source) for m in program.related(module))


def _is_in_text(module: Module, node: ast.AST) -> bool:
    """Return whether a node is in an f-string, and its position is unknown.

    Python 3.11 has positions there only if the text is simple.
    """
    up: ast.AST | None = node
    while isinstance(up, ast.expr | ast.FormattedValue):
        if isinstance(up, ast.JoinedStr):
            return not module.has_text("yield", node)
        up = module.parents.get(up)
    return False


def _raises_stop_iteration(node: ast.AST) -> bool:
    match node:
        case ast.Raise(exc=ast.expr() as exc):
            return ast.unparse(callee_of(exc)) == "StopIteration"
    return False


@functools.lru_cache(maxsize=1)
def _modules_with_points(program: Program) -> frozenset[Module]:
    """Return the modules that define YieldPoints."""
    return frozenset(
        module
        for module in program.modules.values()
        for node in module.classes
        if "tornado.gen.YieldPoint" in module.scope_at(node).bases(node)
    )


def _of_results(function: Function, program: Program) -> Iterator[Refusal]:
    """Check whether a function that does not yield returns a generator.

    Its StopIteration would count as a return, too.
    """
    stopping = _stopping(program).get(function)
    if stopping is not None:
        yield refusal(function, "stop-iteration", stopping)
    for node in function.own:
        value = node.value if isinstance(node, ast.Return) else None
        if value is not None and may_be_generator(function, program, value):
            yield refusal(function, "returns-generator", node, ast.unparse(value))


def may_stop_iteration(program: Program, function: Function) -> bool:
    """Return whether a call of a function may raise StopIteration."""
    return function in _stopping(program)


@functools.lru_cache(maxsize=1)
def _stopping(program: Program) -> dict[Function, ast.AST]:
    """Return the functions that may raise StopIteration, and where.

    Generators are not among them: Python turns their StopIteration into a RuntimeError.
    """
    found = {
        function: node
        for function in program.functions
        if not function.is_generator
        for node in reversed(function.own)
        if _may_stop(function.module, node) and not _is_guarded(function, node)
    }
    direct = set(found)
    pending = [f for f in found if is_undecorated(f)]
    while pending:
        used = pending.pop()
        # A name that is as likely to be of others leads too far if it is followed.
        if used in direct:
            uses = references_of(program).of(used) + uses_of_kept(program, used)
        else:
            uses = probable_uses(used, program)
        for use in uses:
            user = use.module.function_at(use.node)
            if user is None or user in found or user.is_generator:
                continue
            if not _is_guarded(user, use.node):
                found[user] = use.node
                pending += [user] if is_undecorated(user) else []
    return found


def _is_guarded(function: Function, node: ast.AST) -> bool:
    """Return whether StopIteration is caught around a node."""
    parents = function.module.parents
    while node is not function.node:
        child, node = node, parents[node]
        if not isinstance(node, ast.Try) or child not in node.body:
            continue
        if any(_catches_stop(handler.type) for handler in node.handlers):
            return True
    return False


def _catches_stop(caught: ast.expr | None) -> bool:
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(
        part is None or (isinstance(part, ast.Name) and part.id in _CATCHING)
        for part in parts
    )


def _may_stop(module: Module, node: ast.AST) -> bool:
    """Return whether a node may raise StopIteration: ``next(iterator)``, or a ``raise``."""
    if _raises_stop_iteration(node):
        return True
    match node:
        case ast.Call(func=ast.Name() as callee, args=[_]):
            return "next" in original_names(module, callee)
        case ast.Attribute(attr="__next__"):
            return True
    return False
