"""Finds what may start a callback whose errors go to the stack contexts of the function.

Rule: what may start a callback counts, wherever it is in the program; a function that is
passed to something that may call it later is a callback.

Pure.  Used by `gencoro.porting.callbacks` and the fixers for ``--to coroutine``.
"""

import ast
import builtins
import functools
from collections.abc import Container

from gencoro.porting.callbacks.legacy import CALLBACK_WORDS
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.inheritance import is_entry_point
from gencoro.porting.program.kept_functions import kept_names
from gencoro.porting.program.library_names import names_from_library
from gencoro.porting.program.origins import last_name, root_of
from gencoro.porting.program.receivers import is_collection
from gencoro.porting.program.references import references_of

__all__ = ["may_start_callbacks", "names_to_call"]

_ENGINE = "tornado.gen.engine"

# Methods that start a callback, and the place of that; errors of the callback go to the
# contexts of the caller.
_STARTERS = {
    "add_callback": 0,
    "add_callback_from_signal": 0,
    "add_done_callback": 0,
    "add_future": 1,
    "add_handler": 1,
    "add_timeout": 1,
    "call_at": 1,
    "call_later": 1,
    "call_soon": 0,
    "set_close_callback": 0,
    "set_exit_callback": 0,
}

# Methods of a Future that are callbacks without errors.
_SETTERS = frozenset({"set_exception", "set_result"})

_CONSTRUCTORS = frozenset({"__init__", "__new__"})

# Methods that call a function at once, on another thread, or in no context.
_HARMLESS = frozenset(
    name for kind in (bytes, dict, list, set, str) for name in dir(kind)
) | {
    "PeriodicCallback",
    "Task",
    "apply_async",
    "async_callback",
    "generate",
    "map",
    "map_async",
    "render",
    "render_string",
    "run_in_executor",
    "run_sync",
    "spawn_callback",
    "submit",
}


def may_start_callbacks(
    program: Program,
    function: Function,
    apart_from: Container[ast.Call] = (),
    known: Container[ast.Call] = (),
) -> str:
    """Return what in a function may start a callback; empty if nothing may.

    What the functions that it calls do counts too, whatever object they belong to.

    Args:
        apart_from: Calls whose own callbacks do not count.
        known: Calls of functions that start no other callbacks.
    """
    own = _starter(program, function, apart_from)
    if own:
        return own
    for name in sorted(_called_names(program, function, known)):
        if name in _starting_names(program):
            return f"{name}()"
    return ""


def _starter(
    program: Program, function: Function, apart_from: Container[ast.Call] = ()
) -> str:
    parameters = {
        arg.arg for arg in ast.walk(function.node) if isinstance(arg, ast.arg)
    }
    for node in ast.walk(function.node):
        if not isinstance(node, ast.Call) or node in apart_from:
            continue
        callbacks = [k.value for k in node.keywords if k.arg in CALLBACK_WORDS]
        if isinstance(node.func, ast.Attribute) and node.func.attr in _STARTERS:
            place = _STARTERS[node.func.attr]
            callbacks += node.args[place : place + 1] or [node.func]
        if any(_may_fail(callback, parameters) for callback in callbacks):
            return ast.unparse(node.func)
        if _called_name(program, function.module, node) in _engines(program):
            return ast.unparse(node.func)
        if _passes_function(program, function.module, node, parameters):
            return ast.unparse(node.func)
    return ""


def _may_fail(callback: ast.expr, parameters: set[str]) -> bool:
    """Return whether the errors of a callback may be those of this function.

    What a parameter does is the affair of the caller.
    """
    if isinstance(callback, ast.Attribute):
        return callback.attr not in _SETTERS
    return not (isinstance(callback, ast.Name) and callback.id in parameters)


def _passes_function(
    program: Program, module: Module, call: ast.Call, parameters: set[str]
) -> bool:
    """Return whether a call passes a function of the program to what may call it later."""
    passed = [*call.args, *(k.value for k in call.keywords if k.arg != "key")]
    functions = [a for a in passed if _is_function(program, module, a, parameters)]
    return bool(functions) and not _is_harmless(module, call)


