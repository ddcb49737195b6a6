"""Notices by apprise, a library that knows more than a hundred services.

Few of these can be asked whether a message has arrived, and apprise does not ask: after a crash
between telling and noting, a message comes twice, with the same id at its end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

from crawler_app.base.config.option import REQUIRED
from crawler_app.base.errors import ConfigError
from crawler_app.show.watch.notices.channel import (
    NoticeChannel,
    NoticeError,
    secret_option,
)
from crawler_app.show.watch.notices.notice import Notice, Outgoing
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["Apprise"]


@dataclass(frozen=True, kw_only=True)
class Apprise(NoticeChannel):
    """Sends notices to one service, on a thread."""

    url: str = secret_option("URL of apprise", REQUIRED)

    def with_secrets(self, secret_by_name: Mapping[str, str]) -> Self:
        """Return this channel, ready to send."""
        made = super().with_secrets(secret_by_name)
        made._service()
        return made

    def send(self, notice: Notice, out: Outgoing) -> "gen.Future[None]":
        """Send a message."""
        return IOLoop.current().run_in_executor(None, self._send, notice)

    def _send(self, notice: Notice) -> None:
        body = f"{notice.text()}\n{notice.id}"
        if not self._service().notify(body=body, title=notice.subject):
            raise NoticeError("the service did not take it")

    def _service(self) -> Any:
        try:
            made: Any = import_module("apprise").Apprise()
        except ModuleNotFoundError:
            raise ConfigError(
                "this needs apprise: pip install 'gencoro[apprise]'"
            ) from None
        if not made.add(self.url):
            raise ConfigError("the url is not one that apprise knows")
        return made
