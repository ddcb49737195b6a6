"""Draws the documentation of the fixers, from their examples, as reStructuredText.

``python docs/draw_fixers.py`` prints it.  Sphinx includes it in ``docs/convert.rst``.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gencoro.porting.fixer import Example, Fixer
from gencoro.porting.fixers.to_async import TO_ASYNC
from gencoro.porting.fixers.to_coroutine import TO_COROUTINE
from gencoro.porting.reasons import REASONS

__all__ = ["draw_fixers", "draw_reasons"]

TARGETS = (("coroutine", TO_COROUTINE), ("async", TO_ASYNC))


def draw_fixers() -> str:
    """Return a section for each fixer, with its examples."""
    lines = [
        line
        for target, fixers in TARGETS
        for fixer in fixers
        for line in _lines_of(fixer, target)
    ]
    return "\n".join(lines) + "\n"


def _lines_of(fixer: Fixer, target: str) -> Iterator[str]:
    heading = f"{fixer.code}: {fixer.title}"
    yield from (heading, "." * len(heading), "")
    yield from (f"With ``--to {target}``.  {fixer.why}", "")
    for example in fixer.examples:
        yield from _lines_of_example(example)


def _lines_of_example(example: Example) -> Iterator[str]:
    if example.refused:
        yield f"{example.about}: refused, with {example.refused}."
    elif example.before == example.after:
        yield f"{example.about}: left alone."
    else:
        yield f"{example.about}:"
    yield ""
    yield from _code(example.before)
    if example.after != example.before:
        yield from ("becomes", "", *_code(example.after))


def _code(source: str) -> Iterable[str]:
    body = [f"   {line}".rstrip() for line in source.splitlines()]
    return [".. code-block:: python", "", *body, ""]


def draw_reasons() -> str:
    """Return the reasons for which functions stay, as a table."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 12 48 40", ""]
    rows = [("Code", "Why it stays", "What to do")]
    rows += [
        (reason.code, reason.why.replace("{name}", "..."), reason.advice)
        for reason in sorted(REASONS.values(), key=lambda reason: reason.code)
    ]
    for code, why, advice in rows:
        lines += [
            f"   * - {code}",
            f"     - {_literal(why)}",
            f"     - {_literal(advice)}",
        ]
    return "\n".join(lines) + "\n"


def _literal(text: str) -> str:
    """Return a text with its code in double backquotes."""
    return text.replace("`", "``")


if __name__ == "__main__":
    print(draw_fixers())
    print(draw_reasons())
