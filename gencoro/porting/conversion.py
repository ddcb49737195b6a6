"""Converts the sources of a program.

Pure: sources come as bytes, and go as bytes.  Used by `gencoro.porting.command`,
`gencoro.porting.report` and `gencoro.porting.interactive`.
"""

import ast
import difflib
import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from gencoro.compat.doctor.eras import MARK, is_of_tornado_5
from gencoro.compat.doctor.program import Function, Module, Program
from gencoro.compat.doctor.text import Edit, SourceText, apply
from gencoro.evidence import Evidence
from gencoro.porting.decisions import Decision, Decisions, Finding, Options
from gencoro.porting.fixers import FIXERS, Fix
from gencoro.porting.fixers.maybe_future import unwrapping
from gencoro.porting.imports import Names, NameTaken, names_used, tidy
from gencoro.porting.rewriting import edits_of

__all__ = ["Conversion", "convert"]


class Conversion(NamedTuple):
    """What becomes of a program.

    Attributes:
        program: The program as it was.
        sources: The new sources of the files that change.
        decisions: What becomes of each coroutine.
        fixes: The other edits.
        listed: What a person should look at, besides what the decisions list.
        engines: How many functions in callback style there are.
    """

    program: Program
    sources: dict[str, bytes]
    decisions: list[Decision]
    fixes: list[Fix]
    listed: list[Finding]
    engines: int

    def as_written(self) -> "Conversion":
        """Return the same with places as they are in the new sources."""

        def moved(finding: Finding) -> Finding:
            module = self.program.modules.get(finding.file)
            if module is None:
                return finding
            after = self.sources.get(finding.file, module.source)
            return finding._replace(line=_moved(finding.line, module.source, after))

        decisions = [
            d._replace(
                stays=list(map(moved, d.stays)), listed=list(map(moved, d.listed))
            )
            for d in self.decisions
        ]
        return self._replace(decisions=decisions, listed=list(map(moved, self.listed)))

    @property
    def converted(self) -> list[Decision]:
        """The decisions about coroutines that are converted."""
        return [d for d in self.decisions if not d.stays]

    @property
    def left(self) -> list[Decision]:
        """The decisions about coroutines that stay."""
        return [d for d in self.decisions if d.stays]

    @property
    def all_listed(self) -> list[Finding]:
        """Everything that a person should look at."""
        return [*(f for d in self.converted for f in d.listed), *self.listed]


def _moved(line: int, before: bytes, after: bytes) -> int:
    """Return where a line is in another version of its source."""
    for tag, start, end, first, last in _differences(before, after):
        if start < line <= end:
            place = line - start if tag == "equal" else min(line - start, last - first)
            return first + max(place, 1)
    return line


@functools.lru_cache(maxsize=64)
def _differences(
    before: bytes, after: bytes
) -> Sequence[tuple[str, int, int, int, int]]:
    old, new = before.splitlines(), after.splitlines()
    return difflib.SequenceMatcher(None, old, new).get_opcodes()


def convert(
    sources: Mapping[str, bytes],
    options: Options | None = None,
    evidence: Evidence | None = None,
    skipped: Collection[str] = (),
    is_wanted: Callable[[Decision, bytes], bool] | None = None,
) -> Conversion:
    """Convert the sources of a program.

    Args:
        skipped: The codes of fixers that are not used.
        is_wanted: Asks whether a coroutine is to be converted, which would lead to a source.
    """
    options = options or Options()
    program = Program(sources)
    deciding = Decisions(program, options, evidence)
    decisions = deciding.all()
    fixes = [
        fix
        for fixer in FIXERS
        if fixer.code not in skipped
        for fix in fixer.find(program)
        if options.is_selected(fix.module, fix.function_name)
    ]
    fixes += [unwrapping(*found) for found in deciding.unwrapped()]
    changed: dict[str, bytes] = {}
    final: list[Decision] = []
    for path, module in program.modules.items():
        own = [d for d in decisions if d.function.module is module]
        own_fixes = [fix for fix in fixes if fix.module is module]
        if not own and not own_fixes:
            continue
        result, own = _converted(program, module, own, own_fixes, is_wanted)
        final += own
        if result != module.source:
            changed[path] = result
    listed = list(deciding.listed())
    return Conversion(program, changed, final, fixes, listed, len(deciding.engines))


