"""Classifies URLs for the treemap of a site.  Pure."""

from crawler_app.base.http_headers import is_html
from crawler_app.base.models import State, UrlRecord
from crawler_app.base.reasons import CONTENT, is_broken
from crawler_app.run.results.redirects import Redirects
from crawler_app.show.report.shape import Shape, UrlCategory

__all__ = ["add_redirects", "add_url"]


def add_url(shape: Shape, record: UrlRecord) -> None:
    """Add a URL, unless it was skipped or is a redirect.

    >>> shape = Shape()
    >>> add_url(shape, UrlRecord("http://a.test/", State.QUEUED, depth=0))
    >>> shape.totals()["a.test/"][UrlCategory.LEFT]
    1
    """
    kind = _kind_of(record)
    if kind is not None:
        shape.add(record.url, kind)


def add_redirects(shape: Shape, redirects: Redirects) -> None:
    """Add the redirects; the first URL of each loop stands for the loop."""
    first = {loop[0] for loop in redirects.loop_by_key.values()}
    for url in redirects.url_by_key.values():
        shape.add(url, UrlCategory.LOOP if url in first else UrlCategory.REDIRECT)


def _kind_of(record: UrlRecord) -> UrlCategory | None:
    outcome = record.outcome
    if record.state is State.EXCLUDED:
        return None
    if outcome is None:
        return UrlCategory.LEFT
    is_page = outcome.status is not None and is_html(outcome.content_type)
    if record.state is State.FAILED:
        if is_broken(outcome.reason):
            return UrlCategory.BROKEN
        return UrlCategory.OK if is_page else UrlCategory.LEFT
    if outcome.reason not in CONTENT:
        return None
    return UrlCategory.OK if is_html(outcome.content_type) else UrlCategory.FILE
