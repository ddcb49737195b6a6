"""The page with the history: a small chart of each site, and a strip of each finding.

Rule: one file without scripts, which loads nothing; the template escapes all text from sites.
"""

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tornado.template import Loader, Template

from crawler_app.base.text.formatting import cut_middle, number, time_of_day
from crawler_app.show.watch.deciding import Known, State
from crawler_app.show.watch.memory_file import DAY_S, MemoryFile

__all__ = ["render_history"]

SHOWN_DAYS = 90
# Of each site; about 700 bytes each.
MAX_FINDINGS = 300
URL_CHARS = 120

# Of the chart of a site, and of the strip of a finding.
WIDTH, HEIGHT, STRIP_HEIGHT = 360, 60, 12

WORD_BY_STATE = {
    State.DEAD: "broken",
    State.FLAPPING: "comes and goes",
    State.FINE: "mended",
}


class _Mark(NamedTuple):
    """A rectangle."""

    x: float
    width: float


class _Row(NamedTuple):
    """A finding."""

    target: str
    words: str
    place: str
    state: str
    kind: str
    first_seen: str
    last_seen: str
    marks: list[_Mark]
    summary: str


class _Site(NamedTuple):
    """A site with its chart."""

    name: str
    headline: str
    checked: str
    line: str
    summary: str
    rows: list[_Row]
    more: int


def render_history(memory: MemoryFile, sites: Sequence[str], now: float) -> str:
    """Return the page as HTML."""
    made: bytes = _template().generate(
        sites=[_site(memory, name, now) for name in sites],
        days=SHOWN_DAYS,
        width=WIDTH,
        height=HEIGHT,
        strip_height=STRIP_HEIGHT,
        made=time_of_day(now),
    )
    return made.decode()


@functools.cache
def _template() -> Template:
    return Loader(str(Path(__file__).parent)).load("history.html")


def _site(memory: MemoryFile, name: str, now: float) -> _Site:
    since = now - SHOWN_DAYS * DAY_S
    runs = memory.runs(name, since)
    counts = memory.counts(name)
    known = counts["dead"] + counts["flapping"]
    rows = list(_rows(memory, name, since, now))
    last = runs[-1] if runs else None
    checked = "not checked yet"
    if last is not None:
        checked = f"Last check {time_of_day(last['at'])}: {last['urls']:,} URLs"
        checked += f"; incomplete: {last['caveat']}" if last["caveat"] else ""
    seen = [run for run in runs if not run["is_void"]]
    most = max((run["dead"] for run in seen), default=0)
    return _Site(
        name,
        number(known, "finding") if known else "In order",
        checked,
        " ".join(
            f"{_x(run['at'], since):.1f},{_y(run['dead'], most):.1f}" for run in seen
        ),
        f"{number(len(seen), 'check')} in {SHOWN_DAYS} days, at most "
        f"{number(most, 'finding')}, {known:,} now",
        rows,
        counts["total"] - len(rows),
    )


def _rows(memory: MemoryFile, site: str, since: float, now: float) -> Iterator[_Row]:
    for row in memory.findings(site, MAX_FINDINGS):
        state = State(row["state"])
        word = WORD_BY_STATE[state]
        if Known(state, "", row["failing_since"]).is_suspected:
            word = "to be seen again"
        spells = memory.spells(row["id"], since)
        yield _Row(
            cut_middle(row["target"], URL_CHARS),
            row["words"],
            cut_middle(row["place"], URL_CHARS),
            word,
            str(state),
            time_of_day(row["first_seen"]),
            time_of_day(row["last_seen"]),
            [_mark(began, ended, since, now) for began, ended in spells],
            f"{word}; broken {number(len(spells), 'time')} in {SHOWN_DAYS} days",
        )


def _mark(began_at: float, ended_at: float | None, since: float, now: float) -> _Mark:
    x = _x(began_at, since)
    # At least as wide as can be seen.
    return _Mark(x, max(_x(ended_at or now, since) - x, 1.5))


def _x(at: float, since: float) -> float:
    return max(at - since, 0.0) / (SHOWN_DAYS * DAY_S) * WIDTH


def _y(count: int, most: int) -> float:
    return HEIGHT - 2 - (HEIGHT - 4) * count / max(most, 1)
