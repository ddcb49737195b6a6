"""The page with the history: a small chart of each site, and a strip of each finding.

Rule: one file without scripts, which loads nothing; the template escapes all text from sites.
"""

import functools
from collections.abc import Sequence
from pathlib import Path

from tornado.template import Loader, Template

from crawler_app.base.text.formatting import number, time_of_day
from crawler_app.show.watch.deciding import FAILED, MAX_RECENT, MENDED, SUSPECTED
from crawler_app.show.watch.memory import (
    Memory,
    Remembered,
    SiteMemory,
    event_of,
    groups_of,
)

__all__ = ["render_history"]

# Of each site; about a kilobyte each.
MAX_FINDINGS = 300

HEIGHT = 60


def render_history(memory: Memory, sites: Sequence[str], now: float) -> str:
    """Return the page as HTML."""
    made: bytes = _template().generate(
        sites=[(name, memory.site(name)) for name in sites],
        width=MAX_RECENT,
        height=HEIGHT,
        made=time_of_day(now),
        most=MAX_FINDINGS,
        headline=_headline,
        points=_points,
        groups_of=lambda site: groups_of(sorted(site.findings, key=_rank)),
        marks=_marks,
        line=lambda group: event_of("", group).line,
        time_of_day=time_of_day,
        number=number,
    )
    return made.decode()


@functools.cache
def _template() -> Template:
    return Loader(str(Path(__file__).parent)).load("history.html")


def _headline(site: SiteMemory) -> str:
    if not site.runs:
        return "not checked yet"
    return number(len(site.broken), "finding") if site.broken else "in order"


def _points(site: SiteMemory) -> str:
    """Return the points of the chart: the number of findings after each check."""
    most = max((run.broken for run in site.runs), default=0) or 1
    first = MAX_RECENT - len(site.runs)
    return " ".join(
        f"{first + at},{HEIGHT - 2 - (HEIGHT - 4) * run.broken / most:.1f}"
        for at, run in enumerate(site.runs)
    )


def _rank(each: Remembered) -> tuple[int, float]:
    """Return the order: findings that were told, those that may be, and mended ones."""
    last = (SUSPECTED, MENDED)
    rank = last.index(each.known.word) if each.known.word in last else -1
    return rank, -each.known.since


def _marks(each: Remembered) -> list[int]:
    """Return where the checks that failed are in the strip, whose right end is the newest."""
    recent = each.known.recent.rjust(MAX_RECENT)
    return [at for at, result in enumerate(recent) if result == FAILED]
