"""What a watch remembers: what was found, what was decided, and what is told to whom.

Rule: all of it is one JSON file, which is replaced as a whole.  So what is decided and what is to be
told are there together or not at all, and others may read it at any time.
"""

import dataclasses
import json
import uuid
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from crawler_app.base.errors import ConfigError
from crawler_app.base.plain_values import from_plain
from crawler_app.base.safe_files import replace_text
from crawler_app.base.text.formatting import cut, number
from crawler_app.run.directory.lock import not_writable
from crawler_app.show.findings.grouping import MAX_FIRST
from crawler_app.show.watch.deciding import (
    DAY_S,
    MAX_RECENT,
    MENDED,
    SUSPECTED,
    Known,
    Rule,
    Told,
    decide,
)
from crawler_app.show.watch.looking import Look, Sighting
from crawler_app.show.watch.notices.notice import Event, Outgoing

__all__ = ["Memory", "Remembered", "Run", "SiteMemory", "event_of", "groups_of"]

VERSION = 1

# Findings that are fine again are forgotten after this time.
KEPT_S = 90 * DAY_S
# At most, of a site; a hostile one has new ones in each check.
MAX_FINE = 20_000
# Of those that every channel was told, for the feed.
MAX_EVENTS = 100
# Of each part of a line.
MAX_CHARS = 300


@dataclass
class Run:
    """A check.

    Attributes:
        caveat: That it is incomplete, or has found out nothing, and why; empty if neither.
        urls: The URLs that were checked.
        broken: The findings that were told and not mended, after it.
    """

    at: float
    caveat: str
    urls: int
    broken: int


@dataclass
class Remembered:
    """A finding: how it was seen last, and what is known of it."""

    seen: Sighting
    first_at: float
    known: Known = field(default_factory=Known)


@dataclass
class SiteMemory:
    """What is known of a site.

    Attributes:
        runs: The last checks, the oldest first.
    """

    runs: list[Run] = field(default_factory=list)
    findings: list[Remembered] = field(default_factory=list)

    @property
    def broken(self) -> list[Remembered]:
        """The findings that were told and not mended."""
        return [each for each in self.findings if each.known.state is not Told.FINE]

    @property
    def suspected(self) -> list[Remembered]:
        """The findings that are told if they are there again."""
        return [each for each in self.findings if each.known.word == SUSPECTED]

    def forget(self, now: float) -> None:
        """Forget what has been mended for long."""
        by_end = sorted(self.findings, key=lambda each: each.known.since)
        over = [each for each in by_end if each.known.word == MENDED]
        self.findings = [each for each in self.findings if each.known.word != MENDED]
        self.findings += [e for e in over[-MAX_FINE:] if now - e.known.since < KEPT_S]
        self.runs = self.runs[-MAX_RECENT:]


