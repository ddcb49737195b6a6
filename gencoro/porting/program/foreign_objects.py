"""Escape analysis: which objects may come from packages outside the program.

Rule: what an unknown import gives may have any methods, and so may whatever gets a part of
it.  The names of attributes, keywords and keys count for the whole program.

Pure.  Used by `gencoro.porting.program.library_names` and `gencoro.porting.coroutines`.
"""

import ast
import functools
import os
from collections.abc import Iterator

from gencoro.compat.doctor.parsing import DEFS
from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.things import Home
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.inheritance import has_unknown_base, is_unknown_base
from gencoro.porting.program.references import references_of

__all__ = ["Foreign", "foreign_of"]

# Expressions that are foreign if a part of them is.
_PASSING = (
    ast.Await,
    ast.BoolOp,
    ast.Dict,
    ast.IfExp,
    ast.List,
    ast.NamedExpr,
    ast.Set,
    ast.Starred,
    ast.Tuple,
    ast.Yield,
    ast.YieldFrom,
)

_BINDING = (
    ast.AnnAssign,
    ast.Assign,
    ast.AsyncFor,
    ast.For,
    ast.NamedExpr,
    ast.comprehension,
    ast.withitem,
)


class Foreign:
    """The objects of a program that may come from packages that are not read.

    Args:
        program: The program.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._files = set(map(os.path.abspath, program.modules))
        self._names: set[tuple[ast.AST, str]] = set()
        self._attributes: set[str] = set()
        self._keys: set[str] = set()
        self._results: set[Function] = set()
        self._exposed: set[str] = set()
        for module in program.modules.values():
            self._add_imports(module)
        for function in program.functions:
            if has_unknown_base(function):
                self._add_parameters(function.node)
        self._follow()

    def may_have(self, module: Module, node: ast.expr, method: str) -> bool:
        """Return whether an object, or its class, may have a method that is not known."""
        match node:
            case ast.Call(func=ast.Name(id="type"), args=[one], keywords=[]):
                node = one
            case ast.Attribute(value=one, attr="__class__"):
                node = one
        return self._is_foreign(module, node) or any(
            self._is_inherited(home, owner, method, is_super, set())
            for home, owner, is_super in _classes_of(module, node)
        )

    def may_change(self, function: Function) -> bool:
        """Return whether an unknown package gets the module that defines a function."""
        return "." not in function.name and function.module.top.file in self._exposed

    def _is_inherited(
        self,
        home: Home,
        owner: ast.ClassDef,
        method: str,
        is_super: bool,
        seen: set[ast.AST],
    ) -> bool | None:
        """Return whether a method may be that of a class that is not of the program.

        None if no class has it.
        """
        seen.add(owner)
        if method in home.members(owner).methods and not is_super:
            return getattr(home, "file", "") not in self._files
        for base in owner.bases:
            if is_unknown_base(home, base):
                return True
            for thing in home.things(base):
                if thing.name and TODAY.has(f"{thing.name}.{method}"):
                    return False
                if not isinstance(thing.node, ast.ClassDef) or thing.home is None:
                    continue
                if thing.node not in seen:
                    its = (thing.home, thing.node, method, False, seen)
                    found = self._is_inherited(*its)
                    if found is not None:
                        return found
        return None

    def may_bind(self, module: Module, name: str) -> bool:
        """Return whether an ``import *`` may bind a name again."""
        bindings = module.top._bindings.get(name, ())
        last = max((getattr(binding, "lineno", 0) for binding in bindings), default=0)
        return any(
            isinstance(node, ast.ImportFrom)
            and node.names[0].name == "*"
            and node.lineno > last
            and self._may_export(module, node, name)
            for node in module.tree.body
        )

    def _may_export(self, module: Module, star: ast.ImportFrom, name: str) -> bool:
        top, imported = module.top, star.module or ""
        known = top.known_module(imported, star.level)
        if known is not None:
            return TODAY.has(f"{known}.{name}")
        file = top._modules.file_of(imported, star.level, top.file)
        if file is None or file not in self._files:
            return True
        scope = top._modules.scope_in(file)
        is_defined = scope is not None and name in scope._bindings
        is_found = is_defined or any(True for _ in top._things_in(file, name))
        return is_found and name in top._bindings

    def _add_imports(self, module: Module) -> None:
        for node in module.nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                scope = module.scope_at(node)
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    if any(map(self._is_unknown, scope._bindings.get(name, ()))):
                        self._names.add((scope.node, name))

    def _is_unknown(self, binding: object) -> bool:
        if isinstance(binding, str):
            return not binding.startswith("tornado")
        file = getattr(binding, "file", "")
        return binding is None or (bool(file) and file not in self._files)

    def _follow(self) -> None:
        """Add what gets a part of what has been found, until nothing changes."""
        nodes = [
            (module, node)
            for module in self._program.modules.values()
            for node in module.nodes
            if isinstance(node, (*_BINDING, ast.Call, ast.Dict, ast.Return))
        ]
        before = -1
        while before != self._size():
            before = self._size()
            for module, node in nodes:
                self._visit(module, node)

    def _size(self) -> int:
        names, others = len(self._names), len(self._attributes) + len(self._keys)
        return names + others + len(self._results)

    def _visit(self, module: Module, node: ast.AST) -> None:
        match node:
            case ast.Return(value=ast.expr() as value):
                function = module.function_at(node)
                if function is not None and self._is_foreign(module, value):
                    self._results.add(function)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    is_constant = isinstance(key, ast.Constant)
                    if is_constant and self._is_foreign(module, value):
                        self._add_key(key)
            case ast.Call():
                self._visit_call(module, node)
            case ast.AST() if isinstance(node, _BINDING):
                bound, targets = _bound_by(node)
                if bound is not None and self._is_foreign(module, bound):
                    for target in targets:
                        self._add_target(module, target)

    def _add_target(self, module: Module, target: ast.expr) -> None:
        for part in ast.walk(target):
            if isinstance(getattr(part, "ctx", None), ast.Load):
                continue
            if isinstance(part, ast.Name):
                scope = module.scope_at(part)._scope_of(part.id)
                if scope is not None:
                    self._names.add((scope.node, part.id))
            elif isinstance(part, ast.Attribute):
                self._attributes.add(part.attr)
            elif isinstance(part, ast.Subscript):
                self._add_key(part.slice)

    def _add_key(self, key: ast.AST | None) -> None:
        if isinstance(key, ast.Constant):
            self._keys.add(str(key.value))

    def _visit_call(self, module: Module, call: ast.Call) -> None:
        for keyword in call.keywords:
            if keyword.arg and self._is_foreign(module, keyword.value):
                self._keys.add(keyword.arg)
        places = [i for i, a in enumerate(call.args) if self._is_foreign(module, a)]
        called = self._callees(module, call.func) if places else []
        if places and not called and self._is_variable(module, call.func):
            called = [function.node for function in self._passed]
        for function in called:
            names = _parameters(function)
            self._names |= {(function, names[i]) for i in places if i < len(names)}
        is_foreign = self._is_foreign(module, call.func)
        if is_foreign or (places and not called):
            # It may call what it gets, with objects of its own, or with what else it gets.
            for argument in [*call.args, *(k.value for k in call.keywords)]:
                if not isinstance(argument, ast.Call):
                    for function in self._callees(module, argument):
                        self._add_parameters(function)
                if is_foreign:
                    self._exposed |= {thing.file for thing in module.things(argument)}

    @functools.cached_property
    def _passed(self) -> frozenset[Function]:
        """The functions that may be called by another name than their own."""
        references = references_of(self._program)
        return frozenset(
            function
            for function in self._program.functions
            for use in references.of(function)
            if getattr(use.module.parents[use.node], "func", None) is not use.node
        )

    def _is_variable(self, module: Module, func: ast.expr) -> bool:
        """Return whether an expression may be any function that the program passes on."""
        for thing in module.things(func):
            # What a function of the program returns may be a function.
            if not thing.is_object or not isinstance(thing.node, DEFS):
                return False
        if isinstance(func, ast.Attribute):
            return func.attr in references_of(self._program).stored
        if isinstance(func, ast.Name):
            return module.scope_at(func)._scope_of(func.id) is not None
        return not isinstance(func, (ast.Constant, ast.Lambda))

    def _add_parameters(self, function: ast.AST) -> None:
        self._names |= {(function, name) for name in _parameters(function)}

    def _callees(self, module: Module, func: ast.expr) -> list[ast.AST]:
        """Return the functions that an expression may be; ``__init__`` for a class."""
        if isinstance(func, ast.Lambda):
            return [func]
        found: list[ast.AST] = []
        for thing in module.things(func):
            if isinstance(thing.node, ast.ClassDef) and thing.home is not None:
                members = thing.home.things_of_member(thing.node, "__init__", set())
                found += [m.node for m in members if m.node is not None]
            elif thing.node is not None:
                found.append(thing.node)
        if not found and isinstance(func, ast.Attribute):
            named = self._program.functions_by_name.get(func.attr, [])
            return [function.node for function in named]
        return found

    def _is_foreign(self, module: Module, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                scope = module.scope_at(node)._scope_of(name)
                if scope is None:
                    return False
                is_keyword = name in self._keys and name in _parameters(scope.node)
                return is_keyword or (scope.node, name) in self._names
            case ast.Attribute(value=value, attr=name):
                return name in self._attributes or self._is_foreign(module, value)
            case ast.Call(func=func):
                results = self._program.functions_of(module, func)
                if self._is_variable(module, func):
                    results += self._passed & self._results
                is_result = not self._results.isdisjoint(results)
                return is_result or self._is_foreign(module, func)
            case ast.Subscript(value=value, slice=key):
                is_key = isinstance(key, ast.Constant) and str(key.value) in self._keys
                return is_key or self._is_foreign(module, value)
        return isinstance(node, _PASSING) and any(
            self._is_foreign(module, part)
            for part in ast.iter_child_nodes(node)
            if isinstance(part, ast.expr)
        )


@functools.lru_cache(maxsize=1)
def foreign_of(program: Program) -> Foreign:
    """Return the objects of a program that may come from packages that are not read."""
    return Foreign(program)


def _bound_by(node: ast.AST) -> tuple[ast.expr | None, list[ast.expr]]:
    """Return the value that a statement binds, and to what."""
    value = getattr(node, "value", None) or getattr(node, "iter", None)
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    if isinstance(node, ast.withitem):
        value, targets = node.context_expr, [node.optional_vars]
    return value, [target for target in targets if target is not None]


@functools.lru_cache(maxsize=20_000)
def _parameters(function: ast.AST) -> tuple[str, ...]:
    """Return the parameters of a function or lambda, without ``self`` and ``cls``."""
    if not isinstance(function, (*DEFS, ast.Lambda)):
        return ()
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return tuple(a.arg for a in named if a.arg not in ("cls", "self"))


def _classes_of(
    module: Module, node: ast.expr
) -> Iterator[tuple[Home, ast.ClassDef, bool]]:
    """Yield the classes that an object may be of, and whether it is ``super()``."""
    match node:
        case ast.Call(func=ast.Name(id="super")):
            scope = module.scope_at(node)._class_scope()
            if scope is not None and scope.parent is not None:
                assert isinstance(scope.node, ast.ClassDef), "it is that of a class"
                yield scope.parent, scope.node, True
            return
    for thing in module.things(node):
        if isinstance(thing.node, ast.ClassDef) and thing.home is not None:
            yield thing.home, thing.node, False
