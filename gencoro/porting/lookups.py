"""Where functions may be looked up by name: ``getattr``, ``globals()``, patches, doctests.

Rule: a lookup whose name is computed counts for every function that it could find.

Pure.  Used by `gencoro.porting.references`.
"""

import ast
import re
from collections.abc import Iterator

from gencoro.porting.program import Function, Module, Program

__all__ = ["Lookups"]

_GETTERS = frozenset({"getattr", "attrgetter", "methodcaller"})
_SETTERS = frozenset({"object", "patch", "setattr"})
_DELEGATORS = frozenset({"__getattr__", "__getattribute__"})
_NAMESPACES = frozenset({"globals", "locals", "vars"})

# A dotted name, such as unittest.mock.patch has.
_DOTTED = re.compile(r"[A-Za-z_][\w.]*[.:]([A-Za-z_]\w*)")
_IN_DOCTEST = re.compile(r"^\s*(?:>>>|\.\.\.) (.*)$", re.MULTILINE)


class Lookups:
    """The lookups by name in a program.

    Args:
        program: The program.

    Attributes:
        patched: The names that tests, or calls of ``setattr``, replace.
    """

    def __init__(self, program: Program) -> None:
        self.patched: set[str] = set()
        self._program = program
        self._names: set[str] = set()
        self._strings: set[str] = set()
        self._prefixes: set[str] = set()
        self._namespaces: set[str] = set()
        self._classes: set[ast.ClassDef] = set()
        self._is_any_class = False
        for module in program.modules.values():
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Call):
                    self._visit_call(module, node)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    self._visit_string(module, node, node.value)

    def may_find(self, function: Function) -> bool:
        """Return whether a function may be looked up by its name."""
        name = function.node.name
        if function.owner is None and "<locals>" in function.name:
            return False
        if name in self._names or function.module.path in self._namespaces:
            return True
        if any(name.startswith(prefix) for prefix in self._prefixes):
            return True
        if function.owner is not None:
            return self._is_any_class or function.owner in self._classes
        return self._is_any_class and name in self._strings

    def _visit_string(self, module: Module, node: ast.Constant, text: str) -> None:
        if isinstance(module.parents.get(node), ast.Expr):
            for line in _IN_DOCTEST.findall(text):
                self._names.update(re.findall(r"\w+", line))
        elif text.isidentifier():
            self._strings.add(text)
        elif len(text) < 200 and (found := _DOTTED.fullmatch(text)):
            self._names.add(found[1])

    def _visit_call(self, module: Module, node: ast.Call) -> None:
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if name in _NAMESPACES and not node.args:
            self._namespaces.add(module.path)
        if name in _SETTERS:
            found = set(_tails(node.args))
            self.patched |= found
            self._names |= found
        if name in _GETTERS:
            place = 1 if name == "getattr" else 0
            for argument in node.args[place : place + 1]:
                self._visit_name(module, node, argument)

    def _visit_name(self, module: Module, call: ast.Call, node: ast.expr) -> None:
        """Record a name that is looked up."""
        if isinstance(node, ast.Constant):
            self._names.update(_tails([node]))
            return
        prefix = _prefix_of(node)
        if prefix:
            self._prefixes.add(prefix)
        elif not _is_harmless(module, call):
            things = module.things(call.args[0]) if len(call.args) > 1 else []
            owners = {t.node for t in things if isinstance(t.node, ast.ClassDef)}
            if owners:
                self._classes |= self._family(owners)
            elif not things:
                self._is_any_class = True
            for thing in things:
                if thing.file:
                    self._namespaces.update(
                        path
                        for path, m in self._program.modules.items()
                        if m.top.file == thing.file
                    )

    def _family(self, owners: set[ast.ClassDef]) -> set[ast.ClassDef]:
        """Return classes, their subclasses, and the base classes of all of these."""
        bases = {
            node: {
                thing.node
                for thing in module.scope_at(node).own_bases(node)
                if isinstance(thing.node, ast.ClassDef)
            }
            for module in self._program.modules.values()
            for node in module.classes
        }
        found = set(owners)
        size = 0
        while size != len(found):
            size = len(found)
            found |= {node for node, its in bases.items() if its & found}
            found |= {base for node in found for base in bases.get(node, ())}
        return found


def _tails(nodes: list[ast.expr]) -> Iterator[str]:
    """Yield the last parts of the dotted names in constants."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.split(r"[.:]", node.value)[-1]


def _is_harmless(module: Module, call: ast.Call) -> bool:
    """Return whether the result is not called, or the lookup only passes on another."""
    function = module.function_at(call)
    if function is not None and function.node.name in _DELEGATORS:
        return True
    if len(call.args) > 2 and isinstance(call.args[2], ast.Constant):
        default = call.args[2].value
        if default is not None:
            return True  # a value, and not a function
    parent = module.parents[call]
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        scope = function.own if function is not None else tuple(ast.walk(module.tree))
        return not any(
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Load)
            and not isinstance(module.parents[node], (ast.Compare, ast.BinOp))
            for node in scope
        )
    # A comparison, a condition or text.
    kinds = (ast.Compare, ast.BoolOp, ast.If, ast.FormattedValue, ast.BinOp, ast.Expr)
    return isinstance(parent, kinds)


def _prefix_of(node: ast.expr) -> str:
    """Return the constant beginning of a text that an expression builds."""
    if isinstance(node, ast.BinOp):
        return _prefix_of(node.left).partition("%")[0]
    if isinstance(node, ast.JoinedStr) and node.values:
        return _prefix_of(node.values[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _prefix_of(node.func.value).partition("{")[0]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""