def _converted(
    program: Program,
    module: Module,
    decisions: list[Decision],
    fixes: list[Fix],
    is_wanted: Callable[[Decision, bytes], bool] | None,
) -> tuple[bytes, list[Decision]]:
    """Return a module's new source, and the decisions, some of which could not be kept."""
    chosen: list[Decision] = []
    made: dict[Function, list[Edit]] = {}
    names = Names(module)
    final = []
    for decision in decisions:
        if not decision.stays:
            decision = _with_edits(decision, names, made)
        if not decision.stays and is_wanted is not None:
            alone = _source_with(program, module, made[decision.function], names)
            if not is_wanted(decision, alone):
                decision = _kept(decision, "declined", "")
        if not decision.stays:
            chosen.append(decision)
        final.append(decision)
    edits = [edit for d in chosen for edit in made[d.function]]
    edits += [edit for fix in fixes for edit in fix.edits]
    try:
        return _source_with(program, module, edits, names), final
    except SyntaxError as exc:
        final = [d if d.stays else _kept(d, "rewriting", str(exc.msg)) for d in final]
        return module.source, final


def _with_edits(
    decision: Decision, names: Names, made: dict[Function, list[Edit]]
) -> Decision:
    try:
        edits = list(edits_of(decision.coroutine, decision.wrappers, names))
    except NameTaken as exc:
        return _kept(decision, "name-taken", str(exc))
    made[decision.function] = edits
    return decision


def _kept(decision: Decision, reason: str, text: str) -> Decision:
    function = decision.function
    finding = Finding(reason, function.module.path, function.line, text, function)
    return decision._replace(stays=[finding])


def _source_with(
    program: Program, module: Module, edits: list[Edit], names: Names
) -> bytes:
    """Return the source of a module after some edits, with the imports that it needs.

    Raises:
        SyntaxError: it would be invalid.
    """
    if not edits:
        return module.source
    data = apply(module.text, edits)
    tree = ast.parse(data)
    used = names_used(tree)
    unused = _names_before(module) - used - set(_names_taken(program, module))
    wanted = [w for w in names.wanted if (w.name or w.module) in used]
    keeps = module.path.endswith("__init__.py")
    result = tidy(module.text.encoded(data), unused, wanted, keeps)
    ast.parse(result)
    return _with_mark(module.source, result)


def _with_mark(before: bytes, after: bytes) -> bytes:
    """Add the comment for tests of Tornado 5 if nothing else shows any more that they are.

    With `gencoro.compat`, an error in a callback fails such tests.
    """
    if b"tornado.testing" not in before or not is_of_tornado_5(before):
        return after
    if is_of_tornado_5(after):
        return after
    text = SourceText(after)
    [first, *_] = ast.parse(text.data).body
    place = text.line_at(text.span(first)[0])[0]
    mark = f"{MARK}{text.newline}"
    return text.encoded(apply(text, [Edit(place, place, mark)]))


@functools.lru_cache(maxsize=2)
def _names_before(module: Module) -> frozenset[str]:
    return names_used(module.tree)


def _names_taken(program: Program, module: Module) -> Iterator[str]:
    """Yield the names that other modules may take from a module."""
    for other in program.modules.values():
        if other is module:
            continue
        for node in other.nodes:
            if isinstance(node, ast.ImportFrom):
                file = other.top.modules.file_of(
                    node.module or "", node.level, other.top.file
                )
                yield from [a.name for a in node.names if file == module.top.file]
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                things = other.things(node.value)
                yield from [node.attr for t in things if t.file == module.top.file]
