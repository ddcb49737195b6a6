"""Compares two crawls of a site: new, changed and vanished pages."""

from dataclasses import dataclass, field
from typing import Any

from crawler_app.frontier import FrontierReader
from crawler_app.reasons import AnyReason, Reason

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
        is_whole: Whether this crawl has seen the whole site.
        was_whole: Whether the previous crawl had finished.
    """

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    vanished: list[Vanished] = field(default_factory=list)
    unreachable: list[str] = field(default_factory=list)
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
        }


def compare(frontier: FrontierReader) -> Comparison | None:
    """Compare a crawl with the previous one; None if there was none.

    URLs not fetched yet are left out.  If a page of the previous crawl could not be
    fetched, its links are unknown, so pages that were not met are not called vanished.
    """
    found = frontier.differences()
    if found is None:
        return None
    vanished = [Vanished(url, reason) for url, reason in found.vanished]
    is_forbidden = any(page.reason == Reason.ROBOTS for page in vanished)
    is_whole = frontier.is_drained() and not (is_forbidden or found.unreachable)
    if is_whole:
        vanished += [Vanished(url, Reason.NO_LONGER_LINKED) for url in frontier.unmet()]
    return Comparison(
        found.new,
        found.changed,
        found.unchanged,
        vanished,
        found.unreachable,
        is_whole,
        found.was_whole,
    )
