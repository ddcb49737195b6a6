"""What is told: the changes of findings, as plain text and as data.

Pure.  Texts of sites are hostile input: they are shortened and escaped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from crawler_app.base.text.formatting import cut, number, time_of_day

__all__ = ["Event", "Notice", "event_line"]

# Of one kind at one site in one notice; the page has the others.
MAX_LISTED = 20
MAX_CHARS = 300

# The kinds of events, in the order in which they are told, with their headings.
HEADING_BY_KIND = {
    "blind": "Not checked",
    "first": "First check",
    "dead": "Broken now",
    "flapping": "Comes and goes; told again when it has not changed for a while",
    "mended": "Mended",
    "test": "Test",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something to tell.

    Attributes:
        id: Its number, in the order of time.
        site: The name of the site; empty for all.
        kind: A change, or "first", "blind" or "test".
        words: What is wrong.
        place: A page that refers to the target, with line and column.
        places: The number of references.
        since: When it was first seen; 0 if there is no such time.
    """

    id: int
    at: float
    site: str
    kind: str
    target: str = ""
    words: str = ""
    place: str = ""
    places: int = 0
    since: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def event_line(event: Event) -> str:
    """Return an event in one line.

    >>> event_line(Event(1, 0.0, "docs", "dead", "http://a.test/x", "404 Not Found", "http://a.test/:3:1", 2))
    'http://a.test/x: 404 Not Found (on http://a.test/:3:1 and 1 more place)'
    """
    if not event.target:
        return cut(event.words, MAX_CHARS)
    more = f" and {number(event.places - 1, 'more place')}" * (event.places > 1)
    where = f" (on {cut(event.place, MAX_CHARS)}{more})" if event.place else ""
    return f"{cut(event.target, MAX_CHARS)}: {cut(event.words, MAX_CHARS)}{where}"


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to one channel.

    Attributes:
        id: Stays the same if it is sent again.
        made_at: When it was made.
        events: What it tells.
        dead: The findings that are dead at the moment, for an issue.
    """

    id: str
    made_at: float
    events: Sequence[Event]
    dead: Sequence[Event] = field(default=())

    @property
    def subject(self) -> str:
        """What has happened, in a few words."""
        sites = sorted({event.site for event in self.events if event.site})
        counts = {
            kind: sum(event.kind == kind for event in self.events)
            for kind in HEADING_BY_KIND
        }
        words = {
            "dead": f"{counts['dead']:,} broken",
            "flapping": f"{counts['flapping']:,} unstable",
            "mended": f"{counts['mended']:,} mended",
            "first": "first check",
            "blind": "nothing can be reached",
            "test": "test",
        }
        what = ", ".join(words[kind] for kind in words if counts[kind])
        where = ", ".join(sites[:3]) + f" and {len(sites) - 3} more" * (len(sites) > 3)
        return f"{where}: {what}" if where else what

    def groups(self) -> Iterable[tuple[str, list[str]]]:
        """Yield the lines of the notice, below their headings."""
        keys = dict.fromkeys((event.site, event.kind) for event in self.events)
        order = list(HEADING_BY_KIND)
        for site, kind in sorted(keys, key=lambda key: (key[0], order.index(key[1]))):
            events = [e for e in self.events if (e.site, e.kind) == (site, kind)]
            lines = [event_line(each) for each in events[:MAX_LISTED]]
            if more := len(events) - len(lines):
                lines.append(f"and {more:,} more")
            heading = HEADING_BY_KIND[kind]
            yield f"{site}: {heading}" if site else heading, lines

    @property
    def text(self) -> str:
        """The notice as plain text."""
        parts = [
            "\n".join([heading, *(f"  {line}" for line in lines)])
            for heading, lines in self.groups()
        ]
        return "\n\n".join([*parts, f"As of {time_of_day(self.made_at)}"])
