"""Visits the syntax tree of a module, and collects the uses of legacy names.

Used by `gencoro.compat.doctor.scan`.
"""

import ast
from collections.abc import Sequence
from typing import NamedTuple

from gencoro.compat.doctor.arguments import KnownObjects, legacy_arguments
from gencoro.compat.doctor.branches import are_there, missing_handled, tests_version
from gencoro.compat.doctor.conditions import holds
from gencoro.compat.doctor.differences import differences
from gencoro.compat.doctor.known import ALL, meant_by
from gencoro.compat.doctor.naming import Modules, Scope
from gencoro.compat.doctor.python_2 import BUILTINS, FormsOfPython2
from gencoro.compat.doctor.rows import ROWS, TODAY
from gencoro.compat.doctor.threads import ON_THREAD, loops_on_threads
from gencoro.compat.doctor.uses import Use, use_of
from gencoro.compat.names import TORNADO

__all__ = ["Found", "Visitor"]

# Methods that only one class has, of Tornado or of the standard library.
_UNIQUE_METHODS = {
    "_stack_context_handle_exception": "tornado.web.RequestHandler",
    "async_callback": "tornado.web.RequestHandler",
    "handle_callback_exception": "tornado.ioloop.IOLoop",
    "isAlive": "threading.Thread",
    "readfp": "configparser.RawConfigParser",
    "set_blocking_log_threshold": "tornado.ioloop.IOLoop",
    "set_blocking_signal_threshold": "tornado.ioloop.IOLoop",
    "set_exc_info": "tornado.concurrent.Future",
}

# Classes whose methods are called on ``self`` in classes with unknown bases.
_MIXED_IN = ("unittest.TestCase",)

# Methods that a module may look for before it uses them.
_GUARDED = frozenset({*_UNIQUE_METHODS, "exc_info"})


class Found(NamedTuple):
    """A use, and its import statement if it is an import."""

    use: Use
    alias: ast.alias | None


class Visitor(ast.NodeVisitor):
    """Visits the syntax tree of a module.

    Attributes:
        found: The uses.
        dispensable: The imports that the module does not need.
    """

    def __init__(
        self,
        module: ast.Module,
        modules: Modules,
        file: str,
        ignored: frozenset[ast.alias],
        has_tornado: bool = True,
    ) -> None:
        self.found: list[Found] = []
        self._has_tornado = has_tornado
        self.dispensable: set[ast.alias] = set()
        self._scope = Scope(module, None, TODAY, modules, file, ignored)
        self._known = KnownObjects(module)
        nodes = list(ast.walk(module))
        # Whether it may have any name, by ``import *``.
        self._binds_all = any(isinstance(n, ast.alias) and n.name == "*" for n in nodes)
        self._forms = FormsOfPython2(nodes)
        self.generic_visit(module)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if self._scope.known_module(alias.name, 0):
                self._see(alias.name, node, alias)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = self._scope.known_module(node.module or "", node.level) or ""
        for alias in node.names if module else ():
            name = module if alias.name == "*" else f"{module}.{alias.name}"
            self._see(name, node, alias)

    def visit_Name(self, node: ast.Name) -> None:
        for thing in self._scope.things(node) if isinstance(node.ctx, ast.Load) else ():
            # With an ``import *``, an unknown name need not be Tornado's.
            is_certain = ROWS.is_gone(thing.name) or not self._scope.has_stars
            if is_certain and not thing.is_object:
                self._see(thing.name, node)
        if node.id in BUILTINS and not self._is_bound(node.id):
            self._add([BUILTINS[node.id]], node)

    def _is_bound(self, name: str) -> bool:
        return self._binds_all or self._scope.scope_of(name) is not None

    def visit_Attribute(self, node: ast.Attribute) -> None:
        things = list(self._scope.things(node))
        owners = list(self._scope.things(node.value))
        of_object = bool(owners) and all(owner.is_object for owner in owners)
        seen = [self._see(t.name, node, exact=of_object) for t in things if t.name]
        if any(seen) and isinstance(node.value, (ast.Name, ast.Attribute)):
            return  # its prefix is not another use
        if not things:
            self._add(_unique(node, self._has_tornado), node)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._add_loops_on_threads(node)
        for row, place in self._forms.of_class(node):
            self._add([row], place)
        for base in self._scope.bases(node):
            for name, row in ROWS.gone_methods(base).items():
                # Overriding a method of Python that is gone does no harm.
                if row not in TORNADO:
                    continue
                method = self._scope.members(node).methods.get(name)
                if method is not None:
                    self._add([row], method)
        self._visit_scope(node, [*node.decorator_list, *node.bases, *node.keywords])

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._add_loops_on_threads(node)
        outside = [*node.decorator_list, node.args, node.returns]
        self._visit_scope(node, [child for child in outside if child is not None])

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_scope(node, [node.args])

    def visit_Call(self, node: ast.Call) -> None:
        for child in node.args:
            text = child.value if isinstance(child, ast.Constant) else None
            if isinstance(text, str) and text in TORNADO and ROWS.is_gone(text):
                self._add([text], child)
        self._add_differences(node)
        self._add_loops_on_threads(node)
        self._add(self._forms.of_call(node), node)
        if self._has_tornado and _is_exc_info_of_future(node):
            self._add(["tornado.concurrent.Future.exc_info"], node)
        known = self._known if self._has_tornado else None
        for found in legacy_arguments(node, self._scope, TODAY, ROWS, known):
            self._add([found.callee], found.node, found.word)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self._add_differences(node)
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        copes, copes_with_names = missing_handled(node)
        if not copes and not copes_with_names:
            self.generic_visit(node)
            return
        if copes and are_there(node.body):
            self._visit_all([*node.body, *node.orelse])
            self._visit_all(node.finalbody)
            self._drop(node.handlers)
            return
        arms = [[*node.body, *node.orelse], *(h.body for h in node.handlers)]
        self._visit_arms(arms, imports_only=not copes_with_names)
        self._visit_all(node.finalbody)

    def visit_If(self, node: ast.If) -> None:
        is_true = holds(node.test)
        if is_true is not None:
            self._visit_all(node.body if is_true else node.orelse)
            self._drop(node.orelse if is_true else node.body)
        elif tests_version(node.test, self._scope, _GUARDED):
            self._visit_arms([node.body, node.orelse], imports_only=False)
        else:
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        is_true = holds(node.test)
        if is_true is None:
            self.generic_visit(node)
        else:
            self.visit(node.body if is_true else node.orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for value in node.values:
            self.visit(value)
            if holds(value) is isinstance(node.op, ast.Or):
                break  # the others are not evaluated

    def _visit_all(self, nodes: Sequence[ast.AST]) -> None:
        for place, node in enumerate(nodes, 1):
            self.visit(node)
            if isinstance(node, ast.If) and holds(node.test) and _leaves(node.body):
                self._drop(nodes[place:])
                break

    def _visit_scope(
        self,
        node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        outside: Sequence[ast.AST],
    ) -> None:
        """Visit a scope, and parts of its definition that belong to the outer scope."""
        self._visit_all(outside)
        before = self._scope
        self._scope = before.inner(node)
        self._visit_all(node.body if isinstance(node.body, list) else [node.body])
        self._scope = before

    def _visit_arms(
        self, arms: Sequence[Sequence[ast.stmt]], imports_only: bool
    ) -> None:
        """Visit alternatives, and drop their uses if one of them has none.

        Args:
            imports_only: Whether only imports count.
        """
        before = len(self.found)
        found_by_arm: list[list[Found]] = []
        for arm in arms:
            begin = len(self.found)
            self._visit_all(arm)
            if not arm or not isinstance(arm[-1], ast.Raise):
                in_arm = self.found[begin:]
                found_by_arm.append([f for f in in_arm if f.alias or not imports_only])
        if len(found_by_arm) > 1 and not all(found_by_arm):
            dropped = [found for in_arm in found_by_arm for found in in_arm]
            self.dispensable.update(found.alias for found in dropped if found.alias)
            self.found[before:] = [f for f in self.found[before:] if f not in dropped]

    def _add_differences(self, node: ast.AST) -> None:
        for name, argument in differences(node, self._scope):
            self._add([name], node, argument)

    def _add_loops_on_threads(self, node: ast.AST) -> None:
        for name, place in loops_on_threads(node, self._scope):
            self._add([name], place, ON_THREAD)

    def _drop(self, nodes: Sequence[ast.AST]) -> None:
        """Ignore the imports of statements that are not run."""
        for node in nodes:
            for child in ast.walk(node):
                if isinstance(child, (ast.Import, ast.ImportFrom)):
                    self.dispensable.update(child.names)

    def _see(
        self,
        name: str,
        node: ast.AST,
        alias: ast.alias | None = None,
        exact: bool = False,
    ) -> bool:
        """Record a dotted name if it is legacy or unknown; return whether it is.

        Args:
            alias: The import, if it is one.
            exact: Whether only the whole name counts, as for an attribute of an object.
        """
        for meant in meant_by(name, TODAY):
            parts = meant.split(".")
            for count in range(len(parts), len(parts) - 1 if exact else 0, -1):
                row = ROWS.find(".".join(parts[:count]))
                if row is None or not ROWS.is_gone(row):
                    continue
                rest = parts[count : count + 1]
                if rest and ALL[row].how == "module" and not rest[0].startswith("__"):
                    row = f"{row}.{rest[0]}"  # the table has all names of the module
                # A removed module of Python is recorded where it is imported.
                if alias is not None or row in TORNADO or count == len(parts) > 1:
                    self._add([row], node, alias=alias)
                return True
            unknown = [] if exact else self._unknown(parts, node)
            self._add(unknown, node, alias=alias)
            return bool(unknown)
        return False

    def _unknown(self, parts: list[str], node: ast.AST) -> list[str]:
        """Return the name if neither today's Tornado nor the table has it."""
        module = TODAY.module_of(".".join(parts))
        rest = parts[module.count(".") + 1 :]
        # Tornado's own tests do not belong to its interface.
        if not module or not rest or rest[0].startswith("__") or parts[1] == "test":
            return []
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return []
        if isinstance(node, ast.expr) and not self._scope.is_sure(node):
            return []
        name = f"{module}.{rest[0]}"
        return [] if name in ALL or TODAY.has(name) else [name]

    def _add(
        self,
        names: Sequence[str],
        node: ast.AST,
        argument: str = "",
        alias: ast.alias | None = None,
    ) -> None:
        """Record a use of the first of these names."""
        for name in names[:1]:
            line = getattr(alias or node, "lineno", 1)
            self.found.append(Found(use_of(name, line, argument), alias))


def _leaves(block: Sequence[ast.stmt]) -> bool:
    return isinstance(block[-1], (ast.Return, ast.Raise))


def _unique(node: ast.Attribute, has_tornado: bool) -> list[str]:
    """Return the row of a method of an unknown object, if its name tells the class."""
    owner = _UNIQUE_METHODS.get(node.attr)
    if owner is not None:
        name = f"{owner}.{node.attr}"
        is_possible = has_tornado or not owner.startswith("tornado.")
        is_gone = name not in ALL or ROWS.is_gone(name)
        return [name] if is_possible and is_gone else []
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        names = (f"{owner}.{node.attr}" for owner in _MIXED_IN)
        return [name for name in names if ROWS.is_gone(name)]
    return []


def _is_exc_info_of_future(node: ast.Call) -> bool:
    """Return True if a call is ``exc_info()``, of something else than ``sys``."""
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "exc_info"
        and not node.args
        and ast.unparse(node.func.value) not in ("sys", "_sys")
    )
