"""What is told: the changes of findings, as plain text and as data.  Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from crawler_app.base.text.formatting import time_of_day

__all__ = ["Event", "Notice", "Outgoing"]

# Of one kind at one site in one notice; the page has the others.
MAX_LISTED = 20


@dataclass(frozen=True)
class Event:
    """Something to tell.

    Attributes:
        id: Its number, in the order of time.
        at: When it was found.
        site: The name of the site; empty for a test.
        kind: "broken", "flapping", "mended" or "test".
        target: What is broken: a URL, a host that does not answer, or a reference as written;
            empty for the site as a whole.
        line: The target, what is wrong, and where it is referred to, for people.
        since: When it began to fail.
        urls: The number of URLs that are broken for one cause.
    """

    id: int
    at: float
    site: str
    kind: str
    target: str
    line: str
    since: float = 0.0
    urls: int = 1

    @property
    def state(self) -> str:
        """What is to be said about since when it fails."""
        return f"{self.kind} since {time_of_day(self.since)}"


@dataclass
class Outgoing:
    """How far a channel has been told.

    Attributes:
        told: The last event that it was told.
        upto: The last one of the notice that is being told; the same if there is none.
        tries: The tries to send it; each is counted before it is made.
        next_try_at: When to try again.
        error: Why the last try failed; empty if it did not.
        memo: What the channel notes for itself.
    """

    told: int = 0
    upto: int = 0
    tries: int = 0
    next_try_at: float = 0.0
    error: str = ""
    memo: str = ""

    def end(self) -> None:
        """Note that the notice was told."""
        self.told = self.upto
        self.tries, self.next_try_at, self.error = 0, 0.0, ""


@dataclass(frozen=True)
class Notice:
    """A message to one channel.

    Attributes:
        id: Stays the same if it is sent again.
        source: Identifies the watch and the channel; it cannot be known before the first notice.
        events: What it tells.
        broken: Returns what is broken at the moment, for an issue.
        is_repeated: Whether it may have been sent before, by a process that was killed then.
    """

    id: str
    source: str
    events: Sequence[Event]
    broken: Callable[[], Sequence[Event]] = tuple
    is_repeated: bool = False

    @property
    def at(self) -> float:
        """When the last of it was found."""
        return max(event.at for event in self.events)

    @property
    def subject(self) -> str:
        """What has happened, in a few words."""
        sites = sorted({event.site for event in self.events if event.site})
        counts: Counter[str] = Counter()
        for event in self.events:
            counts[event.kind] += event.urls
        what = ", ".join(f"{n:,} {kind}" for kind, n in sorted(counts.items()))
        where = ", ".join(sites[:3]) + f" and {len(sites) - 3} more" * (len(sites) > 3)
        return f"{where}: {what}" if where else what

    def text(self, form: Callable[[str], str] = str) -> str:
        """Return the notice as plain text, or as Markdown.

        Args:
            form: Formats what sites have written.
        """
        parts = []
        by_group = attrgetter("site", "kind")
        for (site, kind), group in groupby(sorted(self.events, key=by_group), by_group):
            events = [*group]
            heading = f"{site}: {kind}" if site else kind
            if kind == "flapping":
                heading += "; told again when it has settled"
            lines = [heading, *(f"- {form(e.line)}" for e in events[:MAX_LISTED])]
            if (more := len(events) - MAX_LISTED) > 0:
                lines.append(f"- and {more:,} more")
            parts.append("\n".join(lines))
        return "\n\n".join([*parts, f"As of {time_of_day(self.at)}"])
