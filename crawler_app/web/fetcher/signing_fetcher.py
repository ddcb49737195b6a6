"""Signs the requests to sites that ask for it, around any fetcher.

Rule: an origin that has not asked gets no signature, unless ``--sign-always`` is given.  A
request that is refused with ``Accept-Signature`` is repeated once, with the signature.
"""

import base64
import secrets
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Fetched, Request
from crawler_app.base.urls import origin_of
from crawler_app.web.fetcher.message_signatures import (
    SigningKey,
    Wish,
    signature_headers,
    wish_of,
)
from gencoro import gen

if TYPE_CHECKING:
    from crawler_app.web.fetcher import Fetcher

__all__ = ["SigningFetcher"]

# Of a crawl of the whole Web; an origin that is forgotten asks again.
MAX_ORIGINS = 10_000


class SigningFetcher:
    """A fetcher whose requests are signed where a site asks for it; see `Fetcher`.

    Args:
        fetcher: Makes the requests; closed with this one.

    Raises:
        ConfigError: the key cannot be used.
    """

    def __init__(self, fetcher: "Fetcher", config: CrawlConfig) -> None:
        self._fetcher = fetcher
        self.policy = fetcher.policy
        self._key = SigningKey.read(config.sign_key)
        self._agent = config.sign_agent.rstrip("/")
        self._default = Wish() if config.sign_always else None
        self._wish_by_origin: dict[str, Wish] = {}

    @gen.coroutine
    def fetch(self, request: Request) -> Generator[Any, Any, Fetched]:
        """Fetch a URL; again, signed, if it is refused for want of a signature; see `Fetcher`."""
        origin = origin_of(request.url)
        used = self._wish_by_origin.get(origin, self._default)
        if used is not None and used.nonce:
            self._wish_by_origin[origin] = used.without_nonce()
        fetched: Fetched = yield self._fetcher.fetch(self._signed(request, used))
        field = fetched.headers.get("Accept-Signature", "")
        asked = wish_of(field, self._key.thumbprint)
        if asked is None:
            return fetched
        if fetched.status < 400 or asked == used:
            self._remember(origin, asked)
            return fetched
        self._remember(origin, asked.without_nonce())
        fetched = yield self._fetcher.fetch(self._signed(request, asked))
        return fetched

    def _signed(self, request: Request, wish: Wish | None) -> Request:
        """Return a request with a new signature."""
        if wish is None:
            return request
        made = signature_headers(
            request,
            self._key,
            self._agent,
            wish,
            created=int(time.time()),
            nonce=base64.b64encode(secrets.token_bytes(32)).decode(),
        )
        # Scripts of a rendered page may have set some of the same, in any spelling.
        names = {name.lower() for name in made}
        kept = {
            k: v for k, v in (request.headers or {}).items() if k.lower() not in names
        }
        return request._replace(headers=kept | made)

    def _remember(self, origin: str, wish: Wish) -> None:
        self._wish_by_origin.pop(origin, None)
        if len(self._wish_by_origin) >= MAX_ORIGINS:
            del self._wish_by_origin[next(iter(self._wish_by_origin))]
        self._wish_by_origin[origin] = wish

    def allow(self, concurrency: int) -> None:
        """Change the maximum number of fetches; see `Fetcher`."""
        self._fetcher.allow(concurrency)

    def close(self) -> None:
        """Close the fetcher; see `Fetcher`."""
        self._fetcher.close()
