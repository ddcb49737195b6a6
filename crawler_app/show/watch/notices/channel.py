"""What every channel does: send a notice, or say why not.  Its fields are the keys of its table."""

import abc
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from tornado.httpclient import HTTPError, HTTPResponse

from crawler_app.base.config.option import option, options_of
from crawler_app.base.config.secret_values import filled
from crawler_app.base.errors import ConfigError, CrawlerError
from crawler_app.show.watch.notices.notice import Notice, Outgoing
from crawler_app.web.httpclient.client import PooledAsyncHTTPClient
from gencoro import gen

__all__ = ["NoticeChannel", "NoticeError", "redacted", "request", "secret_option"]

TIMEOUT_S = 30.0
MAX_BODY_BYTES = 20 * 2**20


class NoticeError(CrawlerError):
    """A notice was not sent; its message has no secret.

    Attributes:
        status: The HTTP status of the answer; 0 if there was none.
    """

    status: int = 0


def secret_option(help: str, default: Any = "") -> Any:
    """Make an option whose value is not in the configuration file."""
    return option(default, help, is_secret=True, rule=_require_reference)


def _require_reference(name: str, value: str) -> None:
    if value and "${" not in value:
        raise ConfigError(
            f"{name} is a secret, which does not belong in the file; write "
            f'{name} = "${{NAME}}", and set NAME in the environment or in the file that '
            "`secrets` names"
        )


@dataclass(frozen=True, kw_only=True)
class NoticeChannel(abc.ABC):
    """Sends notices.

    Attributes:
        sites: Names of sites; empty for all.
    """

    sites: tuple[str, ...] = option((), "the sites that it is told of")

    @abc.abstractmethod
    def send(self, notice: Notice, out: Outgoing) -> "gen.Future[None]":
        """Send a notice; the Future raises NoticeError if that failed.

        Args:
            out: Its `memo` is kept from one notice to the next.
        """

    def with_secrets(self, secret_by_name: Mapping[str, str]) -> Self:
        """Return this channel, ready to send.

        Raises:
            ConfigError: a secret, or a library, is not there.
        """
        names = [each.name for each in options_of(type(self)) if each.is_secret]
        values: dict[str, Any] = {
            name: filled(getattr(self, name), secret_by_name) for name in names
        }
        return replace(self, **values)


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
        response: HTTPResponse = yield client.fetch(
            url,
            raise_error=False,  # if this is cancelled, no error is logged
            body=body,
            follow_redirects=False,
            connect_timeout=TIMEOUT_S,
            request_timeout=TIMEOUT_S,
            **options,
        )
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


def redacted(text: str, *secrets: str) -> str:
    """Return a text without secrets.

    >>> redacted("no route to https://a.test/hook/s3cr3t", "s3cr3t", "")
    'no route to https://a.test/hook/***'
    """
    for secret in filter(None, secrets):
        # Errors quote what has control characters, as repr does.
        text = text.replace(secret, "***").replace(repr(secret)[1:-1], "***")
    return text
