"""Notices by apprise, a library that knows more than a hundred services.

Few of these can be asked whether a message has arrived, and apprise does not ask: after a crash
between telling and noting, a message comes twice, with the same id at its end.
"""

from importlib import import_module
from typing import Any

from crawler_app.base.errors import ConfigError
from crawler_app.show.watch.notices.channel import Channel, NoticeError
from crawler_app.show.watch.notices.notice import Notice
from crawler_app.show.watch.notices.notice_config import AppriseConfig
from crawler_app.show.watch.notices.secret_values import secret_of
from gencoro import gen
from gencoro.ioloop import IOLoop

__all__ = ["Apprise"]


class Apprise(Channel):
    """Sends notices to one service."""

    def __init__(self, config: AppriseConfig) -> None:
        try:
            module: Any = import_module("apprise")
        except ModuleNotFoundError:
            raise ConfigError(
                "this needs apprise: pip install 'gencoro[apprise]'"
            ) from None
        self._service = module.Apprise()
        if not self._service.add(secret_of(config.url)):
            raise ConfigError("the url is not one that apprise knows")

    def send(self, notice: Notice, *, again: bool) -> "gen.Future[None]":
        """Send a message, on a thread."""
        return IOLoop.current().run_in_executor(None, self._send, notice)

    def _send(self, notice: Notice) -> None:
        body = f"{notice.text}\n{notice.id}"
        if not self._service.notify(body=body, title=notice.subject):
            raise NoticeError("the service did not take it")
