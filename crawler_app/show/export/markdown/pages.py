"""The pages of a crawl, read from its archive, with what is known of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit

from turbohtml import Element

from crawler_app.base.models import Fetched, UrlRecord
from crawler_app.base.progress import OnStep
from crawler_app.base.urls import dedup_key, join_or_nothing, origin_of
from crawler_app.run.directory.archived import Responses, find_page
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.run.results.redirects import Redirects
from crawler_app.run.results.summary import is_page
from crawler_app.show.export.file_names import (
    MARKDOWN,
    NamedFile,
    file_names,
    wanted_name,
)
from crawler_app.show.export.replacing import warn_of_unread
from crawler_app.web.documents.charset import decode_html
from crawler_app.web.documents.html import parse_html
from crawler_app.web.documents.xhtml import is_xml
from crawler_app.web.main_content import main_content
from crawler_app.web.robots.directives import directives_in_header
from crawler_app.web.robots.rules import parse_rules, product_token

__all__ = ["CrawledPages", "PageContent"]

# The archived robots.txt of each origin is read once.
MAX_ORIGINS = 10_000


@dataclass(slots=True)
class PageContent:
    """A page, and what is known of it.

    Attributes:
        date: When it was fetched, in ISO 8601, UTC.
        digest: Of its body; equal for equal bodies.
        usage: What its site says of the use of its pages, as written.
        base: The URL that its links are relative to.
        body: Its tree; empty without text.
        is_noindex: Whether it asks search engines not to list it.
    """

    url: str
    title: str
    date: str
    digest: str
    usage: str = ""
    description: str = ""
    base: str = ""
    body: Element = field(default_factory=lambda: Element("body"))
    is_noindex: bool = False

    def known(self) -> dict[str, str]:
        """Return what is known of it, for people and programs that read its text."""
        return {
            "url": self.url,
            "date": self.date,
            "digest": self.digest,
            "title": self.title,
            "description": self.description,
            "usage": self.usage,
        }


class CrawledPages:
    """The pages of a crawl, in the order in which they were found.

    Args:
        whole_page: Whether to leave in what is around the main content.
        with_empty: Whether to yield those too that have no text.

    Attributes:
        title: That of the first page.
        unread: The number of pages that the archive does not have.
    """

    def __init__(
        self,
        crawl: StoredCrawl,
        on_step: OnStep,
        *,
        whole_page: bool = False,
        with_empty: bool = False,
    ) -> None:
        self._crawl = crawl
        self._config = crawl.config()
        self._on_step = on_step
        self._whole_page = whole_page
        self._with_empty = with_empty
        self._usage_by_origin: dict[str, str] = {}
        self.title = ""
        self.unread = 0

    def files(self) -> Callable[[str], str | None]:
        """Return a function for the file that a URL leads to; None if it leads to no page."""
        files: list[NamedFile] = []
        target_by_url: dict[str, str] = {}
        with self._crawl.responses(0) as archived:
            for record in self._crawl.records("naming files", self._on_step):
                if _is_text_page(record):
                    if archived is not None and archived.has(record.url):
                        files.append(_file_of(record))
                elif record.outcome is not None and record.outcome.redirect_to:
                    target_by_url[record.url] = record.outcome.redirect_to
        end_by_key = Redirects(target_by_url).end_by_key
        start = dedup_key(self._config.seeds[0])
        names = file_names(files, urlsplit(end_by_key.get(start, start)).netloc)
        name_by_key = {dedup_key(url): name for url, name in names.items()}

        def file_of(url: str) -> str | None:
            key = dedup_key(url)
            return name_by_key.get(end_by_key.get(key, key))

        return file_of

    def __iter__(self) -> Iterator[PageContent]:
        """Yield the pages, and warn of those that the archive does not have.

        Of ``/docs/`` and ``/docs/index.html``, only the first if they say the same.

        Raises:
            ArchiveError: a table of captures cannot be read.
        """
        with self._crawl.responses(self._config.max_body_bytes) as archived:
            if archived is None:
                return
            for record in _without_twins(
                self._crawl.records("exporting pages", self._on_step)
            ):
                page = self._page_of(record, archived)
                if self._with_empty or len(page.body):
                    self.title = self.title or page.title
                    yield page
        warn_of_unread(self.unread, "page", self._config)

    def _page_of(self, record: UrlRecord, archived: Responses) -> PageContent:
        assert record.outcome is not None
        fetched_at = datetime.fromtimestamp(record.finished_at or 0, UTC)
        page = PageContent(
            record.url,
            record.outcome.title,
            fetched_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
            record.outcome.digest,
            base=record.url,
        )
        fetched = find_page(record, archived)
        if fetched is None:
            self.unread += 1
        else:
            self._fill(page, fetched, archived)
        return page

    def _fill(self, page: PageContent, fetched: Fetched, archived: Responses) -> None:
        content_type = fetched.headers.get("Content-Type", "")
        header = fetched.headers.get("X-Robots-Tag", "")
        robots = directives_in_header(header, product_token(self._config.user_agent))
        metadata = parse_html(fetched.body, content_type, with_metadata=True).metadata
        if metadata is not None:
            page.description = metadata.description
            robots |= metadata.robots
        page.is_noindex = "noindex" in robots
        markup, _ = decode_html(fetched.body, content_type)
        body, base = main_content(
            markup, is_xml=is_xml(content_type), whole_page=self._whole_page
        )
        page.body = page.body if body is None else body
        page.base = join_or_nothing(page.url, base) or page.url
        page.usage = self._usage_of(page.url, fetched, archived)

    def _usage_of(self, url: str, fetched: Fetched, archived: Responses) -> str:
        """Return what the robots.txt of a page, and the page's headers, say of its use."""
        origin = origin_of(url)
        if origin not in self._usage_by_origin:
            if len(self._usage_by_origin) >= MAX_ORIGINS:
                self._usage_by_origin.clear()
            robots = archived.find(f"{origin}/robots.txt")
            body = robots.body if robots is not None and robots.status == 200 else b""
            rules = parse_rules(body, self._config.user_agent, origin)
            self._usage_by_origin[origin] = "; ".join(rules.usage)
        header = fetched.headers.get("Content-Usage", "")
        own = f"Content-Usage: {header}" if header else ""
        return "; ".join(filter(None, (self._usage_by_origin[origin], own)))


def _is_text_page(record: UrlRecord) -> bool:
    outcome = record.outcome
    return outcome is not None and is_page(outcome) and not outcome.redirect_to


def _without_twins(records: Iterable[UrlRecord]) -> Iterator[UrlRecord]:
    """Yield the pages; of those with one name that say the same, the first."""
    seen: set[tuple[str, str]] = set()
    for record in filter(_is_text_page, records):
        file = _file_of(record)
        this = wanted_name(file), file.digest or file.url
        if this not in seen:
            seen.add(this)
            yield record


def _file_of(record: UrlRecord) -> NamedFile:
    digest = record.outcome.digest if record.outcome is not None else ""
    return NamedFile(record.url, MARKDOWN, digest)
