"""Where ``raise gen.Return`` is seen by something that does not see a ``return``.

Rule: ``raise gen.Return(x)`` is an exception.  A handler of Exception around it catches it,
and a context manager may take it for an error; ``return x`` passes both.  So it stays
wherever that may make a difference.

Pure.  Used by `gencoro.porting.bodies` and `gencoro.porting.rewriting`.
"""

import ast
import sys
from collections.abc import Iterator

from gencoro.compat.doctor.program import Function, Module, Program, block_of

__all__ = [
    "RETURN",
    "Problem",
    "is_only_raised",
    "problems_of_returns",
    "raised_returns",
]

RETURN = "tornado.gen.Return"

# A key of the reasons, the place, and what the reason names.
Problem = tuple[str, ast.AST, str]

_BROAD = frozenset({"builtins.BaseException", "builtins.Exception"})

# Context managers of the standard library that look at the exception.
_LOOKING = (
    "contextlib.ExitStack",
    "contextlib.contextmanager",
    "contextlib.suppress",
    "sqlite3.",
    "unittest.",
)


def problems_of_returns(function: Function, program: Program) -> Iterator[Problem]:
    """Yield what keeps a body from returning where it raises gen.Return."""
    module = function.module
    callees = set()
    for node in raised_returns(function):
        callees.add(_callee(node.exc))
        if isinstance(node.exc, ast.Call) and not _has_one_value(node.exc):
            yield "return-arguments", node, ""
        yield from _of_surroundings(function, program, node)
    for part in function.own:
        if isinstance(part, (ast.Name, ast.Attribute)) and part not in callees:
            if RETURN in module.names(part) and not _is_caught(module, part):
                yield "return-elsewhere", part, ast.unparse(part)
        elif isinstance(part, ast.Raise) and part.exc is not None:
            if _is_own_return(module, program, _callee(part.exc)):
                yield "return-elsewhere", part, ast.unparse(part.exc)
        elif isinstance(part, ast.Call):
            for called in program.functions_of(module, part.func):
                if _raises_for_others(called):
                    yield "return-elsewhere", part, ast.unparse(part.func)


def raised_returns(function: Function) -> list[ast.Raise]:
    """Return the statements of a body that raise gen.Return."""
    return [
        node
        for node in function.own
        if isinstance(node, ast.Raise)
        and node.exc is not None
        and RETURN in function.module.names(_callee(node.exc))
    ]


def is_only_raised(module: Module, handler: ast.ExceptHandler) -> bool:
    """Return whether a handler is for gen.Return alone, and does nothing but raise it."""
    caught = handler.type
    is_return = caught is not None and RETURN in module.names(caught)
    return is_return and _only_raises(handler)


def _callee(node: ast.expr | None) -> ast.expr:
    assert node is not None, "it is raised"
    return node.func if isinstance(node, ast.Call) else node


def _has_one_value(call: ast.Call) -> bool:
    values = [*call.args, *(k.value for k in call.keywords)]
    is_named = all(k.arg == "value" for k in call.keywords)
    is_starred = any(isinstance(value, ast.Starred) for value in values)
    return len(values) < 2 and is_named and not is_starred


def _is_caught(module: Module, node: ast.expr) -> bool:
    parent = module.parents[node]
    if isinstance(parent, ast.Attribute):
        return True  # a part of a longer name
    return isinstance(parent, (ast.ExceptHandler, ast.Tuple))


def _is_own_return(module: Module, program: Program, node: ast.expr) -> bool:
    """Return whether a class of the program inherits from gen.Return."""
    classes = program.classes_of(module, node)
    return any(RETURN in program.bases_of(c) for c in classes)


def _raises_for_others(function: Function) -> bool:
    """Return whether a plain function raises gen.Return for the coroutine that calls it."""
    is_plain = not function.is_generator and not function.node.decorator_list
    return is_plain and bool(raised_returns(function))


def _of_surroundings(
    function: Function, program: Program, node: ast.Raise
) -> Iterator[Problem]:
    module = function.module
    for block, child in function.around(node):
        if isinstance(block, (ast.Try, ast.TryStar)):
            if child in block.finalbody:
                yield "return-in-finally", node, ""
            elif child in block.body:
                caught = _catching(module, block.handlers)
                if caught:
                    yield "return-caught", node, caught
        elif isinstance(block, ast.With) and child in block.body:
            for item in block.items:
                if not _is_neutral(program, module, item.context_expr):
                    yield "return-in-with", node, ast.unparse(item.context_expr)


