"""Loops that certainly are the current one where they are used.

Rule: a loop that a function got from ``IOLoop.current()`` is the current one until the
function ends, in a program that makes no other one current.  A parameter for a loop is None
if the program calls the function, and no call passes anything else.

Pure.  Used by `gencoro.porting.fixers.to_coroutine.io_loop_argument`.
"""

import ast
from collections.abc import Iterator

from gencoro.compat.doctor.rows import TODAY
from gencoro.porting.callbacks.callback_starts import names_to_call
from gencoro.porting.callbacks.loops import has_one_loop, switches_loops, uses_threads
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.families import heirs_of
from gencoro.porting.program.inheritance import has_unknown_heir, overrides_tornado
from gencoro.porting.program.origins import last_name, original_names
from gencoro.porting.program.receivers import assignments
from gencoro.porting.program.references import references_of
from gencoro.porting.program.replacements import replacements_of

__all__ = ["is_current"]

_CURRENT = frozenset({"tornado.ioloop.IOLoop.current"})
_INSTANCE = frozenset({"tornado.ioloop.IOLoop.instance"})
_OF_TEST = "tornado.testing.AsyncTestCase"

_Seen = frozenset[ast.AST]


def is_current(
    program: Program, module: Module, node: ast.expr, seen: _Seen = frozenset()
) -> bool:
    """Return whether an expression certainly is the current loop, or None.

    Args:
        seen: The expressions that led to this one.
    """
    if node in seen:
        return True  # it is what the others are
    seen |= {node}
    match node:
        case ast.Constant(value=None):
            return True
        case ast.Call(func=func, args=[], keywords=[]):
            names = module.names(func)
            if names == _INSTANCE:
                return not uses_threads(program)
            return names == _CURRENT
        case ast.BoolOp(op=ast.Or(), values=values):
            return all(is_current(program, module, value, seen) for value in values)
        case ast.IfExp(body=first, orelse=second):
            parts = (first, second)
            return all(is_current(program, module, part, seen) for part in parts)
        case ast.Attribute(value=ast.Name(id="self"), attr="io_loop"):
            if _is_in_test(module, node):
                return True
    if not isinstance(node, (ast.Attribute, ast.Name)):
        return False
    return has_one_loop(program) or (
        not switches_loops(program) and _is_kept(program, module, node, seen)
    )


def _is_in_test(module: Module, node: ast.expr) -> bool:
    """Return whether an expression is in a method of a test that has a loop."""
    function = module.function_at(node)
    if function is None or function.owner is None:
        return False
    if "self.io_loop =" in ast.unparse(function.owner):
        return False
    bases = module.scope_at(function.owner).bases(function.owner)
    return any(_OF_TEST in TODAY.owners(base) for base in bases)


def _is_kept(program: Program, module: Module, node: ast.expr, seen: _Seen) -> bool:
    """Return whether a function got a loop, or None, that it keeps until it ends."""
    function = module.function_at(node)
    match node:
        case ast.Name(id=name) if function is not None:
            is_shared = name in replacements_of(program).rebound
            if is_shared or function.scope._scope_of(name) is not function.scope:
                return False
            bindings = function.scope._bindings[name]
            if len(bindings) > 1 and None in bindings[1:]:
                return False  # a loop or an import binds it
            return all(
                is_current(program, module, binding, seen)
                if isinstance(binding, ast.expr)
                else binding is None and _is_never_passed(program, function, name, seen)
                for binding in bindings
            )
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if (
            function is not None
        ):
            if replacements_of(program).may_hide(function, name):
                return False
            return _is_assigned_before(function, node, name) and all(
                value is not None and is_current(program, other, value, seen)
                for other, value in assignments(program).get(name, ())
            )
    return False


def _is_assigned_before(function: Function, node: ast.expr, name: str) -> bool:
    """Return whether each path through a method to a use of an attribute assigns it."""
    statement = [node, *function.around(node)][-1]
    body = function.node.body
    place = body.index(statement) if isinstance(statement, ast.stmt) else 0
    return any(
        isinstance(earlier, ast.Assign)
        and any(ast.unparse(target) == f"self.{name}" for target in earlier.targets)
        for earlier in body[:place]
    )


