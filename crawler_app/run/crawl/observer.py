"""What a check sees of a crawl: every reference, and how every URL ends."""

from collections.abc import Collection, Iterable
from typing import Protocol

from crawler_app.base.models import Candidate, Outcome, Role
from crawler_app.web.documents.outline import Outline

__all__ = ["CrawlObserver"]


class CrawlObserver(Protocol):
    """Told of every document and of every end; all calls come from the loop."""

    def served_at(self, url: str) -> str:
        """Return the URL to fetch in place of one that was found; usually the same."""
        ...

    def saw_document(self, url: str, outline: Outline) -> None:
        """Take note of a page or a style sheet, before its end."""
        ...

    def saw_entries(self, sitemap: str, urls: Iterable[str]) -> None:
        """Take note of what a sitemap lists, before its end."""
        ...

    def saw_refusal(self, candidate: Candidate) -> None:
        """Take note of a URL that will not be fetched."""
        ...

    def wants_places(self, url: str) -> bool:
        """Return whether to read a page outside the scope, for the places on it."""
        ...

    def saw_places(self, url: str, ids: Collection[str] | None) -> None:
        """Take note of the ids on such a page, before its end; None if it has none to read."""
        ...

    def unread(self) -> Collection[str]:
        """Return the URLs of such pages that were asked for, and not read."""
        ...

    def saw_end(self, url: str, outcome: Outcome, role: Role) -> None:
        """Take note of how a URL ended."""
        ...
