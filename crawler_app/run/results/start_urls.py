"""Says why a start URL gave no page, for the terminal and for a check.  Pure."""

from collections.abc import Callable, Iterable

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import UrlRecord
from crawler_app.base.reasons import (
    ASKS_FOR_PASSWORD,
    CONTENT,
    Reason,
    meaning_of,
)
from crawler_app.base.text.escaping import printable
from crawler_app.base.urls import dedup_key

__all__ = ["complaint_about", "login_hints"]

ELSEWHERE = (Reason.EXISTS, Reason.OUT_OF_SCOPE)


def complaint_about(
    seed: str, end: UrlRecord | None, name_of: Callable[[str], str] = printable
) -> str:
    """Return why a start URL gave no page; empty if it did, or if its turn has not come.

    Args:
        end: The record of the URL where its redirects end; None if that is unknown.
        name_of: Returns the name to show for a URL.

    >>> from crawler_app.base.models import Outcome, State
    >>> away = Outcome(State.EXCLUDED, Reason.OUT_OF_SCOPE)
    >>> end = UrlRecord("http://b.test/", State.EXCLUDED, 0, outcome=away)
    >>> complaint_about("http://a.test/", end)
    'http://a.test/ redirects to http://b.test/, out of scope; start with that URL instead'
    """
    if end is None:
        return "its redirects lead to a URL that is unknown"
    if end.outcome is None:  # stopped before its turn
        return ""
    reason, url = end.outcome.reason, name_of(end.url)
    if reason in CONTENT:
        return ""
    if reason in ELSEWHERE and dedup_key(seed) != dedup_key(end.url):
        return f"{name_of(seed)} redirects to {url}, out of scope; start with that URL instead"
    if reason == Reason.REDIRECT:
        return f"{url} is part of a redirect loop"
    if reason == Reason.ROBOTS:
        return (
            f"the robots.txt of its host asks not to fetch {url}; "
            "if the site is yours, start a crawl with --no-robots"
        )
    error = f": {printable(end.outcome.error)}" if end.outcome.error else ""
    return f"{url}: {meaning_of(reason)} ({reason}{error})"


def login_hints(
    config: CrawlConfig,
    ends: Iterable[UrlRecord | None],
    name_of: Callable[[str], str] = printable,
) -> list[str]:
    """Return what to do about start URLs that have led to a login page.

    Args:
        ends: As `complaint_about` takes them, one for each start URL.
        name_of: Returns the name to show for a URL.
    """
    cure = "give the cookies of a browser that is logged in with --cookies, or --login RECIPE"
    if config.is_logged_in:
        cure = "what was given to log in with is not accepted, or has expired"
    return [
        f"{_login_page(seed, end, name_of)} asks for a password; {cure}"
        for seed, end in zip(config.seeds, ends, strict=True)
        if end and end.outcome and ASKS_FOR_PASSWORD in end.outcome.note
    ]


def _login_page(seed: str, end: UrlRecord, name_of: Callable[[str], str]) -> str:
    if dedup_key(seed) == dedup_key(end.url):
        return f"{name_of(seed)} is a login page, which"
    return f"{name_of(seed)} leads to {name_of(end.url)}, which"
