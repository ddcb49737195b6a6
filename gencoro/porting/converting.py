"""Runs the fixers over the sources of a program.

Rule: a function is converted whole or not at all, and only if all its fixers are selected;
what depends on a function that stays is decided again.

Pure: sources come and go as bytes.  Used by `gencoro.porting.command` and
`gencoro.porting.plan`.
"""

import ast
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gencoro.compat.doctor.parsing import parse
from gencoro.porting.callbacks.legacy import legacy_refusal
from gencoro.porting.callbacks.modernized_tests import modernized, modernized_tests
from gencoro.porting.callbacks.remaining import remaining_uses
from gencoro.porting.fixer import Fix, Fixer, Refusal
from gencoro.porting.fixers.to_async import TO_ASYNC
from gencoro.porting.fixers.to_async.unused_imports import UNUSED_IMPORTS
from gencoro.porting.fixers.to_coroutine import TO_COROUTINE
from gencoro.porting.fixers.to_coroutine.eras import TEST_ERAS
from gencoro.porting.program import Function, Program
from gencoro.porting.program.listed_names import listed_at
from gencoro.porting.reasons import REASONS, refusal
from gencoro.porting.selection import Selection
from gencoro.porting.source.rewriting import CannotRewrite, moved_line, rewrite

__all__ = ["CODES", "Conversion", "convert"]

_Key = tuple[str, int]

# The codes of all fixers.
CODES = frozenset(fixer.code for fixer in (*TO_COROUTINE, *TO_ASYNC))

# How often the fixers of callback-style code run: one may prepare another.
ROUNDS = 10


class Conversion(NamedTuple):
    """The result of a conversion.

    Attributes:
        sources: The sources that changed, by file.
        fixes: What was done, with the lines of the sources before.
        refusals: What was not, and why; also with those lines.
    """

    sources: dict[str, bytes]
    fixes: list[Fix]
    refusals: list[Refusal]

    def as_written(self, before: Mapping[str, bytes]) -> "Conversion":
        """Return it with refusals that have the lines of the sources after it."""
        after = {**before, **self.sources}
        return self._replace(refusals=_moved(self.refusals, before, after))


def convert(
    sources: Mapping[str, bytes],
    selection: Selection,
    unread: Mapping[str, str] | None = None,
) -> Conversion:
    """Convert the sources of a program.

    Args:
        sources: The source of each file.
        unread: Why other files could not be read, by file.
    """
    conversion = _convert(sources, selection, unread or {})
    if selection.has("GC117"):
        conversion.fixes.extend(_keep_eras(sources, conversion.sources))
    modern = modernized_tests(sources, conversion.sources)
    if not modern:
        return conversion
    frozen = selection.frozen | {refusal.file for refusal in modern}
    modern = _moved(modern, {**sources, **conversion.sources}, sources)
    conversion = convert(sources, selection._replace(frozen=frozen), unread)
    refusals = sorted([*conversion.refusals, *modern], key=lambda r: r[:3])
    return conversion._replace(refusals=refusals)


def _convert(
    sources: Mapping[str, bytes], selection: Selection, unread: Mapping[str, str]
) -> Conversion:
    now, fixes, refusals = _to_coroutine(sources, selection)
    stage = dict(now)
    if selection.target == "async":
        done = _run(now, TO_ASYNC, selection)
        imports = _drop_imports(now, done.sources) if selection.has("GC211") else []
        fixes += [*done.fixes, *imports]
        refusals += done.refusals
        now.update(done.sources)
    fixes = [_at_origin(fix, sources) for fix in fixes]
    refusals = _moved(refusals, stage, sources)
    unparsed = Program(sources).unreadable
    refusals += [_unreadable("unreadable", *found) for found in unparsed]
    refusals += [_unreadable("unread", file, 0, why) for file, why in unread.items()]
    changed = {path: now[path] for path in now if now[path] != sources[path]}
    unique = list(dict.fromkeys(refusals))
    return Conversion(changed, fixes, sorted(unique, key=lambda r: r[:3]))


