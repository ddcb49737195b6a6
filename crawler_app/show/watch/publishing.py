"""What is published: a page with the history, and an Atom feed of what was told.

Rule: the page is one file without scripts, which loads nothing; its template escapes all text from
sites.
"""

import functools
import logging
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from tornado.template import Loader, Template

from crawler_app.base.safe_files import replace_text
from crawler_app.base.text.formatting import cut, iso_time, number, time_of_day
from crawler_app.show.watch.deciding import FAILED, MAX_RECENT, MENDED, SUSPECTED
from crawler_app.show.watch.memory import (
    MAX_EVENTS,
    Memory,
    Remembered,
    SiteMemory,
    event_of,
    groups_of,
)
from crawler_app.show.watch.watch_config import Watch

__all__ = ["feed_of", "publish", "render_history"]

logger = logging.getLogger(__name__)

# Of each site; about a kilobyte each.
MAX_FINDINGS = 300

HEIGHT = 60

# Of a text in the feed.
MAX_CHARS = 500


def publish(watch: Watch, memory: Memory, now: float) -> bool:
    """Write the page and the feed, if they are wanted; return whether that worked."""
    is_fine = True
    page = functools.partial(render_history, memory, [*watch.sites], now)
    feed = functools.partial(feed_of, memory)
    for path, text in ((watch.config.page, page), (watch.config.feed, feed)):
        try:
            if path:
                replace_text(Path(path), text())
        except OSError as exc:
            logger.warning("cannot write %s: %s", path, exc.strerror)
            is_fine = False
    return is_fine


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


def _rank(each: Remembered) -> tuple[bool, bool, float]:
    """Return the order: findings that were told, those that may be, and mended ones."""
    known = each.known
    return known.word == MENDED, known.word == SUSPECTED, -known.since


def _marks(each: Remembered) -> list[int]:
    """Return where the checks that failed are in the strip, whose right end is the newest."""
    recent = each.known.recent.rjust(MAX_RECENT)
    return [at for at, result in enumerate(recent) if result == FAILED]


def feed_of(memory: Memory) -> str:
    """Return a feed of the last events, the newest entry first."""
    feed = ElementTree.Element("feed", xmlns="http://www.w3.org/2005/Atom")
    # No channel has a slash in its name, so no id of a notice is published.
    _add(feed, "id", memory.own_id("/feed").urn)
    _add(feed, "title", "Broken links")
    _add(feed, "updated", iso_time(memory.events[-1].at if memory.events else 0.0))
    _add(_add(feed, "author"), "name", "gencrawl watch")
    for event in reversed(memory.events[-MAX_EVENTS:]):
        entry = _add(feed, "entry")
        _add(entry, "id", memory.own_id(f"/feed/{event.id}").urn)
        _add(
            entry, "title", f"{event.site}: {event.kind}: {event.target or event.line}"
        )
        _add(entry, "updated", iso_time(event.at))
        if event.target.startswith(("http://", "https://")):
            _add(entry, "link").set("href", cut(event.target, MAX_CHARS))
        _add(entry, "content", event.line)
    ElementTree.indent(feed)
    return ElementTree.tostring(feed, encoding="unicode", xml_declaration=True) + "\n"


def _add(
    parent: ElementTree.Element, name: str, text: str | None = None
) -> ElementTree.Element:
    made = ElementTree.SubElement(parent, name)
    # Escaped, since XML does not allow every character.
    made.text = None if text is None else cut(text, 2 * MAX_CHARS)
    return made
