"""Classes and modules that a program reads or modifies as a whole, such as ``vars(module)``.

Rule: an object that cannot be resolved may be each of them.

Pure.  Used by `gencoro.porting.program.listed_names`,
`gencoro.porting.program.reflection` and `gencoro.porting.program.replacements`.
"""

import ast

from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.families import family_of

__all__ = ["Namespaces", "is_written", "namespace_of"]

_METHODS_THAT_WRITE = frozenset(
    {"__setitem__", "clear", "pop", "popitem", "setdefault", "update"}
)


class Namespaces:
    """Some of the classes and modules of a program.

    Args:
        program: The program.

    Attributes:
        are_all_classes: Whether any class may be among them.
        are_all_modules: Whether any module may be among them.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._classes: set[ast.ClassDef] = set()
        self._modules: set[str] = set()
        self.are_all_classes = False
        self.are_all_modules = False

    def add(self, module: Module, node: ast.expr) -> None:
        """Add what an expression may be, or the class of that object."""
        things = module.things(_without_class(node))
        owners = {t.node for t in things if isinstance(t.node, ast.ClassDef)}
        if owners:
            self._classes |= family_of(self._program, owners)
        elif not things:
            self.are_all_classes = self.are_all_modules = True
        for thing in things:
            if thing.file:
                self._modules.update(
                    path
                    for path, m in self._program.modules.items()
                    if m.top.file == thing.file
                )

    def add_scope(self, module: Module, node: ast.AST) -> None:
        """Add the class in whose body a node is, or the module."""
        inside = module.enclosing(node)
        if isinstance(inside, ast.ClassDef):
            self.add_class(inside)
        else:
            self._modules.add(module.path)

    def add_class(self, node: ast.ClassDef) -> None:
        """Add a class with its family."""
        self._classes |= family_of(self._program, {node})

    def has_module(self, module: Module) -> bool:
        """Return whether a module certainly is among them."""
        return module.path in self._modules

    def has_class_of(self, function: Function) -> bool:
        """Return whether the class of a method may be among them."""
        return self.are_all_classes or function.owner in self._classes


def namespace_of(node: ast.AST) -> tuple[bool, ast.expr | None]:
    """Return whether an expression is a namespace, and the object that has it.

    The object is None for the scope in which the expression is.
    """
    match node:
        case ast.Attribute(value=value, attr="__dict__"):
            return True, value
        case ast.Call(func=ast.Name(id="vars"), args=[value]):
            return True, value
        case ast.Call(func=ast.Name(id="globals" | "locals" | "vars"), args=[]):
            return True, None
    return False, None


def is_written(module: Module, node: ast.AST) -> bool:
    """Return whether a namespace may be changed where it is used."""
    parent = module.parents.get(node)
    match parent:
        case ast.Subscript(ctx=ctx):
            return not isinstance(ctx, ast.Load)
        case ast.Attribute(attr=name):
            return name in _METHODS_THAT_WRITE
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
            return True
        case ast.Call(func=ast.Attribute(attr="dict")):  # patch.dict
            return True
        case ast.Call(func=ast.Name(id="exec")):
            return True
    return False


def _without_class(node: ast.expr) -> ast.expr:
    """Return the object of which an expression is the class."""
    match node:
        case ast.Attribute(value=value, attr="__class__"):
            return value
        case ast.Call(func=ast.Name(id="type"), args=[value]):
            return value
    return node
