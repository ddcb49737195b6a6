"""Fetches one URL: one HTTP exchange, redirects not followed::

    request_policy      headers, proxy and cookies: secrets to the seeds only
      cookies           the cookie store
        set_cookie      a cookie, and the header that sets it
      cookie_files      the cookies of a file or a browser
      chromium_values   decrypts those of Chromium
      addresses         which addresses are public
    http                the fetcher over Tornado's AsyncHTTPClient
      tls_files         the TLS context: --ca, --client-cert
        private_files   which only their owner may read
      resolver          a caching resolver
      curl              settings specific to libcurl
      client_errors     turns a client's exception into a FetchError
    response_collector  collects head and body, limited before and after decoding
    requests_backend    the fetcher over the requests library, in threads
    signing_fetcher     signs requests, around either of them
      message_signatures  what is signed, and what a site asks for

`make_fetcher` chooses one.
"""

import importlib
import logging
from typing import Any, Protocol

from crawler_app.base.config import REQUESTS, CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.models import Fetched, Request
from crawler_app.web.fetcher.cookies import OnCookies
from crawler_app.web.fetcher.http import HttpFetcher, class_of, request_options
from crawler_app.web.fetcher.request_policy import RequestPolicy
from crawler_app.web.fetcher.tls_files import own_context
from crawler_app.web.httpclient.codings import ACCEPTED
from gencoro import gen

logger = logging.getLogger(__name__)

__all__ = [
    "Fetcher",
    "HttpFetcher",
    "check_fetcher",
    "make_fetcher",
    "signing_module",
]


class Fetcher(Protocol):
    """The interface that the crawler needs.

    Attributes:
        policy: The headers and the cookies of its requests.
    """

    policy: RequestPolicy

    def fetch(self, request: Request) -> "gen.Future[Fetched]":
        """Return a Future for the response; the only error it fails with is FetchError."""
        ...

    def allow(self, concurrency: int) -> None:
        """Make up to this number of fetches at a time, if the client can."""
        ...

    def close(self) -> None:
        """Close idle connections and free resources; fetches under way may fail."""
        ...


def make_fetcher(config: CrawlConfig, on_cookies: OnCookies | None = None) -> Fetcher:
    """Return the fetcher for a configuration.

    It belongs to the current event loop, which need not be running yet.

    Args:
        on_cookies: Called with an origin and the cookies that it has changed.

    Raises:
        ConfigError: the client is not installed, or does not support an option.

    >>> fetcher = make_fetcher(CrawlConfig(("http://a.test/",)))
    >>> type(fetcher).__name__
    'HttpFetcher'
    >>> fetcher.close()
    """
    made = class_of(config.client) if config.client == REQUESTS else HttpFetcher
    fetcher: Fetcher = made(config, on_cookies=on_cookies)
    if _signs(config):
        fetcher = signing_module("signing_fetcher").SigningFetcher(fetcher, config)
    return fetcher


def check_fetcher(config: CrawlConfig) -> None:
    """Raise the errors that `make_fetcher` would raise, without creating a fetcher.

    Raises:
        ConfigError: the client is not installed or does not support an option, or a file
            cannot be used.

    >>> try:
    ...     check_fetcher(CrawlConfig(("http://a.test/",), client="simple", proxy="b:80"))
    ... except ConfigError as exc:
    ...     print(exc)
    the client 'simple' does not support proxies; 'pooled' does
    """
    class_of(config.client)
    policy = RequestPolicy(config, ACCEPTED)
    request_options(config, policy.proxy)
    for remark in policy.remarks:
        logger.warning(remark)
    if config.client_cert:
        own_context(config, is_own=True)
    if _signs(config):
        signing_module("message_signatures").SigningKey.read(config.sign_key)


def signing_module(name: str) -> Any:
    """Import a module of this package that needs the extra ``sign``.

    Raises:
        ConfigError: the extra is not installed.

    >>> signing_module("message_signatures").TAG
    'web-bot-auth'
    """
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ImportError as exc:
        raise ConfigError(
            f"signing needs cryptography and http-sf ({exc}); pip install 'gencoro[sign]'"
        ) from None


def _signs(config: CrawlConfig) -> bool:
    if config.sign_key and not config.sign_agent:
        raise ConfigError(
            "--sign needs --sign-agent ORIGIN, where sites look the key up"
        )
    if not config.sign_key and (config.sign_agent or config.sign_always):
        raise ConfigError("--sign-agent and --sign-always need --sign FILE, the key")
    return bool(config.sign_key)
