"""Finds in all URLs what a report lists of them, beyond the summary."""

from crawler_app.base.models import Role, State, UrlRecord
from crawler_app.base.reasons import CONTENT, AnyReason, Reason
from crawler_app.run.results.ranking import Ranked, Ranking

__all__ = ["EXAMPLES", "Listing"]

# Skipped URLs that are listed for each reason.
EXAMPLES = 5

# From these on, asset is listed.  Precedents: Lighthouse asks for servers that answer
# within 0.6 s, and Screaming Frog for images of at most 100 KB.
LARGE_BYTES = 200_000
SLOW_S = 1.0


class Listing:
    """Collects examples of skipped URLs, the largest bodies, and heavy assets.

    Attributes:
        examples_by_reason: Some of the skipped URLs, by reason.
        status_by_redirect: The status of each redirect, by its URL.
    """

    def __init__(self) -> None:
        self.examples_by_reason: dict[AnyReason, list[str]] = {}
        self.status_by_redirect: dict[str, int | None] = {}
        self._largest = Ranking(lambda ranked: ranked.size_bytes)
        self._large = Ranking(lambda ranked: ranked.size_bytes)
        self._slow = Ranking(lambda ranked: ranked.took_s)

    @property
    def largest(self) -> list[Ranked]:
        """The largest bodies, largest first."""
        return self._largest.best()

    @property
    def heavy(self) -> list[Ranked]:
        """Large and slow assets."""
        return list(dict.fromkeys([*self._large.best(), *self._slow.best()]))

    def add(self, record: UrlRecord) -> None:
        """Look at a URL."""
        outcome = record.outcome
        if outcome is None:
            return
        if record.state is State.EXCLUDED:
            examples = self.examples_by_reason.setdefault(outcome.reason, [])
            if len(examples) < EXAMPLES:
                examples.append(record.url)
            return
        if outcome.reason == Reason.REDIRECT:
            self.status_by_redirect[record.url] = outcome.status
        if outcome.took_s is not None:
            ranked = Ranked.of(record.url, outcome)
            self._largest.add(ranked)
            if record.role is Role.ASSET and outcome.reason in CONTENT:
                self._add_asset(ranked)

    def _add_asset(self, ranked: Ranked) -> None:
        if ranked.size_bytes >= LARGE_BYTES:
            self._large.add(ranked)
        if ranked.took_s >= SLOW_S:
            self._slow.add(ranked)
