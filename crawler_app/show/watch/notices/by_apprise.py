"""Notices by apprise, a library that knows more than a hundred services.

Few of these can be asked whether a message has arrived, and apprise does not ask: after a crash
between telling and noting, a message comes twice, with the same id at its end.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from crawler_app.base.errors import ConfigError
from crawler_app.show.watch.notices.channel import Channel, NoticeError
from crawler_app.show.watch.notices.notice import Notice, Outgoing
from crawler_app.show.watch.notices.secret_values import secret_of, secret_option
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["Apprise"]


@dataclass(frozen=True, kw_only=True)
class Apprise(Channel):
    """Sends notices to one service, on a thread."""

    url: str = secret_option("URL of apprise")

    def __post_init__(self) -> None:
        self._require("url")

    def prepare(self) -> None:
        """Raise ConfigError if the library is not there, or does not know the URL."""
        try:
            module: Any = import_module("apprise")
        except ModuleNotFoundError:
            raise ConfigError(
                "this needs apprise: pip install 'gencoro[apprise]'"
            ) from None
        if not module.Apprise().add(secret_of(self.url)):
            raise ConfigError("the url is not one that apprise knows")

    def send(self, notice: Notice, out: Outgoing, *, again: bool) -> "gen.Future[None]":
        """Send a message."""
        return IOLoop.current().run_in_executor(None, self._send, notice)

    def _send(self, notice: Notice) -> None:
        service: Any = import_module("apprise").Apprise()
        service.add(secret_of(self.url))
        body = f"{notice.text}\n{notice.id}"
        if not service.notify(body=body, title=notice.subject):
            raise NoticeError("the service did not take it")