def _moved(
    refusals: Iterable[Refusal], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> list[Refusal]:
    """Return refusals with the lines of other versions of the sources."""
    return [
        r._replace(line=moved_line(r.line, before[r.file], after[r.file]))
        if r.file in before
        else r
        for r in refusals
    ]


def _at_origin(fix: Fix, sources: Mapping[str, bytes]) -> Fix:
    module = fix.module
    return fix._replace(line=moved_line(fix.line, module.source, sources[module.path]))


def _to_coroutine(
    sources: Mapping[str, bytes], selection: Selection
) -> tuple[dict[str, bytes], list[Fix], list[Refusal]]:
    """Run the fixers of callback-style code, until none of them changes anything."""
    now = dict(sources)
    fixes: list[Fix] = []
    refusals: list[Refusal] = []
    for _ in range(ROUNDS):
        before = dict(now)
        refusals = []
        for fixer in TO_COROUTINE:
            done = _run(now, [fixer], selection)
            fixes += done.fixes
            refusals += done.refusals
            now.update(done.sources)
        if now == before:
            break
    program = _program(tuple(now.items()), frozenset())
    remaining = remaining_uses(program, refusals)
    refusals += [r for r in remaining if _is_asked_for(r, program, selection)]
    return now, fixes, refusals


def _is_asked_for(refusal: Refusal, program: Program, selection: Selection) -> bool:
    """Return whether a refusal is in a selected function or module."""
    module = program.modules[refusal.file]
    names = [f.name for f in module.functions if refusal.line in _lines_of(f)]
    return any(selection.is_selected(module, name) for name in names or [""])


def _lines_of(function: Function) -> range:
    """Return the lines of a function, with its decorators."""
    node = function.node
    lines = [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
    return range(min(lines), (node.end_lineno or node.lineno) + 1)


def _run(
    sources: Mapping[str, bytes], fixers: Sequence[Fixer], selection: Selection
) -> Conversion:
    """Run fixers that belong together, until no further function has to stay."""
    state = tuple(sources.items())
    functions = _program(state, frozenset()).functions
    kept: dict[_Key, list[Refusal]] = {
        f.key: [] for f in functions if not selection.allows(f)
    }
    while True:
        # Only what becomes async depends on what stays.
        stays = frozenset(kept) if fixers is TO_ASYNC else frozenset()
        program = _program(state, stays)
        found = _found(program, tuple(fixers))
        fixes = [
            x
            for x in found
            if isinstance(x, Fix) and _key(x) not in kept
            if x.function is not None or selection.allows_change(x)
        ]
        refusals = [x for x in found if isinstance(x, Refusal) and _key(x) not in kept]
        if fixers is not TO_ASYNC:  # which decides that by itself
            listed = [r for fix in fixes if (r := _in_listed_module(program, fix))]
            fixes = [
                f for f in fixes if f.function or not _in_listed_module(program, f)
            ]
            refusals += listed
        changed: dict[str, bytes] = {}
        unchanged: list[Refusal] = []
        new = _refused(fixes, refusals, selection)
        if not new:
            fixes = [fix for fix in fixes if selection.has(fix.code)]
            changed, new, unchanged = _rewrite(sources, fixes)
        if not new:
            fixes = [fix for fix in fixes if fix.module.path in changed]
            refusals += unchanged
            refusals += [r for reasons in kept.values() for r in reasons]
            return Conversion(changed, fixes, refusals)
        kept.update(new)


def _in_listed_module(program: Program, fix: Fix) -> Refusal | None:
    """Return the refusal of a fix that adds names to a module whose names are listed."""
    adds_names = any(change.imports or change.helpers for change in fix.changes)
    place = listed_at(fix.module, program, ignores_filtered=False) if adds_names else ""
    if not place:
        return None
    node = fix.changes[0].node
    return legacy_refusal(fix.module, node, "names-listed", place, fix.function)


def _drop_imports(before: Mapping[str, bytes], changed: dict[str, bytes]) -> list[Fix]:
    """Drop the imports that a conversion has left without a use, from changed sources."""
    used = {path: _names_in(before[path]) for path in changed}
    found = UNUSED_IMPORTS.find(Program({**before, **changed}, (), used))
    fixes = [fix for fix in found if isinstance(fix, Fix)]
    done, _, _ = _rewrite(changed, fixes)
    changed.update(done)
    return fixes


def _keep_eras(before: Mapping[str, bytes], changed: dict[str, bytes]) -> list[Fix]:
    """Write into changed sources for which Tornado their tests were, where it is needed."""
    eras = modernized(before, changed)
    legacy = [path for path, was_legacy in eras.items() if was_legacy]
    if not legacy:
        return []
    program = Program({**before, **changed}, legacy_before=legacy)
    fixes = [fix for fix in TEST_ERAS.find(program) if isinstance(fix, Fix)]
    done, _, _ = _rewrite(changed, fixes)
    changed.update(done)
    return [_at_origin(fix, before) for fix in fixes if fix.module.path in done]


def _names_in(source: bytes) -> frozenset[str]:
    nodes = ast.walk(parse(source))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


@functools.lru_cache(maxsize=1)
def _program(sources: tuple[tuple[str, bytes], ...], kept: frozenset[_Key]) -> Program:
    """Return a program; a fixer that changes nothing leaves it to the next."""
    return Program(dict(sources), kept)


@functools.lru_cache(maxsize=1)
def _found(program: Program, fixers: tuple[Fixer, ...]) -> list[Fix | Refusal]:
    return [x for fixer in fixers for x in fixer.find(program)]


def _key(found: Fix | Refusal) -> _Key | None:
    return found.function.key if found.function is not None else None


def _refused(
    fixes: Iterable[Fix], refusals: Iterable[Refusal], selection: Selection
) -> dict[_Key, list[Refusal]]:
    """Return the functions with fixes that have to stay, and why."""
    reasons: dict[_Key, list[Refusal]] = {}
    for found in refusals:
        if found.function is not None:
            reasons.setdefault(found.function.key, []).append(found)
    new: dict[_Key, list[Refusal]] = {}
    for fix in fixes:
        if fix.function is None:
            continue
        key = fix.function.key
        if key in reasons:
            new[key] = reasons[key]
        elif fix.module.path in selection.frozen:
            new[key] = [refusal(fix.function, "used-in-test", None, fix.module.path)]
        elif not selection.has(fix.code):
            new.setdefault(key, []).append(
                refusal(fix.function, "skipped", None, fix.code)
            )
    return new


def _rewrite(
    sources: Mapping[str, bytes], fixes: Iterable[Fix]
) -> tuple[dict[str, bytes], dict[_Key, list[Refusal]], list[Refusal]]:
    """Return the changed sources, and what cannot be changed.

    That is the functions of a file, for which all has to be decided again, or files.
    """
    by_path: dict[str, list[Fix]] = {}
    for fix in fixes:
        by_path.setdefault(fix.module.path, []).append(fix)
    changed: dict[str, bytes] = {}
    refused: list[Refusal] = []
    for path, group in by_path.items():
        try:
            changed[path] = rewrite(sources[path], group)
        except CannotRewrite as exc:
            functions = {fix.function for fix in group if fix.function is not None}
            why = str(exc)
            if functions:
                return (
                    {},
                    {f.key: [refusal(f, "rewriting", None, why)] for f in functions},
                    [],
                )
            refused.append(_unreadable("rewriting", path, group[0].line, why))
    return changed, {}, refused


def _unreadable(key: str, file: str, line: int, name: str) -> Refusal:
    reason = REASONS[key]
    why = reason.why.replace("{name}", name)
    return Refusal(file, line, reason.code, why, reason.advice)
