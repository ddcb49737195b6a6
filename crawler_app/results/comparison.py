"""Compares two crawls of a site: new, changed and vanished pages."""

from dataclasses import dataclass, field
from typing import Any

from crawler_app.frontier import Frontier
from crawler_app.models import UrlRecord
from crawler_app.progress import OnStep, in_steps, no_step
from crawler_app.reasons import CONTENT, RETRYABLE, AnyReason, Reason
from crawler_app.urls import dedup_key

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


def compare(before: Frontier, now: Frontier, on_step: OnStep = no_step) -> Comparison:
    """Compare a crawl with the previous one; memory grows with the pages of that one.

    URLs not fetched yet are left out.  If a page of the previous crawl could not be
    fetched, its links are unknown, so pages that were not met are not called vanished.
    """
    digest_by_key = {
        dedup_key(record.url): (record.url, record.outcome.digest)
        for record in before.records()
        if record.outcome is not None and record.outcome.reason in CONTENT
    }
    comparison = Comparison(was_whole=before.is_drained())
    records = in_steps("comparing", now.records(), on_step, now.total())
    for record in records:
        known = digest_by_key.pop(dedup_key(record.url), None)
        if record.outcome is None:
            continue
        if record.outcome.reason in CONTENT:
            _count(comparison, record, known and known[1])
        elif known is not None and record.outcome.reason in RETRYABLE:
            comparison.unreachable.append(record.url)
        elif known is not None:
            comparison.vanished.append(Vanished(record.url, record.outcome.reason))
    comparison.is_whole = now.is_drained() and not _has_unseen_pages(comparison)
    if comparison.is_whole:
        comparison.vanished += [
            Vanished(url, Reason.NO_LONGER_LINKED) for url, _ in digest_by_key.values()
        ]
    return comparison


def _has_unseen_pages(comparison: Comparison) -> bool:
    is_forbidden = any(page.reason == Reason.ROBOTS for page in comparison.vanished)
    return is_forbidden or bool(comparison.unreachable)


def _count(comparison: Comparison, record: UrlRecord, digest: str | None) -> None:
    assert record.outcome is not None
    if digest is None:
        comparison.new.append(record.url)
    elif digest == record.outcome.digest:
        comparison.unchanged += 1
    else:
        comparison.changed.append(record.url)