def _is_function(
    program: Program, module: Module, node: ast.expr, parameters: set[str]
) -> bool:
    match node:
        case ast.Lambda():
            return True
        case ast.Call(func=ast.Name(id="partial") | ast.Attribute(attr="partial")):
            return any(_is_function(program, module, a, parameters) for a in node.args)
        case ast.Name(id=name):
            return name not in parameters and bool(program.functions_of(module, node))
        case ast.Attribute(attr=name):
            named = program.functions_by_name.get(name, [])
            is_stored = name in references_of(program).stored
            return not is_stored and any(not f.node.decorator_list for f in named)
    return False


def _is_harmless(module: Module, call: ast.Call) -> bool:
    """Return whether what is called calls a function at once, or in no context."""
    func = call.func
    name = last_name(func)
    if name in _HARMLESS or name.startswith("assert"):
        return True
    root = root_of(func)
    if not isinstance(root, ast.Name):
        return isinstance(root, ast.Constant)
    if root.id in names_from_library(module):
        return True
    return root is func and hasattr(builtins, root.id)


def _called_names(
    program: Program, function: Function, known: Container[ast.Call] = ()
) -> set[str]:
    found = set()
    for node in ast.walk(function.node):
        if isinstance(node, ast.Attribute) and node.attr in _properties(program):
            found.add(node.attr)
        if isinstance(node, ast.Call) and node not in known:
            found.add(_called_name(program, function.module, node))
            if isinstance(node.func, ast.Name):  # it may be a variable
                found.add(last_name(function.module.values_of(node.func)[-1]))
            elif not isinstance(node.func, (ast.Attribute, ast.Call)):
                found.update(map(last_name, ast.walk(node.func)))  # such as a table
    return found


def _called_name(program: Program, module: Module, call: ast.Call) -> str:
    """Return the name of what is called; empty if that is no method of the program.

    A program calls ``get`` and the like of a handler by ``self``, ``super()`` or its class,
    and that of a dict is another one.
    """
    name, func = last_name(call.func), call.func
    named = program.functions_by_name.get(name, ())
    if not named or not isinstance(func, ast.Attribute):
        return name
    if is_collection(program, module, func.value):
        return ""
    owner = ast.unparse(func.value)
    is_own = owner in ("cls", "self") or owner.startswith("super(")
    if is_own or any(thing.node is not None for thing in module.things(func.value)):
        return name
    return "" if all(is_entry_point(f, program) for f in named) else name


@functools.lru_cache(maxsize=1)
def _engines(program: Program) -> frozenset[str]:
    """Return the names of the engines, whose errors go to the contexts of their callers."""
    engines = (f for f in program.functions if f.has_decorator(_ENGINE))
    return frozenset(engine.node.name for engine in engines)


@functools.lru_cache(maxsize=1)
def _properties(program: Program) -> frozenset[str]:
    """Return the names of the properties, whose functions run without a call."""
    return frozenset(
        function.node.name
        for function in program.functions
        for decorator in function.node.decorator_list
        if isinstance(decorator, ast.Name) and decorator.id == "property"
    )


@functools.lru_cache(maxsize=1)
def _starting_names(program: Program) -> frozenset[str]:
    """Return the names of the program's functions and classes that may start callbacks."""
    names = [(f, names_to_call(program, f)) for f in program.functions]
    starting = {name for f, own in names if _starter(program, f) for name in own}
    called = [(own, _called_names(program, f)) for f, own in names]
    called += kept_names(program)
    engines = _engines(program)
    starting |= {
        n for own, names in kept_names(program) if names & engines for n in own
    }
    while True:
        found = {name for own, names in called if names & starting for name in own}
        if found <= starting:
            return frozenset(starting)
        starting |= found


def names_to_call(program: Program, function: Function) -> set[str]:
    """Return the names by which a function is called; of a constructor, of the classes."""
    if function.owner is None or function.node.name not in _CONSTRUCTORS:
        return {function.node.name}
    found = {function.owner.name}
    while True:
        more = {name for name, bases in _classes(program) if bases & found} - found
        if not more:
            return found
        found |= more


@functools.lru_cache(maxsize=1)
def _classes(program: Program) -> list[tuple[str, set[str]]]:
    """Return the names of classes, each with the last names of its bases."""
    return [
        (node.name, {ast.unparse(base).rpartition(".")[2] for base in node.bases})
        for module in program.modules.values()
        for node in module.classes
    ]
