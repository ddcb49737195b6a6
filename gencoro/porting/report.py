"""Output formats of a conversion: diff, text, JSON and SARIF.

Pure.  Used by `gencoro.porting.command`.
"""

import difflib
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from gencoro import __version__
from gencoro.porting.converting import Conversion
from gencoro.porting.fixers.to_async import TO_ASYNC
from gencoro.porting.fixers.to_coroutine import TO_COROUTINE
from gencoro.porting.reasons import REASONS

__all__ = ["diff_of", "json_of", "sarif_of", "summary_of", "text_of_refusals"]

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


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
    """Return the lines of a source with their ends, as a diff needs them."""
    text = source.decode(_encoding_of(source), errors="replace")
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _encoding_of(source: bytes) -> str:
    head = b"\n".join(source.split(b"\n", 2)[:2])
    found = re.search(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", head, re.MULTILINE)
    name = found[1].decode() if found is not None else "utf-8"
    try:
        "".encode(name)
    except LookupError:
        return "utf-8"
    return name


def text_of_refusals(conversion: Conversion) -> str:
    """Return the reasons for unconverted functions as text."""
    return "".join(
        f"{r.file}:{max(r.line, 1)}: {r.code} "
        f"{f'{r.function.name} stays: ' if r.function is not None else ''}"
        f"{r.why}; {r.advice}\n"
        for r in conversion.refusals
    )


def summary_of(conversion: Conversion) -> str:
    """Return a one-line summary of a conversion."""
    converted = len(
        {f.function.key for f in conversion.fixes if f.function is not None}
    )
    stays = len({r.function.key for r in conversion.refusals if r.function is not None})
    files = len(conversion.sources)
    text = f"{_counted(converted, 'function')} converted in {_counted(files, 'file')}"
    return f"{text}, {stays} left as {'it is' if stays == 1 else 'they are'}\n"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def json_of(before: Mapping[str, bytes], conversion: Conversion) -> str:
    """Return a conversion as JSON."""
    data = {
        "files": [
            {"file": path, "diff": diff_of(before, {path: conversion.sources[path]})}
            for path in sorted(conversion.sources)
        ],
        "fixes": [
            {
                "file": fix.module.path,
                "line": fix.line,
                "code": fix.code,
                "function": fix.function.name if fix.function is not None else None,
            }
            for fix in conversion.fixes
        ],
        "refusals": [
            {
                "file": r.file,
                "line": r.line,
                "code": r.code,
                "function": r.function.name if r.function is not None else None,
                "why": r.why,
                "advice": r.advice,
            }
            for r in conversion.refusals
        ],
    }
    return json.dumps(data, indent=2) + "\n"


def sarif_of(conversion: Conversion) -> str:
    """Return converted and refused code as SARIF 2.1.0."""
    titles = {fixer.code: fixer.title for fixer in (*TO_COROUTINE, *TO_ASYNC)}
    rules = [
        {"id": code, "shortDescription": {"text": title}}
        for code, title in titles.items()
    ] + [
        {"id": r.code, "shortDescription": {"text": r.why.replace("{name}", "...")}}
        for r in REASONS.values()
    ]
    results = [
        _result(fix.code, "note", titles[fix.code], fix.module.path, fix.line)
        for fix in conversion.fixes
    ] + [
        _result(r.code, "warning", f"{r.why}; {r.advice}", r.file, r.line)
        for r in conversion.refusals
    ]
    driver = {"name": "gencoro convert", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    data = {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}
    return json.dumps(data, indent=2) + "\n"


def _uri_of(file: str) -> str:
    """Return a file as a reference of a URI, as SARIF has it."""
    uri = quote(file.replace(os.sep, "/"))
    return f"file://{uri}" if os.path.isabs(file) else uri


def _result(code: str, level: str, text: str, file: str, line: int) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": _uri_of(file)},
        "region": {"startLine": max(line, 1)},
    }
    return {
        "ruleId": code,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }
