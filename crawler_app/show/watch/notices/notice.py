"""What is told: the changes of findings, as plain text and as data.

Pure.  Texts of sites are hostile input: they are shortened and escaped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crawler_app.base.text.formatting import cut, number, time_of_day

__all__ = ["Event", "Notice", "Outgoing", "heading_of", "line_of"]

# Of one kind at one site in one notice; the page has the others.
MAX_LISTED = 20
MAX_CHARS = 300

# The kinds of events, in the order in which they are told: words for the subject, and the heading.
WORDS_BY_KIND = {
    "blind": ("not checked", "Not checked"),
    "dead": ("{} broken", "Broken now"),
    "flapping": ("{} unstable", "Comes and goes; told again once it has settled"),
    "mended": ("{} mended", "Mended"),
    "test": ("test", "Test"),
}


@dataclass(frozen=True)
class Event:
    """Something to tell.

    Attributes:
        id: Its number, in the order of time.
        at: When it was found.
        site: The name of the site; empty for a test.
        kind: "dead", "flapping", "mended", "blind" or "test".
        target: What is broken: a URL, or a host that does not answer.
        words: What is wrong.
        place: A page that refers to the target, with line and column.
        places: The number of references.
        since: When it began to fail; 0 if there is no such time.
        urls: The number of URLs that are broken, more than 1 only for a host.
        pages: The number of pages that refer to the host; 0 for a URL.
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
    urls: int = 1
    pages: int = 0


@dataclass
class Outgoing:
    """How far a channel has been told.

    Attributes:
        told: The last event that it was told.
        upto: The last one of the notice that is being told; not above `told` if there is none.
        made_at: When that notice was made.
        tries: The tries to send it; each is counted before it is made.
        next_try_at: When to try again.
        error: Why the last try failed; empty if it did not.
        memo: What the channel notes for itself.
    """

    told: int = 0
    upto: int = 0
    made_at: float = 0.0
    tries: int = 0
    next_try_at: float = 0.0
    error: str = ""
    memo: str = ""


def heading_of(kind: str) -> str:
    """Return the heading of the events of a kind."""
    return WORDS_BY_KIND[kind][1]


def line_of(event: Event) -> str:
    """Return an event in one line.

    >>> line_of(Event(1, 0.0, "docs", "dead", "http://a.test/x", "404 Not Found", "http://a.test/:3:1", 2))
    'http://a.test/x: 404 Not Found (on http://a.test/:3:1 and 1 more place)'
    """
    words, place = cut(event.words, MAX_CHARS), cut(event.place, MAX_CHARS)
    if not event.target:
        return words
    if event.kind == "mended":  # perhaps no page refers to it any longer
        return f"{cut(event.target, MAX_CHARS)}: {words}"
    where = f"on {place}" if place else ""
    if event.urls > 1:
        links, urls = number(event.places, "link"), number(event.urls, "URL")
        where = f"{links} to {urls} on {number(event.pages, 'page')}, such as {place}"
    elif event.places > 1:
        where += f" and {number(event.places - 1, 'more place')}"
    return f"{cut(event.target, MAX_CHARS)}: {words}" + f" ({where})" * bool(where)


@dataclass(frozen=True)
class Notice:
    """A message to one channel.

    Attributes:
        id: Stays the same if it is sent again.
        source: Identifies the watch and the channel; it cannot be known before the first notice.
        made_at: When it was made.
        events: What it tells.
        dead: The findings that are dead at the moment, for an issue.
    """

    id: str
    source: str
    made_at: float
    events: Sequence[Event]
    dead: Sequence[Event] = field(default=())

    @property
    def subject(self) -> str:
        """What has happened, in a few words."""
        sites = sorted({event.site for event in self.events if event.site})
        count_by_kind = dict.fromkeys(WORDS_BY_KIND, 0)
        for event in self.events:
            count_by_kind[event.kind] += event.urls
        what = ", ".join(
            WORDS_BY_KIND[kind][0].format(f"{count:,}")
            for kind, count in count_by_kind.items()
            if count
        )
        where = ", ".join(sites[:3]) + f" and {len(sites) - 3} more" * (len(sites) > 3)
        return f"{where}: {what}" if where else what

    def groups(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the lines of the notice, below their headings."""
        found: dict[tuple[str, str], list[Event]] = {}
        for event in self.events:
            found.setdefault((event.site, event.kind), []).append(event)
        order = list(WORDS_BY_KIND)
        for site, kind in sorted(found, key=lambda key: (key[0], order.index(key[1]))):
            events = found[site, kind]
            lines = [line_of(each) for each in events[:MAX_LISTED]]
            if more := len(events) - len(lines):
                lines.append(f"and {more:,} more")
            yield f"{site}: {heading_of(kind)}" if site else heading_of(kind), lines

    @property
    def text(self) -> str:
        """The notice as plain text."""
        parts = [
            "\n".join([heading, *(f"  {line}" for line in lines)])
            for heading, lines in self.groups()
        ]
        return "\n\n".join([*parts, f"As of {time_of_day(self.made_at)}"])
