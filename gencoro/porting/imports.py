"""Refers to functions of ``gen`` and ``asyncio``, and keeps the imports of a module tidy.

Rule: a name that the module has already is used; otherwise it is imported, in the place
where ruff would sort it.  Imports that the conversion leaves unused go.

Pure.  Used by `gencoro.porting.rewriting` and `gencoro.porting.conversion`.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gencoro.compat.doctor.program import Function, Module
from gencoro.compat.doctor.resolving import canonical
from gencoro.compat.doctor.text import Edit, SourceText, apply, joined

__all__ = ["NameTaken", "Names", "Wanted", "changed_import", "names_used", "tidy"]

_GEN = "tornado.gen"

# A name in `__all__`, in a call such as getattr, or in an annotation.
_NAMES = re.compile(r"[\w.\[\]|]{1,200}(?:, ?[\w.\[\]|]+)*")

# The greatest length of a line in the formatter's own configuration.
LINE_LENGTH = 88


class NameTaken(Exception):
    """A name that is needed means something else in a function."""


class Wanted(NamedTuple):
    """An import: ``from module import name``, or ``import module`` if the name is empty."""

    module: str
    name: str = ""


class Names:
    """How a module refers to functions of ``gen`` and ``asyncio``.

    Attributes:
        wanted: The imports that are needed for it.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self.wanted: set[Wanted] = set()

    def of_gen(self, function: Function, name: str) -> str:
        """Return an expression for a function of ``gen``, such as ``gen.multi``.

        Raises:
            NameTaken: it would mean something else in that function.
        """
        for decorator in function.node.decorator_list:
            # As its decorator does: `gen.coroutine` gives `gen`.
            is_made_by_it = self._module.names(decorator) == {f"{_GEN}.coroutine"}
            if is_made_by_it and isinstance(decorator, ast.Attribute):
                owner = self._module.text.of(decorator.value)
                if self._is_same(function, owner.partition(".")[0]):
                    return f"{owner}.{name}"
        for bound in self._module.top.bindings:
            known = self._dotted(bound)
            if known == _GEN and self._is_visible(function, bound):
                return f"{bound}.{name}"
            if known == f"{_GEN}.{name}" and self._is_visible(function, bound):
                return bound
        found = _imports_of(self._module.tree)
        is_whole = Wanted(_GEN) in found and self._dotted("tornado") == "tornado"
        if is_whole and self._is_visible(function, "tornado"):
            return f"tornado.gen.{name}"
        tops = {want.module.partition(".")[0] for want in found}
        package = "gencoro" if "gencoro" in tops else "tornado"
        wanted = Wanted(f"{package}.gen", name)
        if _statement_for(self._module.tree, wanted) and self._is_free(name):
            self.wanted.add(wanted)
            return name
        if self._is_free("gen"):
            self.wanted.add(Wanted(package, "gen"))
            return f"gen.{name}"
        raise NameTaken("gen")

    def of_asyncio(self, function: Function, name: str) -> str:
        """Return an expression for a function of ``asyncio``, as `of_gen` does."""
        if self._dotted("asyncio") == "asyncio":
            if self._is_visible(function, "asyncio"):
                return f"asyncio.{name}"
        elif self._is_free("asyncio"):
            self.wanted.add(Wanted("asyncio"))
            return f"asyncio.{name}"
        raise NameTaken("asyncio")

    def _dotted(self, bound: str) -> str:
        """Return what a name of the module is; empty if it may be several things."""
        bindings = self._module.top.bindings.get(bound, [])
        found = {canonical(b) if isinstance(b, str) else "" for b in bindings}
        return found.pop() if len(found) == 1 else ""

    def _is_visible(self, function: Function, name: str) -> bool:
        scope = self._module.scope_of(function.node)
        return scope.scope_of(name) is self._module.top

    def _is_same(self, function: Function, name: str) -> bool:
        """Return whether a name means in a function what it means around it."""
        inner = self._module.scope_of(function.node)
        return inner.scope_of(name) is function.outer.scope_of(name)

    def _is_free(self, name: str) -> bool:
        return not any(
            name == getattr(node, field, None)
            for node in self._module.nodes
            for field in ("id", "arg", "name", "asname")
            if not isinstance(node, ast.alias) or not node.asname or field == "asname"
        )


def _imports_of(tree: ast.Module) -> set[Wanted]:
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {Wanted(a.name) for a in node.names if not a.asname}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {Wanted(node.module or "", a.name) for a in node.names}
    return found


