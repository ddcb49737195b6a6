"""What in the body of a coroutine keeps it from becoming an ``async def``.

Rule: when it is not certain that the meaning stays the same, it is a problem.

Pure.  Used by `gencoro.porting.decisions`.
"""

import ast
import functools
import re
from collections.abc import Iterator

from gencoro.porting.awaitables import Kind, awaitables_of
from gencoro.porting.candidates import Candidate
from gencoro.porting.contexts import asks_for_task, is_plain, probable_uses, users_of
from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.reasons import refusal

__all__ = ["RETURN", "problems_of", "raised_returns"]

RETURN = "tornado.gen.Return"

_CONTEXTS = "tornado.stack_context."
_MAKER = re.compile(rb"\b(?:Exception)?StackContext\(")

# Context managers that treat an error like any other way to leave the block.
_NEUTRAL = frozenset(
    {
        "NamedTemporaryFile",
        "TemporaryDirectory",
        "TemporaryFile",
        "ThreadPoolExecutor",
        "acquire",
        "catch_warnings",
        "closing",
        "nullcontext",
        "open",
    }
)

# Functions that see the exception that passes through a ``finally``.
_WATCHERS = frozenset({"exc_info", "exception", "format_exc", "print_exc"})


def problems_of(candidate: Candidate, program: Program) -> Iterator[Refusal]:
    """Yield what keeps a coroutine from being converted."""
    function = candidate.function
    if not candidate.is_certain and candidate.decorator is not None:
        name = ast.unparse(candidate.decorator)
        yield refusal(function, "uncertain-decorator", candidate.decorator, name)
    if candidate.below is not None:
        name = ast.unparse(candidate.below)
        yield refusal(function, "decorator-below", candidate.below, name)
    yield from _of_returns(function)
    if candidate.decorator is None:
        for node, exc in raised_returns(function):
            yield refusal(function, "return-elsewhere", node, ast.unparse(exc))
    yield from _of_helpers_that_return(function, program)
    yield from _of_yields(function, program)
    asking = asks_for_task(function)
    if asking is not None:
        yield refusal(function, "current-task", asking, ast.unparse(asking))
    if not function.is_generator:
        yield from _of_results(function, program)


def raised_returns(function: Function) -> list[tuple[ast.Raise, ast.expr]]:
    """Return the statements that raise gen.Return in a body, and what they raise."""
    return [
        (node, node.exc)
        for node in function.own
        if isinstance(node, ast.Raise)
        and node.exc is not None
        and RETURN in function.module.names(_callee(node.exc))
    ]


def _callee(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _of_returns(function: Function) -> Iterator[Refusal]:
    raised = raised_returns(function)
    callees = {_callee(exc) for _, exc in raised}
    for node, exc in raised:
        if isinstance(exc, ast.Call) and not _has_one_value(exc):
            yield refusal(function, "return-arguments", node)
        yield from _of_surroundings(function, node)
    for part in function.own:
        if isinstance(part, (ast.Name, ast.Attribute)) and part not in callees:
            is_caught = isinstance(
                function.module.parents.get(part), (ast.ExceptHandler, ast.Tuple)
            )
            if not is_caught and _is_return(function.module, part):
                yield refusal(function, "return-elsewhere", part, ast.unparse(part))


def _has_one_value(call: ast.Call) -> bool:
    values = [*call.args, *(k.value for k in call.keywords)]
    is_named = all(k.arg == "value" for k in call.keywords)
    return (
        len(values) < 2
        and is_named
        and not any(isinstance(value, ast.Starred) for value in values)
    )


def _of_surroundings(function: Function, node: ast.AST) -> Iterator[Refusal]:
    """Check the blocks around a ``raise gen.Return``, from the inmost."""
    parents = function.module.parents
    child = node
    while child is not function.node:
        parent = parents[child]
        if isinstance(parent, (ast.Try, ast.TryStar)):
            if child in parent.finalbody:
                yield refusal(function, "return-in-finally", node)
            elif any(
                _name_of(n) in _WATCHERS for s in parent.finalbody for n in ast.walk(s)
            ):
                yield refusal(function, "return-caught", node, "... (in `finally`)")
            elif child in parent.body:
                caught = _catches(function.module, parent.handlers)
                if caught:
                    yield refusal(function, "return-caught", node, caught)
        elif isinstance(parent, ast.With) and child in parent.body:
            for item in parent.items:
                if not _is_neutral(function, item.context_expr):
                    name = ast.unparse(item.context_expr)
                    yield refusal(function, "return-in-with", node, name)
        child = parent


def _catches(module: Module, handlers: list[ast.ExceptHandler]) -> str:
    """Return what of the handlers would catch gen.Return; empty if nothing does."""
    for handler in handlers:
        if handler.type is None:
            return "..." if not _only_raises(handler) else ""
        types = (
            handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        )
        if any(_may_catch(module, t) for t in types):
            return "" if _only_raises(handler) else ast.unparse(handler.type)
    return ""


def _only_raises(handler: ast.ExceptHandler) -> bool:
    match handler.body:
        case [ast.Raise(exc=None)]:
            return True
    return False


def _may_catch(module: Module, node: ast.expr) -> bool:
    """Return whether a handler of a class may catch gen.Return."""
    if RETURN in module.names(node):
        return True
    name = node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)
    if name in ("Exception", "BaseException", "StandardError", "object"):
        return True
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return True
    bound = _values_of(module, node)
    if any(
        _may_catch(module, part)
        for value in bound
        for part in (value.elts if isinstance(value, ast.Tuple) else [value])
    ):
        return True
    # A tuple of classes from elsewhere is written like a constant.
    return name.isupper() and not bound


