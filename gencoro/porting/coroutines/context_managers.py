"""Finds context managers that treat an exception like any other exit.

Rule: one that cannot be seen may look at errors.

Pure.  Used by `gencoro.porting.coroutines.problems` and
`gencoro.porting.coroutines.raised_returns`.
"""

import ast

from gencoro.compat.doctor.things import Home, Thing
from gencoro.porting.coroutines.caught_classes import catching, may_catch
from gencoro.porting.coroutines.handled_errors import asks_for_error
from gencoro.porting.program import Definition, Function, Module, Program
from gencoro.porting.program.foreign_objects import foreign_of
from gencoro.porting.program.inheritance import has_unknown_heir
from gencoro.porting.program.library_names import library_name
from gencoro.porting.program.origins import last_name
from gencoro.porting.program.receivers import assignments
from gencoro.porting.program.replacements import replacements_of

__all__ = ["is_neutral", "is_neutral_of_library"]

_NEUTRAL = frozenset(
    {
        "bz2.open",
        "codecs.open",
        "concurrent.futures.ProcessPoolExecutor",
        "concurrent.futures.ThreadPoolExecutor",
        "contextlib.closing",
        "contextlib.nullcontext",
        "contextlib.redirect_stderr",
        "contextlib.redirect_stdout",
        "decimal.localcontext",
        "gzip.open",
        "io.BytesIO",
        "io.StringIO",
        "io.open",
        "lzma.open",
        "open",
        "os.fdopen",
        "os.scandir",
        "socket.socket",
        "tempfile.NamedTemporaryFile",
        "tempfile.SpooledTemporaryFile",
        "tempfile.TemporaryDirectory",
        "tempfile.TemporaryFile",
        "threading.BoundedSemaphore",
        "threading.Condition",
        "threading.Lock",
        "threading.RLock",
        "threading.Semaphore",
        "warnings.catch_warnings",
        "zipfile.ZipFile",
    }
)

_MAKER = "contextlib.contextmanager"
_SUPPRESS = "contextlib.suppress"


def is_neutral(function: Function, program: Program, node: ast.expr) -> bool:
    """Return whether a context manager treats an exception like any other exit."""
    return is_neutral_of_library(function, program, node) or all(
        isinstance(value, ast.Call)
        and _is_neutral_of_program(program, module, value.func)
        for module, value in _values_of(program, function, node)
    )


def is_neutral_of_library(function: Function, program: Program, node: ast.expr) -> bool:
    """Return the same as `is_neutral`, but False for a context manager of the program."""
    if isinstance(node, ast.Yield):
        return node.value is not None and is_neutral_of_library(
            function, program, node.value
        )
    return all(
        isinstance(value, ast.Call) and _is_neutral_call(program, module, value)
        for module, value in _values_of(program, function, node)
    )


def _values_of(
    program: Program, function: Function, node: ast.expr
) -> list[tuple[Module, ast.expr | None]]:
    """Return what a context manager may be, with the modules that say so.

    None stands for what is not known.  An attribute counts only if it belongs to an object
    of the program, whose base classes are known.
    """
    module = function.module
    match node:
        case ast.Name(id=name) if not replacements_of(program).is_replaced(name):
            return [(module, module.values_of(node)[-1])]
        case ast.Attribute(value=ast.Name(id="cls" | "self"), attr=name):
            is_hidden = replacements_of(program).may_hide(function, name)
            if is_hidden or has_unknown_heir(function, program):
                return [(module, None)]
            return [*assignments(program).get(name, [(module, None)])]
    return [(module, node)]


def _is_neutral_call(program: Program, module: Module, call: ast.Call) -> bool:
    name = last_name(call.func)
    if replacements_of(program).is_replaced(name):
        return False
    if name == "acquire" and isinstance(call.func, ast.Attribute):
        return not _may_be_own(module, program, call.func)
    if name == "closing" and asks_for_error(program, module, ast.Name("close")):
        return False
    found = library_name(program, module, call.func)
    if found == _SUPPRESS:
        return not any(may_catch(program, module, argument) for argument in call.args)
    return found in _NEUTRAL


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
        case [Thing(is_object=False, node=ast.ClassDef() as node, home=home)]:
            method = _exit_of(home, node) if home is not None else None
            last = method.body if method is not None else None
            name = node.name
        case [Thing(is_object=False, node=ast.FunctionDef() as method)]:
            last, name = _finally_of(program, method), method.name
        case _:
            return False
    if last is None or any(
        map(replacements_of(program).is_replaced, (name, "__exit__"))
    ):
        return False
    assert method is not None, "it has these statements"
    there = program.function_by_node[method].module
    return not any(asks_for_error(program, there, statement) for statement in last)


def _is_module(module: Module, node: ast.expr) -> bool:
    things = module.things(node)
    return bool(things) and all(thing.file and not thing.node for thing in things)


def _exit_of(home: Home, node: ast.ClassDef) -> ast.FunctionDef | None:
    """Return the ``__exit__`` of a class, if it does not use its arguments."""
    methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    if node.decorator_list or node.keywords or "__new__" in methods:
        return None
    method = methods.get("__exit__")
    match [base for base in node.bases if ast.unparse(base) != "object"]:
        case []:
            pass
        case [base] if method is None:
            found = list(home.things(base))
            inherited = found[0] if len(found) == 1 else Thing("")
            if not isinstance(inherited.node, ast.ClassDef) or inherited.home is None:
                return None
            return _exit_of(inherited.home, inherited.node)
        case _:
            return None
    if method is None or method.decorator_list:
        return None
    arguments = [n.arg for n in ast.walk(method.args) if isinstance(n, ast.arg)]
    used = {n.id for n in ast.walk(method) if isinstance(n, ast.Name)}
    if used & (set(arguments[1:]) | {"eval", "exec", "locals", "vars"}):
        return None
    is_ended = any(
        isinstance(n, ast.Return) and not _is_false(n.value) for n in ast.walk(method)
    )
    return None if is_ended else method


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
            return (
                _after_yield(program, module, node.body) if len(yields) == 1 else None
            )
    return None


def _after_yield(
    program: Program, module: Module, body: list[ast.stmt]
) -> list[ast.stmt] | None:
    match body[-1]:
        case ast.Expr(value=ast.Yield()):
            return []
        case ast.Try(body=inner, handlers=handlers, orelse=[], finalbody=final):
            before = (
                None
                if catching(program, module, handlers)
                else _after_yield(program, module, inner)
            )
            is_ended = any(
                isinstance(n, ast.Return) for s in final for n in ast.walk(s)
            )
            return None if before is None or is_ended else before + final
    return None
