"""What a watch remembers: what was found, what was decided, and what is told to whom.

Rule: all of it is one JSON file, which is replaced as a whole.  So what is decided and what is to be
told are there together or not at all, and others may read it at any time.
"""

import dataclasses
import json
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import replace_text
from crawler_app.run.directory.lock import not_writable
from crawler_app.show.watch.deciding import (
    DAY_S,
    MAX_RECENT,
    Known,
    Rule,
    State,
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

# If a site could not be checked for this time, that is told.
BLIND_S = 1.5 * DAY_S


@dataclass
class Run:
    """A check.

    Attributes:
        is_void: Whether it has found out nothing.
        caveat: Why it is incomplete; empty if it is not.
        urls: The URLs that were checked.
        broken: The findings that were told and not mended, after it.
    """

    at: float
    is_void: bool
    caveat: str
    urls: int
    broken: int


@dataclass
class Remembered:
    """A finding: how it was seen last, and what is known of it."""

    seen: Sighting
    first_at: float
    last_at: float
    known: Known = field(default_factory=Known)


@dataclass
class SiteMemory:
    """What is known of a site.

    Attributes:
        runs: The last checks, the oldest first.
        checked_at: The last check that has found out something, or the first one.
        is_blind: Whether it was told that it cannot be checked.
    """

    runs: list[Run] = field(default_factory=list)
    findings: list[Remembered] = field(default_factory=list)
    checked_at: float | None = None
    is_blind: bool = False

    @property
    def broken(self) -> list[Remembered]:
        """The findings that were told and not mended."""
        return [each for each in self.findings if each.known.state is not State.FINE]

    @property
    def suspected(self) -> list[Remembered]:
        """The findings that are told if they are there again."""
        return [each for each in self.findings if each.known.is_suspected]

    def add_run(self, run: Run) -> None:
        """Note a check."""
        self.runs = [*self.runs, run][-MAX_RECENT:]

    def forget(self, now: float) -> None:
        """Forget what has been fine for long."""
        over = [each for each in self.findings if each.known.is_over]
        over = sorted(over, key=lambda each: each.last_at)[-MAX_FINE:]
        self.findings = [each for each in self.findings if not each.known.is_over]
        self.findings += [each for each in over if now - each.last_at < KEPT_S]


class Memory:
    """The memory of a watch.

    Args:
        path: The file, which need not exist; None for none.

    Attributes:
        path: The file; None to save nothing.
        id: A random word that no other memory has.
        sites: By their names.
        events: What was told last, and what is not yet told to every channel.
        channels: How far each was told.

    Raises:
        ConfigError: the file is not a memory, or of another version.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.id = uuid.uuid4().hex
        self.last_event = 0
        self.sites: dict[str, SiteMemory] = {}
        self.events: list[Event] = []
        self.channels: dict[str, Outgoing] = {}
        if path is None or not path.exists():
            return
        try:
            self._read(json.loads(path.read_text(encoding="utf-8")))
        except OSError as exc:
            raise ConfigError(f"cannot read {path}: {exc.strerror}") from None
        except (ValueError, TypeError, LookupError, AttributeError) as exc:
            raise ConfigError(
                f"{path} is not a memory of this version of gencrawl watch: {exc}; use the "
                "version that wrote it, or move it away, and the next check is the first one"
            ) from None

    def _read(self, whole: dict[str, Any]) -> None:
        if whole["version"] != VERSION:
            raise ValueError(f"its version is {whole['version']!r}")
        self.id, self.last_event = uuid.UUID(whole["id"]).hex, int(whole["last_event"])
        self.events = [Event(**row) for row in whole["events"]]
        self.channels = {
            name: Outgoing(**row) for name, row in whole["channels"].items()
        }
        for name, row in whole["sites"].items():
            self.sites[name] = SiteMemory(
                [Run(**each) for each in row["runs"]],
                [_remembered(each) for each in row["findings"]],
                row["checked_at"],
                row["is_blind"],
            )

    def save(self) -> None:
        """Write the file.

        Raises:
            StorageError: the disk is full, or has failed.
        """
        if self.path is None:
            return
        whole = {"version": VERSION, **vars(self)}
        del whole["path"]
        try:
            replace_text(self.path, json.dumps(whole, default=vars))
        except OSError as exc:
            raise not_writable(self.path.parent, exc) from None

    def site(self, name: str) -> SiteMemory:
        """Return what is known of a site."""
        return self.sites.setdefault(name, SiteMemory())

    def note_void(self, name: str, at: float, why: str) -> None:
        """Note a check that has found out nothing; after a long time, tell so once."""
        site = self.site(name)
        if site.checked_at is None:
            site.checked_at = at
        lasts_s = at - site.checked_at
        if lasts_s >= BLIND_S and not site.is_blind:
            site.is_blind = True
            words = f"not checked for {lasts_s / DAY_S:.1f} days: {why}"
            self.tell([Event(0, at, name, "blind", words=words)])
        site.add_run(Run(at, True, why, 0, len(site.broken)))
        self.save()

    def note(
        self, name: str, look: Look, at: float, *, external: Rule, own: Rule
    ) -> list[Event]:
        """Note a check, decide what is to be told, and return that."""
        site = self.site(name)
        site.checked_at, site.is_blind = at, False
        seen_by_id = {_id_of(seen): seen for seen in look.sightings}
        new = seen_by_id.keys() - {_id_of(each.seen) for each in site.findings}
        site.findings += [
            Remembered(seen, at, at) for id, seen in seen_by_id.items() if id in new
        ]
        changed = []
        for each in site.findings:
            seen = seen_by_id.get(_id_of(each.seen))
            if seen is not None:
                each.seen, each.last_at = seen, at
            elif not all(look.is_fixed(tuple(key)) for key in each.seen.keys):
                continue
            rule = external if each.seen.kind == "external" else own
            before, each.known = each.known, decide(each.known, bool(seen), at, rule)
            if each.known.state is not before.state:
                changed.append(each)
        events = self.tell(_events_of(name, changed, at))
        site.add_run(Run(at, False, look.caveat, look.urls, len(site.broken)))
        site.forget(at)
        self.save()
        return events

    def tell(self, events: Iterable[Event]) -> list[Event]:
        """Note something to tell; return it with its numbers."""
        first = self.last_event + 1
        told = [dataclasses.replace(e, id=id) for id, e in enumerate(events, first)]
        self.last_event += len(told)
        waiting = min((each.told for each in self.channels.values()), default=first)
        kept = self.events[-MAX_EVENTS:] + told
        older = self.events[:-MAX_EVENTS]
        self.events = [each for each in older if each.id > waiting] + kept
        return told

    def open_channels(self, names: Collection[str]) -> None:
        """Begin to tell new channels what happens from now on, and forget old ones."""
        self.channels = {
            name: self.channels.get(name) or Outgoing(told=self.last_event)
            for name in names
        }

    def dead(self, sites: Iterable[str]) -> list[Event]:
        """Return what is broken at some sites."""
        return [
            event
            for name in sites
            for event in _events_of(name, self.site(name).broken, 0.0)
        ]


def _id_of(seen: Sighting) -> tuple[str, str, str]:
    return seen.kind, seen.target, seen.detail


def _remembered(row: dict[str, Any]) -> Remembered:
    known = row["known"]
    return Remembered(
        Sighting(**row["seen"]),
        row["first_at"],
        row["last_at"],
        Known(**known | {"state": State(known["state"])}),
    )


def _events_of(site: str, found: Iterable[Remembered], at: float) -> list[Event]:
    return [event_of(site, group, at) for group in groups_of(found)]


def groups_of(found: Iterable[Remembered]) -> list[list[Remembered]]:
    """Return findings one by one, but those of a host that does not answer together."""
    groups: dict[object, list[Remembered]] = {}
    for each in found:
        seen, known = each.seen, each.known
        of_host = seen.host, seen.words, known.state, known.is_over
        groups.setdefault(of_host if seen.host else _id_of(seen), []).append(each)
    return list(groups.values())


def event_of(site: str, group: Sequence[Remembered], at: float) -> Event:
    """Return what is to be told of a group."""
    first = group[0]
    words, kind = first.seen.words, str(first.known.state)
    if first.known.is_over:
        kind = "mended"
        words = f"works again, or is no longer referred to (was: {words})"
    is_host = len(group) > 1
    seen, places = first.seen, sum(each.seen.places for each in group)
    return Event(
        id=0,
        at=at,
        site=site,
        kind=kind,
        target=seen.host if is_host else seen.target,
        words=words,
        place=seen.place,
        places=places,
        since=first.known.failing_since,
        urls=len(group),
        pages=min(seen.host_pages, places) if is_host else 0,
    )