def _catching(module: Module, handlers: list[ast.ExceptHandler]) -> str:
    """Return the classes of the handler that would catch gen.Return; empty if none would."""
    for handler in handlers:
        types = (
            handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        )
        if any(kind is None or _may_catch(module, kind) for kind in types):
            if _only_raises(handler):
                return ""
            return ast.unparse(handler.type) if handler.type is not None else "..."
    return ""


def _only_raises(handler: ast.ExceptHandler) -> bool:
    match handler.body:
        case [ast.Raise(exc=None)]:
            return True
        case [ast.Raise(exc=ast.Name(id=name), cause=None)]:
            return name == handler.name
    return False


def _may_catch(module: Module, node: ast.expr) -> bool:
    names = module.names(node)
    if names:
        return bool(names & {*_BROAD, RETURN})
    if module.things(node):
        return False  # a class of the program
    if isinstance(node, ast.Attribute) and ast.unparse(node).startswith(
        ("self.", "cls.")
    ):
        return True
    # A variable may hold anything; a class from elsewhere is written like one.
    name = ast.unparse(node).rpartition(".")[2]
    return name.islower() or name.isupper()


def _is_neutral(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether a context manager treats an exception like any other exit."""
    if isinstance(node, (ast.Yield, ast.Await)):
        node = node.value or node
    node = _value_of(module, node)
    called = node.func if isinstance(node, ast.Call) else node
    text = ast.unparse(called).lower()
    if (
        "lock" in text
        or "semaphore" in text
        or text.endswith((".acquire", ".acquire()"))
    ):
        return True
    names = module.names(called)
    if names == {"contextlib.suppress"} and isinstance(node, ast.Call):
        return not any(_may_catch(module, argument) for argument in node.args)
    if names:
        return all(map(_is_neutral_name, names))
    functions = program.functions_of(module, called)
    classes = program.classes_of(module, node)
    if not functions and not classes:
        return False
    return all(map(_is_neutral_generator, functions)) and all(
        map(_is_neutral_class, classes)
    )


def _value_of(module: Module, node: ast.expr) -> ast.expr:
    """Return what a variable is bound to, if it is bound once."""
    if isinstance(node, ast.Name):
        scope = module.scope_at(node).scope_of(node.id)
        bindings = scope.bindings[node.id] if scope is not None else []
        if len(bindings) == 1 and isinstance(bindings[0], ast.expr):
            return bindings[0]
    return node


def _is_neutral_name(name: str) -> bool:
    top = name.removeprefix("builtins.").partition(".")[0]
    if name.startswith("tornado."):
        return not name.startswith(("tornado.stack_context", "tornado.testing"))
    is_of_library = name.startswith("builtins.") or top in sys.stdlib_module_names
    return is_of_library and not name.startswith(_LOOKING)


def _is_neutral_generator(function: Function) -> bool:
    """Return whether a context manager made of a generator cleans up in any case.

    Its ``yield`` has only ``finally`` clauses around it, and nothing after them.
    """
    yields = [node for node in function.own if isinstance(node, ast.Yield)]
    names = [function.module.names(d) for d in function.node.decorator_list]
    if names != [{"contextlib.contextmanager"}] or len(yields) != 1:
        return False
    statement: ast.AST = yields[0]
    while not isinstance(statement, ast.stmt):
        statement = function.module.parents[statement]
    chain = [(statement, statement), *function.around(statement)]
    parents = function.module.parents
    for block, child in chain:
        if isinstance(block, (ast.Try, ast.TryStar)):
            is_seen = bool(_catching(function.module, block.handlers) or block.orelse)
            if is_seen and child in block.body:
                return False
        if child is not block and block_of(parents, child)[-1:] != [child]:
            return False  # what follows runs after a return only
    outermost = chain[-1][0]
    return outermost is function.node.body[-1] and not isinstance(outermost, ast.With)


def _is_neutral_class(node: ast.ClassDef) -> bool:
    """Return whether the ``__exit__`` of a class looks at none of its arguments."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__exit__":
            args = method.args
            given = {a.arg for a in args.args[1:]}
            given |= {a.arg for a in (args.vararg, args.kwarg) if a is not None}
            return not any(
                isinstance(part, ast.Name) and part.id in given
                for part in ast.walk(method)
            )
    return False
