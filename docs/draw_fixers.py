"""Draws the tables of ``docs/convert.rst``: reasons, what is listed, and the small edits.

``python docs/draw_fixers.py`` prints them.  Sphinx includes them.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gencoro.porting.fixers import FIXERS, maybe_future
from gencoro.porting.reasons import LISTED, REASONS, Reason

__all__ = ["draw_fixers", "draw_listed", "draw_reasons"]


def draw_fixers() -> str:
    """Return the small edits as a table."""
    rows = [(fixer.code, fixer.title) for fixer in FIXERS]
    rows.append((maybe_future.CODE, maybe_future.TITLE))
    return _table(("Code", "What it does"), sorted(rows), "20 80")


def draw_reasons() -> str:
    """Return the reasons for which coroutines stay, as a table."""
    return _of_reasons("Why it stays", REASONS.values())


def draw_listed() -> str:
    """Return what is listed, as a table."""
    return _of_reasons("What is there", LISTED.values())


def _of_reasons(title: str, reasons: Iterable[Reason]) -> str:
    rows = [
        (reason.code, _literal(_sentence(reason)), _literal(reason.advice))
        for reason in sorted(reasons, key=lambda reason: reason.code)
    ]
    return _table(("Code", title, "What to do"), rows, "12 48 40")


def _sentence(reason: Reason) -> str:
    return reason.why.replace("{name}", "...")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], widths: str) -> str:
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in (head, *rows):
        lines += [
            f"   {'*' if column == 0 else ' '} - {cell}"
            for column, cell in enumerate(row)
        ]
    return "\n".join(lines) + "\n"


def _literal(text: str) -> str:
    """Return a text with its code in double backquotes."""
    return text.replace("`", "``")


if __name__ == "__main__":
    print(draw_fixers())
    print(draw_reasons())
    print(draw_listed())
