"""Finds the uses of legacy Tornado in the source of a module.

Rule: a use is something that today's Tornado rejects.  A name that Tornado still has
counts only if the call shows it: an argument or a function in a position where Tornado
accepts none.  Something the module can do without, such as an import with an ``except
ImportError``, is not a use.

Pure: nothing that is scanned is run or imported.  Used by `gencoro.compat.doctor` and
`gencoro.compat.tornado_.testing`.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gencoro.compat.doctor.arguments import legacy_arguments
from gencoro.compat.doctor.naming import Scope, find_in_class
from gencoro.compat.doctor.rows import Rows
from gencoro.compat.doctor.today import TOO_DEEP, Today, parse
from gencoro.compat.names import INSTEAD, TABLE, Row

__all__ = ["Use", "scan"]

TODAY = Today()
ROWS = Rows(TODAY)

# Methods whose name alone identifies them as Tornado's.
_UNIQUE_METHODS = frozenset(
    {
        "_stack_context_handle_exception",
        "async_callback",
        "handle_callback_exception",
        "set_blocking_log_threshold",
        "set_blocking_signal_threshold",
    }
)

# The errors that a module catches to handle a missing name.
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})
_NAME_ERRORS = frozenset({"AttributeError", "NameError"})
_ANY_ERRORS = frozenset({"BaseException", "Exception"})


class Use(NamedTuple):
    """One place where legacy Tornado is used.

    Attributes:
        line: The line, from 1 on.
        name: The dotted name; of a method, with the class that had it.
        argument: The legacy argument, if the name itself is not legacy.
        row: Its row of the table; None if gencoro.compat does not know the name.
    """

    line: int
    name: str
    argument: str
    row: Row | None

    @property
    def is_served(self) -> bool:
        """Whether it works with gencoro.compat."""
        return self.row is not None and self.name not in INSTEAD


class _Found(NamedTuple):
    """A use, and its import statement if it is an import."""

    use: Use
    alias: ast.alias | None


def scan(source: str | bytes) -> list[Use]:
    """Return the uses of legacy Tornado in a module, sorted by line.

    Args:
        source: Its source.

    Raises:
        SyntaxError: the source is not valid Python 3.

    >>> source = "from tornado import gen, web\\n@gen.engine\\ndef get(self): pass\\n"
    >>> for use in scan(source):
    ...     print(use.line, use.name, use.row.first, use.row.last, use.is_served)
    2 tornado.gen.engine 2.1 5.1 True
    """
    module = parse(source)
    text = source if isinstance(source, bytes) else source.encode(errors="replace")
    if b"tornado" not in text:  # the most common case
        return []
    if not any(_imports_tornado(node) for node in ast.walk(module)):
        return []
    try:
        scanner = _Scanner(module, frozenset())
        if scanner.dispensable:
            # Scan again without the imports that are for old versions only.
            scanner = _Scanner(module, frozenset(scanner.dispensable))
    except RecursionError:
        raise SyntaxError(TOO_DEEP) from None
    return sorted({found.use for found in scanner.found}, key=lambda use: use[:3])


class _Scanner(ast.NodeVisitor):
    """Visits the syntax tree of a module.

    Attributes:
        found: The uses.
        dispensable: The imports that the module does not need.
    """

    def __init__(self, module: ast.Module, ignored: frozenset[ast.alias]) -> None:
        self.found: list[_Found] = []
        self.dispensable: set[ast.alias] = set()
        self._scope = Scope(module, None, TODAY, ignored)
        self.generic_visit(module)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] == "tornado":
                self._see(alias.name, node, alias)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names if _imports_tornado(node) else ():
            is_all = alias.name == "*"
            self._see(f"{node.module}{'' if is_all else '.' + alias.name}", node, alias)

    def visit_Name(self, node: ast.Name) -> None:
        for thing in self._scope.things(node) if isinstance(node.ctx, ast.Load) else ():
            # With an ``import *``, an unknown name need not be Tornado's.
            if ROWS.is_gone(thing.name) or not self._scope.has_stars:
                self._see(thing.name, node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        things = list(self._scope.things(node))
        seen = [self._see(t.name, node) for t in things if not t.is_object]
        if any(seen) and isinstance(node.value, (ast.Name, ast.Attribute)):
            return  # its prefix is not another use
        if not things and node.attr in _UNIQUE_METHODS:
            self._add(ROWS.of_method(node.attr), node)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for base in self._scope.bases(node):
            for name, row in ROWS.gone_methods(base).items():
                method = find_in_class(node, name)
                if method is not None:
                    self._add([row], method)
        self._visit_scope(node, [*node.decorator_list, *node.bases, *node.keywords])

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outside = [*node.decorator_list, node.args, node.returns]
        self._visit_scope(node, [child for child in outside if child is not None])

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_scope(node, [node.args])

    def visit_Call(self, node: ast.Call) -> None:
        for child in node.args:
            text = child.value if isinstance(child, ast.Constant) else None
            if isinstance(text, str) and text in TABLE and ROWS.is_gone(text):
                self._add([text], child)
        for found in legacy_arguments(node, self._scope, TODAY, ROWS):
            self._add([found.callee], found.node, found.word)
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        caught = {name for handler in node.handlers for name in _caught(handler)}
        imports = (ast.Import, ast.ImportFrom)
        if all(isinstance(statement, imports) for statement in node.body):
            copes = caught & (_IMPORT_ERRORS | _ANY_ERRORS)
        else:
            copes = caught & _IMPORT_ERRORS
        if not copes and not caught & _NAME_ERRORS:
            self.generic_visit(node)
            return
        arms = [[*node.body, *node.orelse], *(h.body for h in node.handlers)]
        self._visit_arms(arms, imports_only=not caught & _NAME_ERRORS)
        self._visit_all(node.finalbody)

    def visit_If(self, node: ast.If) -> None:
        if self._tests_version(node.test):
            self._visit_arms([node.body, node.orelse], imports_only=False)
        else:
            self.generic_visit(node)

    def _visit_all(self, nodes: Sequence[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

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
        found_by_arm: list[list[_Found]] = []
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

    def _tests_version(self, test: ast.expr) -> bool:
        """Return whether a condition tests Tornado's version, or TYPE_CHECKING."""
        for node in ast.walk(test):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "hasattr":
                if any(t.name for a in node.args for t in self._scope.things(a)):
                    return True
            elif isinstance(node, (ast.Name, ast.Attribute)):
                names = {thing.name for thing in self._scope.things(node)}
                names.add(ast.unparse(node).rpartition(".")[2])
                if names & {"tornado.version_info", "tornado.version", "TYPE_CHECKING"}:
                    return True
        return False

    def _see(self, name: str, node: ast.AST, alias: ast.alias | None = None) -> bool:
        """Record a dotted name if it is legacy or unknown; return whether it is."""
        parts = name.split(".")
        for count in range(len(parts), 1, -1):
            row = ROWS.find(".".join(parts[:count]))
            if row is None or not ROWS.is_gone(row):
                continue
            rest = parts[count : count + 1]
            if rest and TABLE[row].how == "module" and not rest[0].startswith("__"):
                row = ".".join([row, *rest])  # the table has every name of the module
            self._add([row], node, alias=alias)
            return True
        unknown = self._unknown(parts, node) if name else []
        self._add(unknown, node, alias=alias)
        return bool(unknown)

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
        return [] if name in TABLE or TODAY.has(name) else [name]

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
            self.found.append(_Found(Use(line, name, argument, TABLE.get(name)), alias))


def _imports_tornado(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] == "tornado" for alias in node.names)
    return (
        isinstance(node, ast.ImportFrom)
        and not node.level
        and (node.module or "").partition(".")[0] == "tornado"
    )


def _caught(handler: ast.ExceptHandler) -> Iterator[str]:
    """Yield the names of the errors that a handler catches."""
    if handler.type is None:
        yield "BaseException"
        return
    for node in ast.walk(handler.type):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield ast.unparse(node).rpartition(".")[2]
