"""Writes the sitemap of a crawl, with an index if it has several parts.

It lists what a search engine would list: pages of the site of the first start URL that have neither
``noindex`` nor another canonical URL.

Source: https://www.sitemaps.org/protocol.html.
"""

import gzip
import logging
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape

from crawler_app.base.errors import ConfigError
from crawler_app.base.progress import OnStep
from crawler_app.base.text.formatting import iso_time, number
from crawler_app.base.urls import origin_of
from crawler_app.run.directory.archived import Responses
from crawler_app.run.directory.lock import not_writable
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.report import gather
from crawler_app.show.report.page_reading import Observer
from crawler_app.show.report.report_data import Report
from crawler_app.show.report.site_rules import LISTED
from crawler_app.show.report.temp_tables import TempTables

__all__ = ["write_sitemap"]

logger = logging.getLogger(__name__)

# Of one file; the bytes are those before compression, and leave room for the frame.
MAX_URLS = 50_000
MAX_BYTES = 50_000_000

# Whether a page that was not read is to be listed, is not known: its description is NULL.
LISTED_URLS = (
    f"SELECT url FROM document WHERE {LISTED} AND description IS NOT NULL ORDER BY at"
)
FRAME = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<{0} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{1}</{0}>\n'
)


def write_sitemap(crawl: StoredCrawl, output: Path, on_step: OnStep) -> None:
    """Write the sitemap of a crawl.

    Args:
        output: The file, compressed if its name ends with ``.gz``.  If there are several parts,
            they lie beside it, and it is their index.

    Raises:
        ConfigError: no page is to be listed, or the file cannot be written.
        StorageError: the disk is full, or has failed.
    """
    pages = _ListedPages()
    gather(crawl, on_step, pages)
    home = origin_of(crawl.config().seeds[0])
    urls = [url for url in pages.urls if origin_of(url) == home]
    if not urls:
        raise ConfigError(f"the crawl has no page of {home} that is to be listed")
    if others := len(pages.urls) - len(urls):
        logger.warning(
            "Left out %s of other hosts, which need sitemaps of their own.",
            number(others, "page"),
        )
    with crawl.responses(0) as responses:
        assert responses is not None  # a crawl without an archive is refused before
        try:
            _write_files(output, home, _parts(_entries(urls, responses)))
        except OSError as exc:
            raise not_writable(output, exc) from None


class _ListedPages(Observer):
    """The URLs of the pages that a search engine would list."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    def end(self, report: Report, tables: TempTables) -> None:
        self.urls = [url for (url,) in tables.rows(LISTED_URLS)]


def _entries(urls: Iterable[str], responses: Responses) -> Iterator[str]:
    for url in urls:
        changed = iso_time(responses.last_changed(url))
        lastmod = f"<lastmod>{changed}</lastmod>" if changed else ""
        yield f"<url><loc>{escape(url)}</loc>{lastmod}</url>\n"


def _parts(entries: Iterable[str]) -> Iterator[str]:
    """Yield sitemaps that are not too large."""
    part: list[str] = []
    size_bytes = 0
    for entry in entries:
        if len(part) == MAX_URLS or size_bytes + len(entry) > MAX_BYTES:
            yield FRAME.format("urlset", "".join(part))
            part, size_bytes = [], 0
        part.append(entry)
        size_bytes += len(entry)
    yield FRAME.format("urlset", "".join(part))


def _write_files(output: Path, home: str, parts: Iterator[str]) -> None:
    """Write all files, and then put them into their places, the index last."""
    stem, _, suffix = output.name.partition(".")
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".gencrawl-") as name:
        folder = Path(name)
        names = []
        for at, part in enumerate(parts, 1):
            names.append(f"{stem}-{at}.{suffix}".removesuffix("."))
            _write(folder / names[-1], part)
        if len(names) == 1:
            (folder / names.pop()).replace(output)
            return
        places = (f"<loc>{home}/{quote(each)}</loc>" for each in names)
        listed = "".join(f"<sitemap>{place}</sitemap>\n" for place in places)
        _write(folder / output.name, FRAME.format("sitemapindex", listed))
        for each in (*names, output.name):
            (folder / each).replace(output.parent / each)


def _write(path: Path, text: str) -> None:
    data = text.encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