@dataclass
class Memory:
    """The memory of a watch.

    Attributes:
        path: The file; empty to save nothing.
        id: A random word that no other memory has.
        sites: By their names.
        events: What was told last, and what is not yet told to every channel.
        channels: How far each was told.
    """

    path: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    sites: dict[str, SiteMemory] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    channels: dict[str, Outgoing] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read a file, which need not exist.

        Raises:
            ConfigError: the file is not a memory, or of another version.
        """
        if not path.exists():
            return cls(str(path))
        try:
            whole = json.loads(path.read_text(encoding="utf-8"))
            if (version := whole.pop("version")) != VERSION:
                raise ValueError(f"its version is {version!r}")
            made: Self = from_plain(cls, whole | {"path": str(path)})
            return made
        except OSError as exc:
            raise ConfigError(f"cannot read {path}: {exc.strerror}") from None
        except (ValueError, TypeError, LookupError, AttributeError) as exc:
            raise ConfigError(
                f"{path} is not a memory of this version of gencrawl watch: {exc}; use the "
                "version that wrote it, or move it away, and the next check is the first one"
            ) from None

    def save(self) -> None:
        """Write the file.

        Raises:
            StorageError: the disk is full, or has failed.
        """
        whole = {"version": VERSION, **vars(self)}
        if not (path := whole.pop("path")):
            return
        try:
            replace_text(Path(path), json.dumps(whole, default=vars))
        except OSError as exc:
            raise not_writable(Path(path).parent, exc) from None

    @property
    def last_event(self) -> int:
        """The number of the last event; 0 if there is none."""
        return self.events[-1].id if self.events else 0

    def own_id(self, name: str) -> uuid.UUID:
        """Return an id that no other memory has, and from which no other one follows."""
        return uuid.uuid5(uuid.NAMESPACE_OID, f"{self.id}/{name}")

    def site(self, name: str) -> SiteMemory:
        """Return what is known of a site."""
        return self.sites.setdefault(name, SiteMemory())

    def note(
        self, name: str, look: Look, at: float, rule_of: Callable[[str], Rule]
    ) -> list[Event]:
        """Note a check, decide what is to be told, and return that.

        Args:
            rule_of: Returns when a finding of a kind is broken.
        """
        site = self.site(name)
        seen_by_id = {seen.id: seen for seen in look.sightings}
        known = {each.seen.id for each in site.findings}
        site.findings += [
            Remembered(seen, at) for id, seen in seen_by_id.items() if id not in known
        ]
        changed = []
        for each in site.findings:
            last, seen = each.seen, seen_by_id.get(each.seen.id)
            if seen is not None:
                each.seen = seen
            elif not all(
                look.is_fixed((last.kind, page, "", last.target, ""))
                for page in last.pages
            ):
                continue
            before, rule = each.known, rule_of(last.kind)
            each.known = decide(before, seen is not None, at, rule)
            if each.known.state is not before.state:
                changed.append(each)
        events = self._tell(event_of(name, group, at) for group in groups_of(changed))
        site.runs.append(Run(at, look.caveat, look.urls, len(site.broken)))
        site.forget(at)
        self.save()
        return events

    def _tell(self, events: Iterable[Event]) -> list[Event]:
        """Note something to tell; return it with its numbers."""
        first = self.last_event + 1
        new = [dataclasses.replace(e, id=id) for id, e in enumerate(events, first)]
        untold = [each.told for each in self.channels.values()]
        self.events += new
        oldest = min([*untold, self.last_event - MAX_EVENTS])
        self.events = [each for each in self.events if each.id > oldest]
        return new

    def open_channels(self, names: Collection[str]) -> None:
        """Begin to tell new channels what happens from now on, and forget old ones."""
        last = self.last_event
        self.channels = {
            name: self.channels.get(name) or Outgoing(last, last) for name in names
        }

    def broken(self, sites: Iterable[str]) -> list[Event]:
        """Return what is broken at some sites."""
        return [
            event_of(name, group)
            for name in sites
            for group in groups_of(self.site(name).broken)
        ]


def groups_of(found: Iterable[Remembered]) -> list[list[Remembered]]:
    """Return findings one by one, but those of one cause together if they are many."""
    groups: dict[object, list[Remembered]] = {}
    for each in found:
        seen = each.seen
        of_cause = seen.kind, seen.cause, seen.words, each.known.word
        groups.setdefault(of_cause if seen.cause else seen.id, []).append(each)
    return [
        part
        for group in groups.values()
        for part in ([group] if len(group) > MAX_FIRST else [[each] for each in group])
    ]


def event_of(site: str, group: list[Remembered], at: float = 0.0) -> Event:
    """Return what is to be told of a group.

    Texts of sites are hostile input: in the line they are shortened and escaped.
    """
    known, seen = group[0].known, group[0].seen
    target = seen.cause if len(group) > 1 else seen.target
    words = cut(seen.words, MAX_CHARS)
    if known.word == MENDED:  # perhaps no page refers to it any longer
        urls = f"{len(group):,} URLs work again, or are"
        which = urls if len(group) > 1 else "works again, or is"
        words = f"{which} no longer referred to (was: {words})"
    elif seen.place:
        words += f" ({_where(group)})"
    line = f"{cut(target, MAX_CHARS)}: {words}" if target else words
    return Event(0, at, site, known.word, target, line, known.failing_since, len(group))


def _where(group: list[Remembered]) -> str:
    """Return where the references of a group are, in words."""
    place = f"on {cut(group[0].seen.place, MAX_CHARS)}"
    places = sum(each.seen.places for each in group)
    if len(group) > 1:
        urls = number(len(group), "URL")
        return f"{number(places, 'link')} to {urls}, such as {place}"
    return place + f" and {number(places - 1, 'more place')}" * (places > 1)
