"""Lookups of functions by name: ``getattr``, ``globals()``, patches, doctests.

Rule: a lookup whose name is computed counts for every function that it could find.

Pure.  Used by `gencoro.porting.program.references` and
`gencoro.porting.program.replacements`.
"""

import ast
import re
from collections.abc import Iterator

from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.class_hooks import has_class_hook
from gencoro.porting.program.namespaces import (
    Namespaces,
    namespace_of,
)
from gencoro.porting.program.origins import original_names

__all__ = ["DELEGATORS", "Lookups", "spellings"]

# Methods that look up the attributes of another object.
DELEGATORS = frozenset({"__getattr__", "__getattribute__"})

_GETTERS = frozenset(
    {
        "__getattribute__",
        "attrgetter",
        "getattr",
        "getattr_static",
        "methodcaller",
    }
)
_SETTERS = frozenset({"multiple", "object", "patch", "setattr", "spy"})
_LISTERS = frozenset({"create_autospec", "getmembers", "getmembers_static"})
_IMPORTERS = frozenset({"__import__", "import_module"})
_FINDERS = frozenset({"import_object", "locate", "resolve_name"})
_SPECIFICATIONS = frozenset({"autospec", "spec", "spec_set"})

# A dotted name, such as unittest.mock.patch has, several names, and a call, such as a
# template has, or a text that is compiled later.
_DOTTED = re.compile(r"[A-Za-z_][\w.]*[.:][A-Za-z_][\w.]*")
_SEVERAL = re.compile(r"\w+(?:[, ]+\w+)*")
_IN_CODE = re.compile(r"([A-Za-z_]\w*) *\(")
_MANGLED = re.compile(r"_[A-Za-z]\w*?(__\w*)")
_IN_DOCTEST = re.compile(r"^\s*(?:>>>|\.\.\.) (.*)$", re.MULTILINE)


class Lookups:
    """The lookups by name in a program.

    Args:
        program: The program.

    Attributes:
        patched: The names that tests, or calls of ``setattr``, replace.
        constants: The names that ``getattr`` and the like get as they are.
    """

    def __init__(self, program: Program) -> None:
        self.patched: set[str] = set()
        self.constants: set[str] = set()
        self._program = program
        self._names: set[str] = set()
        self._strings: set[str] = set()
        self._prefixes: set[str] = set()
        self._are_modules_computed = False
        self._read = Namespaces(program)
        for module in program.modules.values():
            for node in module.nodes:
                self._visit(module, node)
        for found in (self.patched, self._names, self._prefixes):
            found |= {name for other in found for name in spellings(other)}

    def _visit(self, module: Module, node: ast.AST) -> None:
        is_namespace, owner = namespace_of(node)
        if is_namespace:
            self._visit_namespace(module, node, owner)
        if isinstance(node, ast.Call):
            self._visit_call(module, node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._visit_string(module, node, node.value)
        elif isinstance(node, ast.ClassDef) and has_class_hook(module, node):
            self._read.add_class(node)

    def may_find(self, function: Function) -> bool:
        """Return whether a function may be looked up by its name."""
        name = function.node.name
        if function.owner is None and "<locals>" in function.name:
            return False
        if name in self._names:
            return True
        if any(name.startswith(prefix) for prefix in self._prefixes):
            return True
        if function.owner is not None:
            return self._read.has_class_of(function)
        is_any = self._are_modules_computed or name in self._strings
        if self._read.are_all_modules and is_any:
            return True
        return self._read.has_module(function.module)

    def _visit_string(self, module: Module, node: ast.Constant, text: str) -> None:
        if isinstance(module.parents.get(node), ast.Expr):
            for line in _IN_DOCTEST.findall(text):
                self._names.update(re.findall(r"\w+", line))
            return
        self._names.update(_IN_CODE.findall(text))
        if len(text) < 200 and _SEVERAL.fullmatch(text):
            self._strings.update(re.findall(r"\w+", text))
        elif len(text) < 200 and _DOTTED.fullmatch(text):
            self._names.update(re.split("[.:]", text))

    def _visit_namespace(
        self, module: Module, node: ast.AST, owner: ast.expr | None
    ) -> None:
        """Record what a namespace such as ``vars(worker)`` gives."""
        match module.parents.get(node):
            case ast.Subscript(slice=ast.Constant(value=key)):
                self._names.add(str(key))
                return
        if owner is None:
            self._read.add_scope(module, node)
        elif not (isinstance(owner, ast.Name) and owner.id == "self"):
            # An object's own namespace has none of the methods of its class.
            self._read.add(module, owner)

    def _visit_call(self, module: Module, node: ast.Call) -> None:
        names = original_names(module, node.func)
        if names & _SETTERS:
            texts = [part for argument in node.args for part in _parts_of(argument)]
            found = set(_tails(texts)) | {k.arg for k in node.keywords if k.arg}
            self.patched |= found
            self._names |= found
        for getter in names & _GETTERS:
            for argument in _looked_up(getter, node):
                self._visit_name(module, node, argument)
        if names & (_IMPORTERS | _FINDERS):
            is_computed = bool(node.args) and not isinstance(node.args[0], ast.Constant)
            self._are_modules_computed |= is_computed
            self._read.are_all_modules |= is_computed and bool(names & _FINDERS)
        elif names & {"eval", "exec"}:
            self._visit_code(module, node.args[0] if node.args else None)
        elif names & _LISTERS:
            for argument in node.args[:1]:
                self._read.add(module, argument)
        self._visit_specification(module, node)

    def _visit_specification(self, module: Module, node: ast.Call) -> None:
        """Record the classes that mocks are made of: they ask which methods are async."""
        for keyword in node.keywords:
            if keyword.arg not in _SPECIFICATIONS:
                continue
            if not isinstance(keyword.value, ast.Constant):
                self._read.add(module, keyword.value)
            tails = set(_tails(node.args))
            for m in self._program.modules.values():
                for owner in m.classes:
                    if owner.name in tails:
                        self._read.add_class(owner)

    def _visit_code(self, module: Module, code: ast.expr | None) -> None:
        """Record the names that code in a text may use."""
        text = getattr(code, "value", "") or (_prefix_of(code) if code else "")
        if isinstance(code, ast.Constant):
            self._names.update(re.findall(r"\w+", str(text)))
        elif isinstance(text, str) and text.isidentifier():
            self._prefixes.add(text)
        else:
            self._names.update(module.top._bindings)
            self._read.are_all_classes |= isinstance(text, str) and "." in text

    def _visit_name(self, module: Module, call: ast.Call, node: ast.expr) -> None:
        """Record a name that is looked up."""
        if isinstance(node, ast.Constant):
            self.constants.update(_tails([node]))
            self._names.update(_tails([node]))
            return
        prefix = _prefix_of(node)
        if prefix:
            self._prefixes.add(prefix)
        elif not _is_harmless(module, call):
            if len(call.args) > 1:
                self._read.add(module, call.args[0])
            else:
                self._read.are_all_classes = True


def spellings(name: str) -> set[str]:
    """Return how a class may spell a name: also ``__load`` for ``_Worker__load``."""
    mangled = _MANGLED.fullmatch(name)
    return {name} if mangled is None else {name, mangled[1]}


def _looked_up(getter: str, call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call of ``getattr`` and the like that are names."""
    if getter == "attrgetter":
        return call.args
    is_second = "getattr" in getter and len(call.args) > 1
    return call.args[1:2] if is_second else call.args[:1]


def _parts_of(argument: ast.expr) -> list[ast.expr]:
    """Return an argument, or the constants that a text such as a sum is built of."""
    if not isinstance(argument, (ast.BinOp, ast.Call, ast.JoinedStr)):
        return [argument]
    return [node for node in ast.walk(argument) if isinstance(node, ast.Constant)]


def _tails(nodes: list[ast.expr]) -> Iterator[str]:
    """Yield the last parts of the dotted names in constants."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.split(r"[.:]", node.value)[-1]


def _is_harmless(module: Module, call: ast.Call) -> bool:
    """Return whether the result is not called, or the lookup only passes on another."""
    function = module.function_at(call)
    if function is not None and function.node.name in DELEGATORS:
        return True
    if len(call.args) > 2 and isinstance(call.args[2], ast.Constant):
        default = call.args[2].value
        if default is not None:
            return True  # a value, and not a function
    parent = module.parents[call]
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        scope = function.own if function is not None else tuple(module.nodes)
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
