"""Two crawls of one site: what is new, what has changed, and what has vanished."""

from dataclasses import dataclass, field
from typing import Any

from crawler_app.frontier import Frontier
from crawler_app.models import UrlRecord
from crawler_app.reasons import CONTENT, RETRYABLE, AnyReason, Reason
from crawler_app.urls import dedup_key

__all__ = ["Comparison", "Vanished", "compare"]


@dataclass(slots=True, frozen=True)
class Vanished:
    """A page that was there in the crawl before.

    Attributes:
        reason: How it ended this time, or that nothing leads there any more.
    """

    url: str
    reason: AnyReason


@dataclass(slots=True)
class Comparison:
    """A crawl beside the one before; pages and files are counted alike.

    Attributes:
        new: The URLs that were not there before.
        changed: Those whose content is another.
        unchanged: How many are as they were.
        vanished: Those that are not there any more.
        unreachable: Those of which nobody knows: the fault may pass.
        is_whole: Whether all was met that is there.
        was_whole: Whether the crawl before had come to its end.
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


def compare(before: Frontier, now: Frontier) -> Comparison:
    """Compare a crawl with the one before; memory grows with what was there before.

    What the crawl has not come to yet is left out; and if it could not see a page that was
    there before, nobody knows what that would have led to.
    """
    digest_by_key = {
        dedup_key(record.url): (record.url, record.outcome.digest)
        for record in before.records()
        if record.outcome is not None and record.outcome.reason in CONTENT
    }
    comparison = Comparison(was_whole=before.is_drained())
    for record in now.records():
        known = digest_by_key.pop(dedup_key(record.url), None)
        if record.outcome is None:
            continue
        if record.outcome.reason in CONTENT:
            _count(comparison, record, known and known[1])
        elif known is not None and record.outcome.reason in RETRYABLE:
            comparison.unreachable.append(record.url)
        elif known is not None:
            comparison.vanished.append(Vanished(record.url, record.outcome.reason))
    comparison.is_whole = now.is_drained() and not _is_blind(comparison)
    if comparison.is_whole:
        comparison.vanished += [
            Vanished(url, Reason.NO_LONGER_LINKED) for url, _ in digest_by_key.values()
        ]
    return comparison


def _is_blind(comparison: Comparison) -> bool:
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
