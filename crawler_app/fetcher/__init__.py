"""One URL -> Fetched, or FetchError: one HTTP exchange, redirects not followed::

    outgoing    what a request carries, and where to: secrets to the seeds only
    http        over Tornado's AsyncHTTPClient
    curl        what is peculiar to libcurl
    incoming    head and body as they come, bounded before and after decoding
    errors      what went wrong, in one word
    blocking    over the library requests, in threads; blocking_adapter and
                blocking_errors are parts of it

`make_fetcher` chooses one.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from crawler_app.config import REQUESTS, CrawlConfig
from crawler_app.fetcher.http import (
    HttpFetcher,
    client_class,
    imported,
    request_options,
)
from crawler_app.fetcher.outgoing import Outgoing
from crawler_app.httpclient.codings import ACCEPTED
from crawler_app.models import Fetched
from gencoro import gen

__all__ = ["Fetcher", "HttpFetcher", "check_fetcher", "fetcher_class", "make_fetcher"]

# By name, since what it imports may not be installed.
REQUESTS_FETCHER = "crawler_app.fetcher.requests_.RequestsFetcher"


class Fetcher(Protocol):
    """What the crawler needs of whatever fetches."""

    def fetch(
        self, url: str, headers: Mapping[str, str] | None = None
    ) -> "gen.Future[Fetched]":
        """Return a Future for the response; it fails with FetchError, and only that.

        Args:
            url: A canonical one.
            headers: For this request only; they replace others of their names.
        """
        ...

    def close(self) -> None:
        """Let go of what is kept for later fetches; those under way may fail."""
        ...


def make_fetcher(config: CrawlConfig) -> Fetcher:
    """Return what fetches as a configuration says.

    It belongs to the event loop that runs, or will.

    Raises:
        ConfigError: a client is not installed, or cannot do what is asked of it.

    >>> fetcher = make_fetcher(CrawlConfig(("http://a.test/",)))
    >>> type(fetcher).__name__
    'HttpFetcher'
    >>> fetcher.close()
    """
    fetcher: Fetcher = fetcher_class(config.client)(config)
    return fetcher


def check_fetcher(config: CrawlConfig) -> None:
    """Refuse what `make_fetcher` would refuse, and make nothing.

    Raises:
        ConfigError: the client is not installed or knows no proxies, or the file of
            cookies cannot be read.

    >>> from crawler_app.errors import ConfigError
    >>> try:
    ...     check_fetcher(CrawlConfig(("http://a.test/",), client="simple", proxy="b:80"))
    ... except ConfigError as exc:
    ...     print(exc)
    the client 'simple' knows no proxies; 'pooled' does
    """
    fetcher_class(config.client)
    request_options(config, Outgoing(config, ACCEPTED).proxy)


def fetcher_class(client: str) -> Any:
    """Return what makes a fetcher of a configuration, if its client is installed.

    Raises:
        ConfigError: it is not.

    >>> fetcher_class("pooled").__name__
    'HttpFetcher'
    """
    if client != REQUESTS:
        client_class(client)
        return HttpFetcher
    return imported(client, REQUESTS_FETCHER, "requests")
