"""What every channel does: send a notice, or say why not.  Its fields are the keys of its table."""

import abc
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from tornado.httpclient import HTTPError, HTTPRequest, HTTPResponse

from crawler_app.base.config.option import option, options_of
from crawler_app.base.errors import ConfigError, CrawlerError
from crawler_app.show.watch.notices.notice import Notice, Outgoing
from crawler_app.show.watch.notices.secret_values import redacted, secret_of
from crawler_app.web.httpclient import PooledAsyncHTTPClient
from gencoro import gen

__all__ = ["Channel", "NoticeError", "request"]

TIMEOUT_S = 30.0
MAX_BODY_BYTES = 20 * 2**20


class NoticeError(CrawlerError):
    """A notice was not sent; its message has no secret.

    Attributes:
        status: The HTTP status of the answer; 0 if there was none.
    """

    status: int = 0


@dataclass(frozen=True, kw_only=True)
class Channel(abc.ABC):
    """Sends notices.

    Attributes:
        sites: Names of sites; empty for all.
    """

    sites: tuple[str, ...] = option((), "the sites that it is told of")

    @abc.abstractmethod
    def send(self, notice: Notice, out: Outgoing, *, again: bool) -> "gen.Future[None]":
        """Send a notice; the Future raises NoticeError if that failed.

        Args:
            out: Its `memo` is kept from one notice to the next.
            again: Whether it may have been sent before, by a process that was killed then.
        """

    def prepare(self) -> None:
        """Raise ConfigError if a secret, or a library, is not there."""
        for each in options_of(type(self)):
            if each.is_secret:
                secret_of(getattr(self, each.name))

    def _require(self, *names: str) -> None:
        for name in names:
            if not getattr(self, name):
                raise ConfigError(f"{name} is missing")


@gen.coroutine
def request(
    url: str, *secrets: str, body: bytes | None = None, **options: Any
) -> Generator[Any, Any, HTTPResponse]:
    """Make one request, without following redirects.

    Raises:
        NoticeError: there was no response, or not one of success.
    """
    client = PooledAsyncHTTPClient(force_instance=True, max_body_size=MAX_BODY_BYTES)
    try:
        asked = HTTPRequest(
            url,
            body=body,
            follow_redirects=False,
            connect_timeout=TIMEOUT_S,
            request_timeout=TIMEOUT_S,
            **options,
        )
        # If this is cancelled, no error of the fetch is logged.
        response: HTTPResponse = yield client.fetch(asked, raise_error=False)
        response.rethrow()
        return response
    except HTTPError as exc:
        error = NoticeError(redacted(f"{exc.code} {exc.message}", url, *secrets))
        error.status = exc.code
        raise error from None
    except (OSError, ValueError) as exc:
        raise NoticeError(redacted(str(exc) or repr(exc), url, *secrets)) from None
    finally:
        client.close()
