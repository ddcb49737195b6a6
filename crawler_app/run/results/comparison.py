"""Compares two crawls of a site: new, changed and vanished pages, and what is broken."""

from dataclasses import dataclass, field
from typing import Any

from crawler_app.base.models import State
from crawler_app.base.reasons import AnyReason, Reason, is_broken
from crawler_app.base.urls import dedup_key
from crawler_app.run.results.redirects import Redirects
from crawler_app.store.frontier import FrontierReader

__all__ = ["Comparison", "Vanished", "compare"]


@dataclass(slots=True, frozen=True)
class Vanished:
    """A page of the previous crawl that is gone.

    Attributes:
        reason: Its outcome this time, or `Reason.NO_LONGER_LINKED`.
    """

    url: str
    reason: AnyReason


@dataclass(slots=True)
class Comparison:
    """The differences between a crawl and the previous one; of pages and files alike.

    Attributes:
        new: URLs that were not there before.
        changed: URLs whose content has changed.
        unchanged: Number of URLs whose content is the same.
        vanished: URLs that are gone.
        unreachable: URLs that failed with an error that may pass: they may still exist.
        newly_broken: Broken URLs that were not broken in the previous crawl.
        still_broken: Those that were.
        fixed: What was broken in the previous crawl, and works or is no longer linked.
        is_whole: Whether this crawl has seen the whole site.
        was_whole: Whether the previous crawl had finished.
    """

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    vanished: list[Vanished] = field(default_factory=list)
    unreachable: list[str] = field(default_factory=list)
    newly_broken: list[str] = field(default_factory=list)
    still_broken: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    is_whole: bool = False
    was_whole: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, for ``status --json``."""
        return {
            "new": self.new,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "vanished": [{"url": v.url, "reason": v.reason} for v in self.vanished],
            "unreachable": self.unreachable,
            "newly_broken": self.newly_broken,
            "still_broken": self.still_broken,
            "fixed": self.fixed,
        }


def compare(frontier: FrontierReader) -> Comparison | None:
    """Compare a crawl with the previous one; None if there was none.

    URLs not fetched yet are left out.  If a page of the previous crawl could not be
    fetched, its links are unknown, so pages that were not met are not called vanished.
    """
    found = frontier.previous.differences()
    if found is None:
        return None
    vanished = [Vanished(url, reason) for url, reason in found.vanished]
    is_forbidden = any(page.reason == Reason.ROBOTS for page in vanished)
    is_whole = frontier.is_drained() and not (is_forbidden or found.unreachable)
    if is_whole:
        vanished += [
            Vanished(url, Reason.NO_LONGER_LINKED) for url in frontier.previous.unmet()
        ]
    return Comparison(
        found.new,
        found.changed,
        found.unchanged,
        vanished,
        found.unreachable,
        *_compare_broken(frontier, is_whole=is_whole),
        is_whole,
        found.was_whole,
    )


def _compare_broken(
    frontier: FrontierReader, *, is_whole: bool
) -> tuple[list[str], list[str], list[str]]:
    """Return what is newly broken, still broken, and fixed."""
    before = {dedup_key(url): url for url in frontier.previous.broken_before()}
    loops = Redirects(frontier.redirects()).loop_by_key.values()
    now = {dedup_key(url): loop[0] for loop in loops for url in loop}
    for record in frontier.records(State.FAILED):
        if record.outcome is not None and is_broken(record.outcome.reason):
            now[dedup_key(record.url)] = record.url

    def is_fixed(key: str) -> bool:
        record = frontier.find(key)
        return is_whole if record is None else record.state is State.DONE

    # The URLs of a loop are one broken thing.
    broken = dict.fromkeys(now.values())
    return (
        [url for url in broken if dedup_key(url) not in before],
        [url for url in broken if dedup_key(url) in before],
        [url for key, url in before.items() if key not in now and is_fixed(key)],
    )
