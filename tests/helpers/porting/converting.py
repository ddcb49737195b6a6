"""Converts sources in tests of the converter."""

import textwrap
from typing import Any

from gencoro.porting.conversion import Conversion, convert
from gencoro.porting.decisions import Options

__all__ = ["FILE", "HEAD", "convert_text", "converted", "listed", "reasons"]

# What a source of one module is called.
FILE = "m.py"

# What most sources begin with.
HEAD = "from tornado import gen\n\n"


def convert_text(
    *sources: str, files: dict[str, str] | None = None, **options: Any
) -> Conversion:
    """Convert a module, or several files, with some options."""
    texts = {FILE: "".join(map(textwrap.dedent, sources))} if sources else {}
    texts |= {path: textwrap.dedent(text) for path, text in (files or {}).items()}
    return convert({p: t.encode() for p, t in texts.items()}, Options(**options))


def converted(*sources: str, **options: Any) -> str:
    """Return a module after its conversion."""
    found = convert_text(*sources, **options)
    module = found.program.modules[FILE]
    return found.sources.get(FILE, module.source).decode()


def reasons(
    *sources: str, files: dict[str, str] | None = None, **options: Any
) -> dict[str, str]:
    """Return the first reason for each function that stays, by its name."""
    found = convert_text(*sources, files=files, **options)
    return {d.function.name: d.stays[0].reason for d in found.left}


def listed(
    *sources: str, files: dict[str, str] | None = None, **options: Any
) -> list[str]:
    """Return what is listed, as reasons with lines."""
    found = convert_text(*sources, files=files, **options)
    return [f"{f.reason}:{f.line}" for f in found.all_listed]
