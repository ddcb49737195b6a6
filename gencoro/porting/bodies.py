"""What keeps the body of a coroutine from becoming that of an ``async def``.

Pure.  Used by `gencoro.porting.decisions`.
"""

import ast
from collections.abc import Iterator

from gencoro.compat.doctor.program import Function, Module, Program
from gencoro.porting.coroutines import COROUTINE, Coroutine, callee
from gencoro.porting.families import Families
from gencoro.porting.hooks import is_awaited_hook
from gencoro.porting.returns import Problem, problems_of_returns
from gencoro.porting.uses import returned_functions
from gencoro.porting.values import Values, always_leaves

__all__ = ["problems_of", "setters_of_context"]

_CONTEXTS = "tornado.stack_context."
_CONTEXT_VARIABLE = "contextvars.ContextVar.set"

# Decorators below gen.coroutine that do the same to an ``async def`` of a handler.
_OF_HANDLERS = frozenset(
    {"tornado.web.addslash", "tornado.web.authenticated", "tornado.web.removeslash"}
)
_MARKS = (
    "abc.abstractmethod",
    "functools.wraps",
    "pytest.mark.",
    "unittest.expectedFailure",
    "unittest.skip",
)


def problems_of(
    coroutine: Coroutine,
    program: Program,
    families: Families,
    values: Values,
    setters: frozenset[Function],
) -> Iterator[Problem]:
    """Yield what keeps a coroutine as it is, whatever its uses are.

    Args:
        setters: What `setters_of_context` returns for the program.
    """
    function = coroutine.function
    if not coroutine.is_certain:
        name = ast.unparse(coroutine.decorator)
        yield "uncertain-decorator", coroutine.decorator, name
    if coroutine.wrapper:
        yield "wrapper", coroutine.decorator, coroutine.wrapper
    for decorator in coroutine.above:
        names = function.module.names(callee(decorator))
        if coroutine.kind == COROUTINE and "tornado.testing.gen_test" in names:
            yield "decorator-above", decorator, ast.unparse(decorator)
    for decorator in coroutine.below:
        if not _may_be_below(coroutine, program, families, decorator):
            yield "decorator-below", decorator, ast.unparse(callee(decorator))
    yield from problems_of_returns(function, program)
    yield from _of_yields(function, values)
    yield from _of_statements(function, program, setters)
    if not function.is_generator:
        yield from _of_results(function, program)


def _may_be_below(
    coroutine: Coroutine, program: Program, families: Families, decorator: ast.expr
) -> bool:
    """Return whether a decorator does the same to an ``async def`` as to a generator."""
    function = coroutine.function
    names = function.module.names(callee(decorator))
    if names and all(name.startswith(_MARKS) for name in names):
        return True
    if coroutine.kind != COROUTINE:
        return False  # gen_test looks at whether it gets an ``async def``
    if names and names <= _OF_HANDLERS:
        return is_awaited_hook(function, program, families)
    takers = program.functions_of(function.module, callee(decorator))
    if isinstance(decorator, ast.Call):
        takers = [t for maker in takers for t in returned_functions(maker)]
    return bool(takers) and all(map(_only_forwards, takers))


def _only_forwards(decorator: Function) -> bool:
    """Return whether a decorator returns a function that returns a call of its argument."""
    wrappers = returned_functions(decorator)
    if not wrappers or not decorator.parameters:
        return False
    parameter = decorator.parameters[0]
    module = decorator.module
    uses = [
        module.parents[node]
        for node in ast.walk(decorator.node)
        if isinstance(node, ast.Name) and node.id == parameter
    ]
    return all(_returns_call_of(wrapper, parameter) for wrapper in wrappers) and all(
        _only_calls(module, use, parameter) for use in uses
    )


def _only_calls(module: Module, use: ast.AST, name: str) -> bool:
    """Return whether a function is called, or asked for its name or its attributes."""
    if not isinstance(use, ast.Call):
        return isinstance(use, ast.Attribute)
    is_called = isinstance(use.func, ast.Name) and use.func.id == name
    return is_called or module.names(use.func) <= {
        "builtins.getattr",
        "builtins.hasattr",
        "functools.wraps",
    }


def _returns_call_of(wrapper: Function, name: str) -> bool:
    returns = [node for node in wrapper.own if isinstance(node, ast.Return)]
    return (
        not wrapper.is_generator
        and isinstance(wrapper.node, ast.FunctionDef)
        and always_leaves(wrapper.node.body)
        and not any(isinstance(node, ast.Raise) for node in wrapper.own)
        and all(
            isinstance(r.value, ast.Call)
            and isinstance(r.value.func, ast.Name)
            and r.value.func.id == name
            for r in returns
        )
    )


def _of_yields(function: Function, values: Values) -> Iterator[Problem]:
    module = function.module
    for node in function.own:
        if isinstance(node, ast.YieldFrom):
            yield "yield-from", node, ast.unparse(node.value)
        elif isinstance(node, ast.Yield):
            legacy = values.has_legacy(module, node.value)
            if legacy is not None:
                yield "yield-point", node, ast.unparse(legacy)
            if not module.has_text(node, b"yield"):
                yield "in-f-string", node, ""


def _of_statements(
    function: Function, program: Program, setters: frozenset[Function]
) -> Iterator[Problem]:
    module = function.module
    for node in function.own:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                names = module.names(callee(item.context_expr))
                if any(name.startswith(_CONTEXTS) for name in names):
                    yield "stack-context", node, ast.unparse(item.context_expr)
        elif isinstance(node, ast.Call):
            called = program.functions_of(module, node.func) if setters else []
            if _sets_context(module, node.func) or setters.intersection(called):
                yield "sets-context", node, ast.unparse(node.func)


def _sets_context(module: Module, func: ast.expr) -> bool:
    is_set = isinstance(func, ast.Attribute) and func.attr == "set"
    return is_set and _CONTEXT_VARIABLE in module.names(func)


def setters_of_context(program: Program) -> frozenset[Function]:
    """Return the plain functions that set a context variable, or call one that does."""
    plain = [
        f
        for f in program.functions
        if not f.is_generator and isinstance(f.node, ast.FunctionDef)
    ]
    calls = {
        f: [n for n in f.own if isinstance(n, ast.Call)]
        for f in plain
        if any(b"ContextVar" in m.source for m in program.modules.values())
    }
    found = {
        f
        for f, nodes in calls.items()
        for n in nodes
        if _sets_context(f.module, n.func)
    }
    size = -1
    while found and len(found) > size:
        size = len(found)
        found |= {
            f
            for f, nodes in calls.items()
            if f not in found
            for n in nodes
            if found.intersection(program.functions_of(f.module, n.func))
        }
    return frozenset(found)


def _of_results(function: Function, program: Program) -> Iterator[Problem]:
    """Check a coroutine without a ``yield`` for what gen.coroutine does with its result."""
    module = function.module
    for node in function.own:
        match node:
            case ast.Raise(exc=ast.expr() as exc):
                if module.names(callee(exc)) == {"builtins.StopIteration"}:
                    yield "stop-iteration", node, ""
            case ast.Call(func=ast.Name(id="next"), args=[_]):
                yield "stop-iteration", node, ""
            case ast.Return(value=ast.GeneratorExp() as value):
                yield "returns-generator", node, ast.unparse(value)
            case ast.Return(value=ast.Call(func=func)):
                called = program.functions_of(module, func)
                known = called or module.names(func) or program.classes_of(module, func)
                runs = any(f.is_generator and not f.node.decorator_list for f in called)
                # An unknown name is a parameter, such as that of a decorator of tests.
                if runs or (isinstance(func, ast.Name) and not known):
                    yield "returns-generator", node, ast.unparse(func)
