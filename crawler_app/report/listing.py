"""Finds in all URLs what a report lists of them, beyond the summary."""

from crawler_app.models import State, UrlRecord
from crawler_app.reasons import AnyReason
from crawler_app.results.ranking import Ranked, Ranking
from crawler_app.results.summary import is_page

__all__ = ["EXAMPLES", "Listing"]

# Skipped URLs that are listed for each reason.
EXAMPLES = 5


class Listing:
    """Collects examples of skipped URLs, the largest bodies, and digests that repeat.

    Memory grows by a number of eight bytes for each page, by which duplicates are found.

    Attributes:
        examples_by_reason: Some of the skipped URLs, by reason.
        repeated_digests: Digests of the pages that exist more than once.
    """

    def __init__(self) -> None:
        self.examples_by_reason: dict[AnyReason, list[str]] = {}
        self.repeated_digests: set[str] = set()
        self._digests: set[int] = set()
        self._largest = Ranking(lambda ranked: ranked.size_bytes)

    @property
    def largest(self) -> list[Ranked]:
        """The largest bodies, largest first."""
        return self._largest.best()

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
        if outcome.took_s is not None:
            self._largest.add(Ranked.of(record.url, outcome))
        if outcome.digest and is_page(outcome):
            # A number takes a third of the memory of its text.
            digest = int(outcome.digest, 16)
            if digest in self._digests:
                self.repeated_digests.add(outcome.digest)
            self._digests.add(digest)
