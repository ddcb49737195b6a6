"""Finds context managers that treat an exception like any other exit.

Rule: one that cannot be seen may look at errors.

Pure.  Used by `gencoro.porting.coroutines.problems` and
`gencoro.porting.coroutines.raised_returns`.
"""

import ast

from gencoro.compat.doctor.things import Thing
from gencoro.porting.coroutines.handled_errors import asks_for_error
from gencoro.porting.program import Definition, Function, Module, Program
from gencoro.porting.program.foreign_objects import foreign_of
from gencoro.porting.program.library_names import library_name
from gencoro.porting.program.origins import last_name
from gencoro.porting.program.replacements import replacements_of

__all__ = ["is_neutral", "is_neutral_of_library"]

_NEUTRAL = frozenset(
    {
        "codecs.open",
        "concurrent.futures.ThreadPoolExecutor",
        "contextlib.closing",
        "contextlib.nullcontext",
        "gzip.open",
        "io.open",
        "open",
        "tempfile.NamedTemporaryFile",
        "tempfile.TemporaryDirectory",
        "tempfile.TemporaryFile",
        "warnings.catch_warnings",
        "zipfile.ZipFile",
    }
)


_MAKER = "contextlib.contextmanager"


def is_neutral(function: Function, program: Program, node: ast.expr) -> bool:
    """Return whether a context manager treats an exception like any other exit."""
    return is_neutral_of_library(function, program, node) or (
        isinstance(node, ast.Call)
        and _is_neutral_of_program(program, function.module, node.func)
    )


def is_neutral_of_library(function: Function, program: Program, node: ast.expr) -> bool:
    """Return the same as `is_neutral`, but False for a context manager of the program."""
    if isinstance(node, ast.Yield):
        return node.value is not None and is_neutral_of_library(
            function, program, node.value
        )
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    if replacements_of(program).is_replaced(name):
        return False
    if name == "acquire" and isinstance(node.func, ast.Attribute):
        return not _may_be_own(function.module, program, node.func)
    if name == "closing" and asks_for_error(
        program, function.module, ast.Name("close")
    ):
        return False
    return library_name(program, function.module, node.func) in _NEUTRAL


def _may_be_own(module: Module, program: Program, func: ast.Attribute) -> bool:
    """Return whether an ``acquire`` may be another one than that of Tornado's locks."""
    if any(thing.name.startswith("tornado.") for thing in module.things(func)):
        return False
    is_known = "acquire" not in program.functions_by_name
    return not is_known or foreign_of(program).may_have(module, func.value, "acquire")


def _is_neutral_of_program(program: Program, module: Module, func: ast.expr) -> bool:
    """Return whether a class, or a generator, of the program is neutral.

    Not one that is an attribute of an object, whose class may have heirs.
    """
    if isinstance(func, ast.Attribute) and not _is_module(module, func.value):
        return False
    if not module.scope_at(func).is_sure(func):
        return False
    match module.things(func):
        case [Thing(is_object=False, node=ast.ClassDef() as node)]:
            last = _exit_of(node)
        case [Thing(is_object=False, node=ast.FunctionDef() as node)]:
            last = _finally_of(program, node)
        case _:
            return False
    if last is None or any(
        map(replacements_of(program).is_replaced, (node.name, "__exit__"))
    ):
        return False
    return not any(asks_for_error(program, module, statement) for statement in last)


def _is_module(module: Module, node: ast.expr) -> bool:
    things = module.things(node)
    return bool(things) and all(thing.file and not thing.node for thing in things)


def _exit_of(node: ast.ClassDef) -> list[ast.stmt] | None:
    """Return the body of an ``__exit__`` that does not use its arguments."""
    is_plain = all(isinstance(b, ast.Name) and b.id == "object" for b in node.bases)
    if node.decorator_list or node.keywords or not is_plain:
        return None
    methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    method = methods.get("__exit__")
    if method is None or method.decorator_list or "__new__" in methods:
        return None
    arguments = [n.arg for n in ast.walk(method.args) if isinstance(n, ast.arg)]
    used = {n.id for n in ast.walk(method) if isinstance(n, ast.Name)}
    if used & (set(arguments[1:]) | {"eval", "exec", "locals", "vars"}):
        return None
    is_ended = any(
        isinstance(n, ast.Return) and not _is_false(n.value) for n in ast.walk(method)
    )
    return None if is_ended else method.body


def _is_false(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and not value.value)


def _finally_of(program: Program, node: Definition) -> list[ast.stmt] | None:
    """Return what follows the only ``yield`` of a context manager, if it always does."""
    module = program.function_by_node[node].module
    match node.decorator_list:
        case [decorator] if library_name(program, module, decorator) == _MAKER:
            yields = [
                n for n in ast.walk(node) if isinstance(n, (ast.Yield, ast.YieldFrom))
            ]
            return _after_yield(node.body) if len(yields) == 1 else None
    return None


def _after_yield(body: list[ast.stmt]) -> list[ast.stmt] | None:
    match body[-1]:
        case ast.Expr(value=ast.Yield()):
            return []
        case ast.Try(body=inner, handlers=[], orelse=[], finalbody=final):
            before = _after_yield(inner)
            is_ended = any(
                isinstance(n, ast.Return) for s in final for n in ast.walk(s)
            )
            return None if before is None or is_ended else before + final
    return None
