"""Sends what is to be told to the channels, each notice once.

Rule: a try is noted before it is made.  So after a crash between telling and noting, the next one
is known to be a repetition, and has the same id.
"""

import logging
from collections.abc import Callable, Generator, Mapping
from typing import Any

from crawler_app.base.errors import ConfigError
from crawler_app.show.watch.notices.by_apprise import Apprise
from crawler_app.show.watch.notices.channel import Channel, NoticeError
from crawler_app.show.watch.notices.issue import Issue
from crawler_app.show.watch.notices.mail import Mail
from crawler_app.show.watch.notices.notice import Event, Notice
from crawler_app.show.watch.notices.notice_config import (
    AppriseConfig,
    IssueConfig,
    MailConfig,
    NoticeConfig,
    WebhookConfig,
)
from crawler_app.show.watch.notices.webhook import Webhook
from crawler_app.show.watch.outbox import Outbox
from gencoro import gen

__all__ = ["Delivery", "make_channel", "retry_pause_s"]

logger = logging.getLogger(__name__)

FIRST_PAUSE_S = 60.0
LONGEST_PAUSE_S = 6 * 3600.0


def make_channel(name: str, config: NoticeConfig) -> Channel:
    """Return a channel.

    Raises:
        ConfigError: a secret is not there, or a library.
    """
    try:
        match config:
            case MailConfig():
                return Mail(config)
            case WebhookConfig():
                return Webhook(config)
            case IssueConfig():
                return Issue(config, name)
            case AppriseConfig():
                return Apprise(config)
    except ConfigError as exc:
        raise ConfigError(f"notices.{name}: {exc}") from None
    raise AssertionError(config)


def retry_pause_s(tries: int) -> float:
    """Return how long to wait after a number of failed tries.

    >>> retry_pause_s(1), retry_pause_s(2), retry_pause_s(100)
    (60.0, 120.0, 21600.0)
    """
    pause_s: float = FIRST_PAUSE_S * 2 ** min(tries - 1, 20)
    return min(pause_s, LONGEST_PAUSE_S)


class Delivery:
    """The channels of a watch.

    Args:
        channels: By their names.
        configs: The sites that each is told of.
        clock: Returns the time, in seconds since the epoch.
    """

    def __init__(
        self,
        outbox: Outbox,
        channels: Mapping[str, Channel],
        configs: Mapping[str, NoticeConfig],
        clock: Callable[[], float],
    ) -> None:
        self._outbox = outbox
        self._channels = channels
        self._sites = {name: configs[name].sites for name in channels}
        self._clock = clock
        for name, channel in channels.items():
            channel.memo = outbox.open_channel(name)

    @gen.coroutine
    def deliver(self, *, at_once: bool = False) -> Generator[Any, Any, bool]:
        """Send everything that is to be told; return whether that worked.

        Args:
            at_once: Whether to try again before the pause of a failure has ended.
        """
        names = list(self._channels)
        sent = yield [self._deliver_to(name, at_once) for name in names]
        return all(sent)

    def next_try_at(self) -> float | None:
        """Return when a notice that failed is to be tried again; None if there is none."""
        return min(
            filter(None, map(self._outbox.next_try_at, self._channels)), default=None
        )

    @gen.coroutine
    def test(self) -> Generator[Any, Any, dict[str, str]]:
        """Send a test to every channel; return what went wrong, by its name."""
        now = self._clock()
        event = Event(0, now, "", "test", words="gencrawl watch can send notices here")
        notice = Notice(f"test-{int(now)}", now, [event], self._outbox.memory.dead())
        errors: dict[str, str] = yield {
            name: self._try(channel, notice, again=False)
            for name, channel in self._channels.items()
        }
        return errors

    @gen.coroutine
    def _deliver_to(self, name: str, at_once: bool) -> Generator[Any, Any, bool]:
        outbox, channel = self._outbox, self._channels[name]
        now = self._clock()
        if not at_once and outbox.next_try_at(name) > now:
            return False
        while notice := outbox.next_notice(name, self._sites[name], now):
            tries: int = outbox.begin_try(notice)
            error: str = yield self._try(channel, notice, again=tries > 0)
            now = self._clock()
            if error:
                next_at = now + retry_pause_s(tries + 1)
                outbox.note_failure(notice, name, channel.memo, error, next_at)
                logger.warning("%s was not told: %s", name, error)
                return False
            outbox.note_sent(notice, name, channel.memo, now)
        return True

    @gen.coroutine
    def _try(
        self, channel: Channel, notice: Notice, *, again: bool
    ) -> Generator[Any, Any, str]:
        """Send a notice; return why that failed, or nothing."""
        try:
            yield channel.send(notice, again=again)
        except NoticeError as exc:
            return str(exc) or "unknown error"
        except (
            Exception
        ) as exc:  # an answer of another form than the API's, for example
            # Without its message, which may have a secret.
            return f"{type(exc).__name__} in {type(channel).__name__.lower()}"
        return ""