def _values_of(module: Module, node: ast.expr) -> list[ast.expr]:
    """Return the expressions that a name is bound to."""
    if not isinstance(node, ast.Name):
        return []
    scope = module.scope_at(node)._scope_of(node.id)
    bound = scope._bindings[node.id] if scope is not None else []
    return [
        value for value in bound if isinstance(value, ast.expr) and value is not node
    ]


def _is_neutral(function: Function, node: ast.expr) -> bool:
    """Return whether a context manager makes no difference between errors and others."""
    if isinstance(node, ast.Yield):
        return node.value is not None and _is_neutral(function, node.value)
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if name not in _NEUTRAL:
        return False
    if name == "open" and isinstance(func, ast.Attribute):
        return ast.unparse(func) in ("io.open", "codecs.open", "gzip.open")
    return True


def _of_helpers_that_return(function: Function, program: Program) -> Iterator[Refusal]:
    """Check for uses of plain functions that raise gen.Return for the coroutine."""
    for raiser in _raisers(program):
        for use in probable_uses(raiser, program):
            if use.module.function_at(use.node) == function:
                name = ast.unparse(use.node)
                yield refusal(function, "return-elsewhere", use.node, name)


@functools.lru_cache(maxsize=1)
def _raisers(program: Program) -> list[Function]:
    """Return the plain functions that raise gen.Return, or use one that does."""
    found = [
        function
        for function in program.functions
        if is_plain(function)
        and any(
            isinstance(node, ast.Raise)
            and node.exc is not None
            and _is_return(function.module, _callee(node.exc))
            for node in function.own
        )
    ]
    return [f for f in users_of(found, program) if is_plain(f)]


def _is_return(module: Module, node: ast.expr) -> bool:
    """Return whether an expression is gen.Return or a class that inherits from it."""
    return RETURN in module.names(node) or any(
        isinstance(thing.node, ast.ClassDef)
        and thing.home is not None
        and RETURN in thing.home.bases(thing.node)
        for thing in module.things(node)
    )


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
        elif _raises_stop_iteration(node):
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
        names = module.names(_callee(item.context_expr))
        is_one = any(name.startswith(_CONTEXTS) for name in names)
        is_unknown = waits and not _is_neutral(function, item.context_expr)
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
            return ast.unparse(_callee(exc)) == "StopIteration"
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
    generators = {
        f.node.name
        for f in program.functions
        if f.is_generator and isinstance(f.node, ast.FunctionDef)
        if not any(True for _ in f.decorators())
    }
    for node in function.own:
        if _may_stop(node):
            yield refusal(function, "stop-iteration", node)
        if isinstance(node, ast.Return) and node.value is not None:
            value = node.value
            if (
                isinstance(value, ast.GeneratorExp)
                or _calls_parameter(function, value)
                or any(
                    _name_of(part) in generators
                    for part in ast.walk(value)
                    if isinstance(part, (ast.Name, ast.Attribute))
                )
            ):
                yield refusal(function, "returns-generator", node, ast.unparse(value))


def _calls_parameter(function: Function, node: ast.expr) -> bool:
    """Return whether a value is the result of a function that the caller passes."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            parameters = ast.walk(function.node.args)
            return any(isinstance(p, ast.arg) and p.arg == name for p in parameters)
    return False


def _may_stop(node: ast.AST) -> bool:
    """Return whether a node is ``next(iterator)``, without a default."""
    match node:
        case ast.Call(func=ast.Name(id="next"), args=[_]):
            return True
        case ast.Attribute(attr="__next__"):
            return True
    return False


def _name_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
