"""The URLs of a crawl counted, in one pass over its frontier.

Pure.  Memory grows with what is listed: failures, redirects, hosts; of all other URLs
there is a number of eight bytes each, by which equal pages are found.
"""

import heapq
from collections import Counter
from collections.abc import Callable

from crawler_app.http_headers import is_html
from crawler_app.models import Outcome, State, UrlRecord
from crawler_app.reasons import CONTENT, AnyReason, is_broken
from crawler_app.report.findings import Failure, Host, Ranked, Refusal, Totals
from crawler_app.report.shape import Kind, Shape
from crawler_app.results.redirects import Redirects
from crawler_app.urls import host_of

__all__ = ["RANKED", "Tally"]

# The slowest and the largest that are kept.
RANKED = 100

EXAMPLES = 5


class Tally:
    """Counts records.

    Attributes:
        failures: The records of what is broken.
        shape: All URLs to fetch; redirects when `add_redirects` was called.
        target_by_url: The redirects.
        repeated_digests: Of pages that are there more than once.
        ended_at: When the first and the last URL ended; None if none has.

    >>> tally = Tally()
    >>> tally.add(UrlRecord("http://a.test/", State.QUEUED, depth=0))
    >>> tally.totals.left
    1
    """

    def __init__(self) -> None:
        self.totals = Totals()
        self.shape = Shape()
        self.count_by_status: Counter[int] = Counter()
        self.unanswered = 0
        self.failures: list[UrlRecord] = []
        self.otherwise: list[Failure] = []
        self.target_by_url: dict[str, str] = {}
        self.pages_by_depth: Counter[int] = Counter()
        self.ended_at: tuple[float, float] | None = None
        self.repeated_digests: set[str] = set()
        self._digests: set[int] = set()
        self._host_by_name: dict[str, Host] = {}
        self._refusal_by_reason: dict[AnyReason, Refusal] = {}
        self._slowest = _Best(lambda ranked: ranked.took_s)
        self._largest = _Best(lambda ranked: ranked.size_bytes)

    def add(self, record: UrlRecord) -> None:
        """Count one more URL."""
        self.totals.urls += 1
        if record.state is State.EXCLUDED:
            self._refuse(record)
            return
        host = self._host(record.url)
        host.urls += 1
        outcome = record.outcome
        if outcome is None:
            self.totals.left += 1
            self.shape.add(record.url, Kind.LEFT)
            return
        self._count_end(record, outcome, host)
        if record.state is State.FAILED:
            self._fail(record, outcome, host)
        elif outcome.reason in CONTENT:
            self._count_content(record, outcome, host)
        else:
            self.totals.redirects += 1
            self.target_by_url[record.url] = outcome.redirect_to

    def add_redirects(self, redirects: Redirects) -> None:
        """Add the redirects, when all are known: the first URL of a loop is broken."""
        first = {loop[0] for loop in redirects.loop_by_key.values()}
        for url in redirects.url_by_key.values():
            self.shape.add(url, Kind.BROKEN if url in first else Kind.REDIRECT)
        for url in first:
            self.totals.broken += 1
            self._host(url).failures += 1

    @property
    def slowest(self) -> list[Ranked]:
        """Fetches, the slowest first."""
        return self._slowest.ranked()

    @property
    def largest(self) -> list[Ranked]:
        """Bodies, the largest first."""
        return self._largest.ranked()

    @property
    def hosts(self) -> list[Host]:
        """Hosts that something was or is to be fetched from, the largest first."""
        return sorted(self._host_by_name.values(), key=lambda h: (-h.urls, h.name))

    @property
    def refused(self) -> list[Refusal]:
        """Why URLs were refused, the most frequent reason first."""
        return sorted(self._refusal_by_reason.values(), key=lambda r: -r.count)

    def _host(self, url: str) -> Host:
        name = host_of(url)
        host = self._host_by_name.get(name)
        if host is None:
            host = self._host_by_name[name] = Host(name)
        return host

    def _refuse(self, record: UrlRecord) -> None:
        self.totals.refused += 1
        assert record.outcome is not None
        reason = record.outcome.reason
        refusal = self._refusal_by_reason.setdefault(reason, Refusal(reason))
        refusal.count += 1
        if len(refusal.examples) < EXAMPLES:
            refusal.examples.append(record.url)

    def _count_end(self, record: UrlRecord, outcome: Outcome, host: Host) -> None:
        if outcome.status is None:
            self.unanswered += 1
        else:
            self.count_by_status[outcome.status] += 1
        self.totals.size_bytes += outcome.size_bytes
        host.size_bytes += outcome.size_bytes
        if outcome.took_s is not None:
            host.took_s += outcome.took_s
            host.timed += 1
            self._slowest.add(record.url, outcome)
            self._largest.add(record.url, outcome)
        at = record.finished_at
        if at is not None:
            first, last = self.ended_at or (at, at)
            self.ended_at = min(first, at), max(last, at)

    def _fail(self, record: UrlRecord, outcome: Outcome, host: Host) -> None:
        if is_broken(outcome.reason):
            self.totals.broken += 1
            host.failures += 1
            self.failures.append(record)
            self.shape.add(record.url, Kind.BROKEN)
            return
        self.totals.failed_otherwise += 1
        self.otherwise.append(
            Failure(record.url, outcome.status, outcome.reason, outcome.error)
        )
        came = outcome.status is not None and is_html(outcome.content_type)
        self.shape.add(record.url, Kind.OK if came else Kind.LEFT)

    def _count_content(self, record: UrlRecord, outcome: Outcome, host: Host) -> None:
        if not is_html(outcome.content_type):
            self.totals.files += 1
            self.shape.add(record.url, Kind.FILE)
            return
        self.totals.pages += 1
        host.pages += 1
        self.pages_by_depth[record.depth] += 1
        self.shape.add(record.url, Kind.OK)
        if outcome.digest:
            # As a number it takes a third of the memory of its text.
            digest = int(outcome.digest, 16)
            if digest in self._digests:
                self.repeated_digests.add(outcome.digest)
            self._digests.add(digest)


class _Best:
    """Keeps the best of all that it is shown; of equals, those shown first."""

    def __init__(self, worth: Callable[[Ranked], float]) -> None:
        self._worth = worth
        self._heap: list[tuple[float, int, Ranked]] = []
        self._shown = 0

    def add(self, url: str, outcome: Outcome) -> None:
        self._shown += 1
        ranked = Ranked(
            url, outcome.took_s or 0.0, outcome.size_bytes, outcome.content_type
        )
        entry = self._worth(ranked), -self._shown, ranked
        if len(self._heap) < RANKED:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def ranked(self) -> list[Ranked]:
        return [ranked for *_, ranked in sorted(self._heap, reverse=True)]