def tidy(
    source: bytes, unused: frozenset[str], wanted: Sequence[Wanted], keeps: bool
) -> bytes:
    """Return a source with the imports that it needs, and without others.

    Args:
        unused: The names that the module used before its conversion, and does not now.
        wanted: The imports that it needs.
        keeps: Whether unused imports stay, since others may import them from here.
    """
    going = frozenset() if keeps else unused
    text = SourceText(source)
    tree = ast.parse(text.data)
    # One after the other: each sees the blank lines that the last one has left.
    while (edit := next(_whole(text, tree, going, wanted), None)) is not None:
        text = SourceText(text.encoded(apply(text, [edit])))
        tree = ast.parse(text.data)
    source = text.encoded(text.data)
    edits: list[Edit] = []
    missing = []
    added: dict[ast.ImportFrom, list[str]] = {}
    for want in sorted(wanted):
        place = _statement_for(tree, want)
        if place is None:
            missing.append(want)
        else:
            added.setdefault(place, []).append(want.name)
    for block in _blocks(tree):
        for node in block:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                new = added.get(node, []) if isinstance(node, ast.ImportFrom) else []
                edits += changed_import(text, block, node, going, new)
    for want in missing:
        edits += _inserted(text, tree, want)
    return text.encoded(apply(text, joined(edits))) if edits else source


def _whole(
    text: SourceText, tree: ast.Module, going: frozenset[str], wanted: Sequence[Wanted]
) -> Iterator[Edit]:
    """Yield the removals of whole imports that get no other names."""
    extended = [_statement_for(tree, want) for want in wanted]
    for block in _blocks(tree):
        for node in block:
            if not isinstance(node, (ast.Import, ast.ImportFrom)) or node in extended:
                continue
            if going.issuperset(map(_bound, node.names)):
                yield from changed_import(text, block, node, going, [])


