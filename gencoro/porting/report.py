"""Output formats of a conversion: diff, text, JSON and SARIF.

Pure.  Used by `gencoro.porting.command`.
"""

import collections
import difflib
import io
import json
import os
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from gencoro import __version__
from gencoro.compat.doctor.findings import counted
from gencoro.porting.conversion import Conversion
from gencoro.porting.coroutines import GEN_TEST
from gencoro.porting.decisions import Decision, Finding
from gencoro.porting.fixers import FIXERS, maybe_future
from gencoro.porting.reasons import LISTED, REASONS, Reason

__all__ = [
    "diff_of",
    "json_of",
    "of_left",
    "sarif_of",
    "sentence_of",
    "summary_of",
    "text_of_left",
    "text_of_listed",
]

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"

# How many places of one kind are shown in one file, unless all are requested.
FEW = 8


def diff_of(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return the changes of files as a unified diff."""
    return "".join(
        part
        for path in sorted(after)
        for part in _diff(path, before[path], after[path])
    )


def _diff(path: str, before: bytes, after: bytes) -> Iterator[str]:
    old, new = _lines(before), _lines(after)
    name = path.replace(os.sep, "/").lstrip("/")
    if " " in name:
        name += "\t"  # as git writes it, because patch takes the name to end at a space
    for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"):
        yield (
            line if line.endswith("\n") else (f"{line}\n\\ No newline at end of file\n")
        )


def _lines(source: bytes) -> list[str]:
    """Return the lines of a source with their ends, and its mark, as a diff needs them."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    text = source.decode("utf-8" if encoding == "utf-8-sig" else encoding)
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def sentence_of(finding: Finding) -> str:
    """Return what a finding says."""
    reason = _reason(finding)
    return reason.why.replace("{name}", _short(finding.text))


def _reason(finding: Finding) -> Reason:
    return (REASONS | LISTED)[finding.reason]


def _short(text: str, length: int = 60) -> str:
    """Return a text on one line, shortened if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= length else f"{text[: length - 3]}..."


def text_of_left(conversion: Conversion) -> str:
    """Return the functions that stay, each with the reason and the place of it."""
    return "".join(map(_line_of_left, conversion.left))


def _line_of_left(decision: Decision) -> str:
    function, first = decision.function, decision.stays[0]
    return (
        f"{function.module.path}:{function.line}: {function.name} stays: "
        f"{_reason(first).code} {sentence_of(first)} ({first.file}:{max(first.line, 1)}); "
        f"{_reason(first).advice}\n"
    )


def text_of_listed(conversion: Conversion, show_all: bool = False) -> str:
    """Return what a person should look at, by kind and file."""
    by_kind: dict[str, dict[str, list[Finding]]] = {}
    for finding in conversion.all_listed:
        in_file = by_kind.setdefault(finding.reason, {}).setdefault(finding.file, [])
        in_file.append(finding)
    lines = ["Look at these, which names alone cannot decide:\n"] if by_kind else []
    for kind, by_file in by_kind.items():
        reason = LISTED[kind]
        lines.append(f"  {reason.code} {reason.title}; {reason.advice}\n")
        for found in by_file.values():
            names: dict[str, list[str]] = {}
            for f in found:
                place = f"{f.file}:{max(f.line, 1)}: {sentence_of(f)}"
                name = f.function.name if f.function is not None else ""
                names.setdefault(place, []).append(name)
            places = list(names)
            shown = places if show_all else places[:FEW]
            for place in shown:
                lines.append(f"    {place}{_in_parentheses(names[place])}\n")
            if len(shown) < len(places):
                lines.append(f"    and {len(places) - len(shown)} more in this file\n")
    return "".join(lines)


def _in_parentheses(names: list[str]) -> str:
    """Return the names of functions, or how many there are if they are many."""
    found = list(dict.fromkeys(filter(None, names)))
    if not found:
        return ""
    more = f" and {len(found) - 2} more" if len(found) > 2 else ""
    return f" ({', '.join(found[:2])}{more})"


def summary_of(conversion: Conversion) -> str:
    """Return how many coroutines became a bare async def, and why the others stay."""
    tests = [d for d in conversion.decisions if d.coroutine.kind == GEN_TEST]
    others = [d for d in conversion.decisions if d not in tests]
    lines = [*_summary_of("coroutine", others), *_summary_of("test", tests)]
    lines = lines or ["no coroutines found\n"]
    end = f"{counted(len(conversion.sources), 'file')} changed"
    if conversion.fixes:
        end += f", {counted(len(conversion.fixes), 'other edit')}"
    listed = len({(f.reason, f.file, f.line, f.text) for f in conversion.all_listed})
    if listed:
        end += f"; {counted(listed, 'place')} to look at"
    lines.append(end + "\n")
    if conversion.engines:
        lines.append(
            f"{counted(conversion.engines, 'function')} in callback style (gen.engine): "
            "see `python -m gencoro doctor`\n"
        )
    return "".join(lines)


def _summary_of(noun: str, decisions: list[Decision]) -> Iterator[str]:
    total = len(decisions)
    if not total:
        return
    left = [d.stays[0] for d in decisions if d.stays]
    bare = total - len(left)
    share = f"{100 * bare // total} %"
    yield f"{counted(total, noun)}: {bare} bare async def ({share}), {len(left)} left\n"
    counts = collections.Counter(_reason(finding).title for finding in left)
    for title, count in counts.most_common():
        yield f"  {count:>5} {title}\n"


def json_of(before: Mapping[str, bytes], conversion: Conversion) -> str:
    """Return a conversion as JSON."""
    data = {
        "files": [
            {"file": path, "diff": diff_of(before, {path: conversion.sources[path]})}
            for path in sorted(conversion.sources)
        ],
        "bare": [_of_function(d) for d in conversion.converted],
        "left": [of_left(decision) for decision in conversion.left],
        "fixes": [
            {
                "file": fix.module.path,
                "line": fix.line,
                "code": fix.code,
                "function": fix.function_name or None,
            }
            for fix in conversion.fixes
        ],
        "listed": [_of_finding(f) for f in _unique(conversion.all_listed)],
        "engines": conversion.engines,
    }
    return json.dumps(data, indent=2) + "\n"


def _of_function(decision: Decision) -> dict[str, Any]:
    function = decision.function
    kind = decision.coroutine.kind.rpartition(".")[2]
    return {
        "file": function.module.path,
        "line": function.line,
        "function": function.name,
        "kind": kind,
    }


def of_left(decision: Decision) -> dict[str, Any]:
    """Return a function that stays, with the reasons, as JSON has it."""
    reasons = [_of_finding(finding) for finding in decision.stays]
    return _of_function(decision) | {"reasons": reasons}


def _of_finding(finding: Finding) -> dict[str, Any]:
    reason = _reason(finding)
    return {
        "code": reason.code,
        "reason": finding.reason,
        "why": sentence_of(finding),
        "advice": reason.advice,
        "file": finding.file,
        "line": max(finding.line, 1),
        "function": finding.function.name if finding.function is not None else None,
    }


def _unique(findings: Iterable[Finding]) -> list[Finding]:
    return list(dict.fromkeys(findings))


def sarif_of(conversion: Conversion) -> str:
    """Return converted and left code as SARIF 2.1.0.

    A result for a function that stays is where the function is, and has the place of the
    reason as a related location.
    """
    rules = [
        {"id": "GC201", "shortDescription": {"text": "a coroutine becomes async def"}},
        *({"id": f.code, "shortDescription": {"text": f.title}} for f in FIXERS),
        *(
            {
                "id": reason.code,
                "shortDescription": {"text": reason.title},
                "help": {"text": reason.advice},
            }
            for reason in (*REASONS.values(), *LISTED.values())
        ),
    ]
    titles = {f.code: f.title for f in FIXERS} | {maybe_future.CODE: maybe_future.TITLE}
    results = [
        *(
            _result(
                "GC201", "note", f"{f.name} becomes async def", f.module.path, f.line
            )
            for f in (decision.function for decision in conversion.converted)
        ),
        *(
            _result(fix.code, "note", titles[fix.code], fix.module.path, fix.line)
            for fix in conversion.fixes
        ),
        *(_of_left(d, finding) for d in conversion.left for finding in d.stays),
        *(
            _result(_reason(f).code, "note", _message(f), f.file, f.line)
            for f in _unique(conversion.all_listed)
        ),
    ]
    driver = {"name": "gencoro convert", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    data = {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}
    return json.dumps(data, indent=2) + "\n"


def _message(finding: Finding) -> str:
    return f"{sentence_of(finding)}; {_reason(finding).advice}"


def _of_left(decision: Decision, finding: Finding) -> dict[str, Any]:
    f = decision.function
    text = f"{f.name} stays: {_message(finding)}"
    result = _result(_reason(finding).code, "warning", text, f.module.path, f.line)
    place = {
        "physicalLocation": _physical(finding.file, finding.line),
        "message": {"text": sentence_of(finding)},
    }
    return result | {"relatedLocations": [place]}


def _result(code: str, level: str, text: str, file: str, line: int) -> dict[str, Any]:
    return {
        "ruleId": code,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": _physical(file, line)}],
    }


def _physical(file: str, line: int) -> dict[str, Any]:
    return {
        "artifactLocation": {"uri": _uri_of(file)},
        "region": {"startLine": max(line, 1)},
    }


def _uri_of(file: str) -> str:
    """Return a file as a reference of a URI, as SARIF has it."""
    uri = quote(file.replace(os.sep, "/"))
    return f"file://{uri}" if os.path.isabs(file) else uri
