"""What became of a crawl's URLs, in numbers and short lists, read from its frontier."""

import collections
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler_app.frontier import Frontier
from crawler_app.http_headers import is_html
from crawler_app.models import Outcome, State, UrlRecord
from crawler_app.progress import OnStep, in_steps, no_step
from crawler_app.reasons import CONTENT, AnyReason
from crawler_app.results.redirects import Redirects
from crawler_app.urls import dedup_key

__all__ = [
    "FINISHED",
    "RUNNING",
    "STOPPED",
    "Summary",
    "final_records",
    "is_page",
    "pages_of",
    "state_of",
    "summarize",
]

FINISHED = "finished"
RUNNING = "running"
STOPPED = "stopped"

# URLs in the list of the slowest.
SLOWEST = 3


@dataclass
class Summary:
    """A whole crawl in numbers, and what a person should look at.

    Attributes:
        count_by_state: How many URLs stand where.
        count_by_reason: Per state, how the URLs there ended.
        count_by_status: How many answers had which HTTP status.
        pages: HTML pages that were read.
        size_bytes: Of all bodies, after decompression.
        redirects: Where they lead.
        failures: Every URL that failed.
        slowest: The few URLs that took longest, slowest first.
        last_at: When the last URL was finished, in seconds of the epoch; None if none
            was.
    """

    count_by_state: dict[State, int] = field(default_factory=dict)
    count_by_reason: dict[State, collections.Counter[AnyReason]] = field(
        default_factory=dict
    )
    count_by_status: collections.Counter[int] = field(
        default_factory=collections.Counter
    )
    pages: int = 0
    size_bytes: int = 0
    redirects: Redirects = field(default_factory=lambda: Redirects({}))
    failures: list[UrlRecord] = field(default_factory=list)
    slowest: list[UrlRecord] = field(default_factory=list)
    last_at: float | None = None

    @property
    def left(self) -> int:
        """URLs still to fetch."""
        return self.count_by_state[State.QUEUED] + self.count_by_state[State.CLAIMED]

    @property
    def loops(self) -> list[list[str]]:
        """Redirects that lead back to themselves, each once, as a list of URLs."""
        return list(self.redirects.loop_by_key.values())

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as plain values, for ``status --json``."""
        return {
            "states": {str(state): n for state, n in self.count_by_state.items()},
            "reasons": {
                str(state): dict(counts)
                for state, counts in self.count_by_reason.items()
            },
            "statuses": {str(n): c for n, c in sorted(self.count_by_status.items())},
            "pages": self.pages,
            "bytes": self.size_bytes,
            "redirects": len(self.redirects),
            "redirect_loops": self.loops,
            "failures": [
                {"url": f.url, "via": f.via, "reason": f.outcome and f.outcome.reason}
                for f in self.failures
            ],
            "left": self.left,
            "last_at": self.last_at,
        }


def summarize(frontier: Frontier, on_step: OnStep = no_step) -> Summary:
    """Read the whole frontier once; memory grows with redirects and failures only."""
    summary = Summary(
        count_by_state={state: frontier.count(state) for state in State},
        count_by_reason={state: collections.Counter() for state in State},
    )
    target_by_url: dict[str, str] = {}
    records = frontier.records()
    for record in in_steps("reading URLs", records, on_step, frontier.total()):
        outcome = record.outcome
        if outcome is None:
            continue
        if record.finished_at is not None:
            summary.last_at = max(summary.last_at or 0.0, record.finished_at)
        summary.count_by_reason[record.state][outcome.reason] += 1
        if outcome.status is not None:
            summary.count_by_status[outcome.status] += 1
        summary.size_bytes += outcome.size_bytes
        summary.pages += is_page(outcome)
        if outcome.redirect_to and record.state is State.DONE:
            target_by_url[record.url] = outcome.redirect_to
        if record.state is State.FAILED:
            summary.failures.append(record)
        if outcome.took_s is not None:
            summary.slowest = _slowest(summary.slowest, record)
    summary.redirects = Redirects(target_by_url)
    return summary


def _slowest(slowest: list[UrlRecord], record: UrlRecord) -> list[UrlRecord]:
    def took_s(record: UrlRecord) -> float:
        return (record.outcome and record.outcome.took_s) or 0.0

    if len(slowest) == SLOWEST and took_s(record) <= took_s(slowest[-1]):
        return slowest
    return sorted([*slowest, record], key=took_s, reverse=True)[:SLOWEST]


def final_records(
    urls: Sequence[str], frontier: Frontier, summary: Summary
) -> list[UrlRecord | None]:
    """Return what became of URLs in the end, where their redirects led; None if unknown.

    In a redirect loop that is a URL of the loop.
    """
    end_by_key = summary.redirects.end_by_key
    keys = map(dedup_key, urls)
    final_keys = [end_by_key.get(key, key) for key in keys]
    record_by_key: dict[str, UrlRecord | None] = dict.fromkeys(final_keys)
    for record in frontier.records():
        key = dedup_key(record.url)
        if key in record_by_key:
            record_by_key[key] = record
    return [record_by_key[key] for key in final_keys]


def pages_of(frontier: Frontier) -> set[str]:
    """Return the URLs that gave an HTML page."""
    return {
        record.url
        for record in frontier.records()
        if record.outcome is not None and is_page(record.outcome)
    }


def is_page(outcome: Outcome) -> bool:
    """Return whether a URL gave an HTML page.

    >>> from crawler_app.reasons import Reason
    >>> is_page(Outcome(State.DONE, Reason.OK, 200, content_type="text/html"))
    True
    """
    return outcome.reason in CONTENT and is_html(outcome.content_type)


def state_of(urls: int, left: int, owner: int | None) -> str:
    """Return whether a crawl is RUNNING, or has STOPPED or FINISHED.

    Args:
        urls: That it knows.  One that was killed before its first knows none, and has
            not come to its end.
        left: Of these, those still to fetch.
        owner: The process that crawls; None if none does.

    >>> state_of(9, left=2, owner=4711), state_of(9, left=2, owner=None)
    ('running', 'stopped')
    """
    if owner is not None:
        return RUNNING
    return FINISHED if urls and not left else STOPPED
