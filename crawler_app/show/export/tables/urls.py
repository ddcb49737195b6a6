"""The rows of all URLs of a crawl, whatever their state."""

from collections.abc import Iterator

from crawler_app.base.models import Outcome, State, UrlRecord
from crawler_app.base.progress import OnStep
from crawler_app.base.reasons import Reason
from crawler_app.base.text.formatting import iso_time
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.export.tables.columns import Row

__all__ = ["url_row", "url_rows"]

# Of a URL that was not fetched yet.
NO_OUTCOME = Outcome(State.QUEUED, Reason.OK)


def url_rows(crawl: StoredCrawl, on_step: OnStep) -> Iterator[Row]:
    """Return the row of each URL, in the order in which they were found."""
    return map(url_row, crawl.records("exporting URLs", on_step))


def url_row(record: UrlRecord) -> Row:
    """Return the row of a URL; what is not known is None.

    >>> url_row(UrlRecord("http://a.test/", State.QUEUED, depth=0))[:5]
    ['http://a.test/', 'queued', None, None, 0]
    """
    outcome = record.outcome or NO_OUTCOME
    cells = [
        record.url,
        record.state.label,
        outcome.reason if record.outcome else None,
        outcome.status,
        record.depth,
        record.via,
        outcome.redirect_to,
        outcome.canonical,
        outcome.content_type,
        outcome.size_bytes if record.outcome else None,
        outcome.took_s,
        record.tries,
        outcome.digest,
        outcome.title,
        outcome.error,
        outcome.note,
        record.role.name.lower(),
        iso_time(record.finished_at),
    ]
    return [None if cell == "" else cell for cell in cells]
