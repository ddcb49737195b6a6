"""Finds handlers that catch gen.Return, by the classes that they name.

Rule: a name that may stand for another class may stand for a base class of gen.Return.

Pure.  Used by `gencoro.porting.coroutines.raised_returns` and
`gencoro.porting.coroutines.context_managers`.
"""

import ast

from gencoro.porting.coroutines.return_classes import is_return_class
from gencoro.porting.program import Module, Program
from gencoro.porting.program.receivers import assignments

__all__ = ["catching", "may_catch"]

# Classes that catch gen.Return, and classes that do not although they look like variables.
_BROAD = frozenset({"BaseException", "Exception", "StandardError", "object"})
_CLASSES = frozenset({"error", "gaierror", "herror", "timeout"})


def catching(
    program: Program, module: Module, handlers: list[ast.ExceptHandler]
) -> str:
    """Return the classes of the handler that would catch gen.Return; empty if none would."""
    for handler in handlers:
        if handler.type is None:
            return "..." if not _only_raises(handler) else ""
        types = (
            handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        )
        if any(may_catch(program, module, t) for t in types):
            return "" if _only_raises(handler) else ast.unparse(handler.type)
    return ""


def _only_raises(handler: ast.ExceptHandler) -> bool:
    match handler.body:
        case [ast.Raise(exc=None)]:
            return True
        case [ast.Raise(exc=ast.Name(id=name), cause=None)]:
            return name == handler.name
    return False


def may_catch(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether a handler of a class may catch gen.Return."""
    if not isinstance(node, (ast.Name, ast.Attribute)) or is_return_class(module, node):
        return True
    things = module.things(node)
    if things:  # a class of the program is no base class of gen.Return
        return not all(t.name or isinstance(t.node, ast.ClassDef) for t in things)
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    if isinstance(node, ast.Attribute):
        if any(owner.file for owner in module.things(node.value)):
            return True  # a module of the program has it, and it is no class there
        is_of_object = not _is_imported(module, ast.unparse(node).partition(".")[0])
        # An object has what is assigned to it, or a class from elsewhere.
        if is_of_object and (name in _CLASSES or name in assignments(program)):
            return True
    else:
        scope = module.scope_at(node)._scope_of(name)
        for bound in scope._bindings[name] if scope is not None else ():
            if isinstance(bound, ast.expr):
                parts = bound.elts if isinstance(bound, ast.Tuple) else [bound]
                return any(
                    part is node or may_catch(program, module, part) for part in parts
                )
            if bound is None and not _is_imported(module, name):
                return True  # a parameter, or what a loop gives
            if getattr(bound, "file", ""):
                return True  # as above
    # A tuple of classes from elsewhere is written like a constant or a variable.
    is_class = name[:1].isupper() and not name.isupper()
    return name in _BROAD or not (is_class or name in _CLASSES)


def _is_imported(module: Module, name: str) -> bool:
    return any(
        (node.asname or node.name.partition(".")[0]) == name
        for node in module.nodes
        if isinstance(node, ast.alias)
    )