def names_used(tree: ast.AST) -> frozenset[str]:
    """Return the names that a module uses, in strings too, but for its imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and _NAMES.fullmatch(str(node.value)):
            found.update(re.findall(r"\w+", str(node.value)))
    return frozenset(found)


def _blocks(tree: ast.Module) -> Iterator[Sequence[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _statement_for(tree: ast.Module, want: Wanted) -> ast.ImportFrom | None:
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom) or node.level or not want.name:
            continue
        if node.module == want.module and node.names[0].name != "*":
            return node
    return None


def changed_import(
    text: SourceText,
    block: Sequence[ast.stmt],
    node: ast.Import | ast.ImportFrom,
    going: frozenset[str],
    new: Sequence[str],
) -> Iterator[Edit]:
    """Yield the edits of an import statement that loses or gets names."""
    kept = [a for a in node.names if _bound(a) not in going]
    is_marked = b"noqa" in text.data[slice(*_lines_of(text, node))]
    if is_marked or (not kept and not new and _is_needed(text, block, node)):
        kept = node.names
    if len(kept) == len(node.names) and not new:
        return
    if not kept and not new:
        yield _without_statement(text, node)
        return
    start, end = text.span(node)
    is_plain = b"\n" not in text.data[start:end] and b"(" not in text.data[start:end]
    if is_plain and isinstance(node, ast.ImportFrom):
        yield _one_line(text, node, kept, new)
        return
    if not kept:
        first, last = text.span(node.names[0])[0], text.span(node.names[-1])[1]
        yield Edit(first, last, ", ".join(new))
        return
    for place, alias in enumerate(node.names):
        if alias in kept:
            continue
        if place + 1 < len(node.names):
            edit = Edit(text.span(alias)[0], text.span(node.names[place + 1])[0])
        else:
            edit = Edit(text.span(node.names[place - 1])[1], text.span(alias)[1])
        if b"#" not in text.data[edit.start : edit.end]:
            yield edit
    for name in new:
        yield _into_lines(text, kept, name)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _lines_of(text: SourceText, node: ast.stmt) -> tuple[int, int]:
    start, end = text.span(node)
    return text.line_at(start)[0], text.line_at(end)[1]


def _is_needed(text: SourceText, block: Sequence[ast.stmt], node: ast.stmt) -> bool:
    """Return whether a statement is the only one of its block, or of its line."""
    start, end = text.span(node)
    first, last = _lines_of(text, node)
    around = text.data[first:start] + text.data[end:last]
    is_shared = bool(around.partition(b"#")[0].strip())
    return len(block) == 1 or is_shared


def _without_statement(text: SourceText, node: ast.stmt) -> Edit:
    """Remove the lines of a statement, and blank lines that would then be doubled."""
    start, end = _lines_of(text, node)
    before = text.data[:start]
    is_first = not before.strip()
    after = re.match(rb"(?:[ \t\f]*\r?\n)*", text.data[end:])
    blank = after.end() if after is not None else 0
    if is_first:
        return Edit(start, end + blank)
    lines = re.search(rb"(?:(?<=\n)[ \t\f]*\r?\n)+\Z", before)
    if lines is not None and blank:
        start = lines.start()
    return Edit(start, end)


def _one_line(
    text: SourceText,
    node: ast.ImportFrom,
    kept: Sequence[ast.alias],
    new: Sequence[str],
) -> Edit:
    """Write an import of one line again, in several if it has become too long."""
    names = [text.of(alias) for alias in kept]
    for name in new:
        names = _with_name(names, name)
    start, end = text.span(node)
    first = text.span(node.names[0])[0]
    head = text.data[start:first].decode().rstrip()
    line = f"{head} {', '.join(names)}"
    if node.col_offset + len(line) <= LINE_LENGTH or len(line) <= end - start:
        return Edit(start, end, line)
    indent = " " * node.col_offset
    inner = "".join(f"{indent}    {name},{text.newline}" for name in names)
    return Edit(start, end, f"{head} ({text.newline}{inner}{indent})")


def _into_lines(text: SourceText, names: Sequence[ast.alias], name: str) -> Edit:
    """Insert a name into an import of several lines."""
    place = _place_among([a.name for a in names], name)
    is_last = place == len(names)
    start, end = text.span(names[place - is_last])
    indent = _indentation(text, start)
    separator = f",{text.newline}{indent}" if indent is not None else ", "
    return (
        Edit(end, end, separator + name)
        if is_last
        else Edit(start, start, name + separator)
    )


def _indentation(text: SourceText, offset: int) -> str | None:
    """Return the indentation of a name that is the first of its line; None otherwise."""
    before = text.data[text.line_at(offset)[0] : offset].decode()
    return before if not before.strip() else None


def _with_name(names: Sequence[str], name: str) -> list[str]:
    place = _place_among([n.partition(" ")[0] for n in names], name)
    return [*names[:place], name, *names[place:]]


def _place_among(names: Sequence[str], name: str) -> int:
    """Return where a name goes; last if the others are not sorted.

    >>> _place_among(["Return", "sleep"], "multi")
    1
    """
    keys = [_order_of(n) for n in names]
    if keys != sorted(keys):
        return len(names)
    return sum(key < _order_of(name) for key in keys)


def _order_of(name: str) -> tuple[int, str, str]:
    """Return the key by which ruff sorts the members of an import."""
    is_constant = name.isupper() and len(name) > 1
    kind = 0 if is_constant else 1 if name[:1].isupper() else 2
    return kind, name.lower(), name


def _inserted(text: SourceText, tree: ast.Module, want: Wanted) -> Iterator[Edit]:
    """Yield the edit that inserts an import statement where ruff sorts it."""
    line = (
        f"from {want.module} import {want.name}"
        if want.name
        else f"import {want.module}"
    )
    key = _section_key(want.module, 0, bool(want.name))
    imports = _leading_imports(tree)
    later = [node for node in imports if _key_of(node) > key]
    if later:
        start = _lines_of(text, later[0])[0]
        is_apart = _key_of(later[0])[0] != key[0]
        blank = text.newline if is_apart and not _has_section(imports, key) else ""
        yield Edit(start, start, line + text.newline + blank)
    elif imports:
        _, end = _lines_of(text, imports[-1])
        is_apart = _key_of(imports[-1])[0] != key[0]
        blank = text.newline if is_apart else ""
        yield Edit(end, end, blank + line + text.newline)
    else:
        start = _start_of_code(text, tree)
        yield Edit(start, start, line + text.newline + text.newline)


def _leading_imports(tree: ast.Module) -> list[Any]:
    """Return the imports at the top of a module, behind its docstring."""
    found = []
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(node)
        elif found or not isinstance(node, ast.Expr):
            break
    return found


def _key_of(node: Any) -> tuple[int, bool, str]:
    if isinstance(node, ast.Import):
        return _section_key(node.names[0].name, 0, False)
    return _section_key(node.module or "", node.level, True)


def _section_key(module: str, level: int, is_from: bool) -> tuple[int, bool, str]:
    """Return the key by which ruff sorts import statements."""
    top = module.partition(".")[0]
    if level:
        section = 3
    elif top == "__future__":
        section = 0
    else:
        section = 1 if top in sys.stdlib_module_names else 2
    return section, is_from, module.lower()


def _has_section(imports: Sequence[Any], key: tuple[int, bool, str]) -> bool:
    return any(_key_of(node)[0] == key[0] for node in imports)


def _start_of_code(text: SourceText, tree: ast.Module) -> int:
    first = tree.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return _lines_of(text, first)[1]
    decorators = getattr(first, "decorator_list", None)
    return _lines_of(text, decorators[0] if decorators else first)[0]