def _is_never_passed(
    program: Program, function: Function, name: str, seen: _Seen
) -> bool:
    """Return whether the program calls a function, but never with a loop of its own."""
    defaults = function.node.args.defaults
    optional = _positional(function)[-len(defaults) :] if defaults else []
    default = defaults[optional.index(name)] if name in optional else None
    is_none = isinstance(default, ast.Constant) and default.value is None
    if not is_none or function.node.decorator_list:
        return False
    if function.owner is not None and has_unknown_heir(function, program):
        return False
    is_called_by_user = function.node.name == "__init__"
    if not is_called_by_user and overrides_tornado(function, program):
        return False
    found = list(_calls_of(program, function))
    return bool(found) and all(
        call is not None and _passes_none(program, module, call, function, name, seen)
        for module, call in found
    )


def _calls_of(
    program: Program, function: Function
) -> Iterator[tuple[Module, ast.Call | None]]:
    """Yield the calls of a function, and None for another use of it."""
    references = references_of(program)
    if function.node.name == "__init__":
        yield from _constructions_of(program, function)
        return
    if references.is_named(function) or references.is_replaced(function.node.name):
        yield function.module, None
    for use in references.of(function):
        call = use.module.parents[use.node]
        is_call = isinstance(call, ast.Call) and call.func is use.node
        yield use.module, call if isinstance(call, ast.Call) and is_call else None


def _constructions_of(
    program: Program, function: Function
) -> Iterator[tuple[Module, ast.Call | None]]:
    """Yield what `_calls_of` does, for a constructor.

    It is called by the names of its class and of those that inherit from it, and by its own
    name in these.
    """
    family = heirs_of(program, function.owner)
    names = names_to_call(program, function)
    if names & program.unread_words or any(
        c.decorator_list or c.keywords for c in family
    ):
        yield function.module, None
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Call):
                if _may_construct(program, module, node, names, family):
                    yield module, node
            elif (
                isinstance(node, (ast.Attribute, ast.Name))
                and original_names(module, node) & names
            ):
                if not _is_plain_use(module, node):
                    yield module, None
            elif isinstance(node, ast.Constant) and node.value in names:
                yield module, None


def _may_construct(
    program: Program,
    module: Module,
    call: ast.Call,
    names: set[str],
    family: set[ast.ClassDef],
) -> bool:
    """Return whether a call may be that of a class, or of its ``__init__``."""
    name = last_name(call.func)
    if original_names(module, call.func) & names:
        return True
    user = module.function_at(call)
    is_inside = user is None or user.owner is None or user.owner in family
    is_class = isinstance(call.func, ast.Call) and last_name(call.func.func) == "type"
    return is_inside and (name in ("__class__", "__init__", "cls") or is_class)


def _is_plain_use(module: Module, node: ast.Attribute | ast.Name) -> bool:
    """Return whether the name of a class is used to call it, to inherit or to compare."""
    if not isinstance(node.ctx, ast.Load):
        return False
    match module.parents[node]:
        case ast.Call(func=func) as call:
            return func is node or last_name(call.func) in ("isinstance", "super")
        case ast.Attribute() | ast.ClassDef():
            return True
    return False


def _passes_none(
    program: Program,
    module: Module,
    call: ast.Call,
    function: Function,
    name: str,
    seen: _Seen,
) -> bool:
    """Return whether a call passes nothing, None or the current loop for a parameter."""
    place = _positional(function).index(name)
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    if any(keyword.arg is None for keyword in call.keywords):
        return False
    before = place if _has_all(module, call, function) else place - 1
    given = [keyword.value for keyword in call.keywords if keyword.arg == name]
    given += call.args[before : before + 1]
    return all(is_current(program, module, value, seen) for value in given)


def _has_all(module: Module, call: ast.Call, function: Function) -> bool:
    """Return whether the arguments of a call begin with the first parameter."""
    if function.owner is None:
        return True
    func = call.func
    return isinstance(func, ast.Attribute) and any(
        isinstance(thing.node, ast.ClassDef) and not thing.is_object
        for thing in module.things(func.value)
    )


def _positional(function: Function) -> list[str]:
    """Return the names of the parameters that may be passed by position."""
    args = function.node.args
    return [argument.arg for argument in (*args.posonlyargs, *args.args)]
