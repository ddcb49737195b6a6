"""Reads the tables of a crawl: each row is passed to a function as soon as it is known."""

from collections.abc import Callable, Iterable, Mapping

from crawler_app.base.errors import ConfigError
from crawler_app.base.progress import OnStep
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.export.tables.columns import (
    CAPTURES,
    FINDINGS,
    LINKS,
    PAGES,
    URLS,
    Row,
)
from crawler_app.show.export.tables.urls import url_rows

__all__ = ["Sinks", "read_tables"]

# What takes the rows of each table that is wanted, in several calls.
Sinks = Mapping[str, Callable[[Iterable[Row]], object]]


def read_tables(crawl: StoredCrawl, sinks: Sinks, on_step: OnStep) -> None:
    """Pass the rows of tables to the functions that take them.

    Pages are read at most once, whatever is wanted of them.

    Raises:
        ConfigError: only what needs an archive is wanted, and there is none.
    """
    if not (sinks.keys() & {URLS, PAGES} or crawl.archives()):
        raise ConfigError("the crawl has no archive, from which its links are read")
    if URLS in sinks:
        sinks[URLS](url_rows(crawl, on_step))
    if CAPTURES in sinks:
        # What reads an archive takes long to import, and URLs do not need it.
        from crawler_app.show.export.tables.captures import (  # noqa: PLC0415
            capture_rows,
        )

        sinks[CAPTURES](capture_rows(crawl, on_step))
    if not sinks.keys() & {PAGES, LINKS, FINDINGS}:
        return
    from crawler_app.show.export.tables.rows import RowReader  # noqa: PLC0415
    from crawler_app.show.report import gather  # noqa: PLC0415

    with crawl.responses(0) as archived:
        reader = RowReader(
            sinks.get(LINKS),
            archived.first_seen if archived else None,
            links_only=not sinks.keys() & {PAGES, FINDINGS},
        )
        gather(crawl, on_step, reader)
    if PAGES in sinks:
        sinks[PAGES](reader.pages())
    if FINDINGS in sinks:
        sinks[FINDINGS](reader.findings())
