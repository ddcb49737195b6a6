"""Sends what is to be told to the channels, each notice once.

Rule: a try is noted before it is made.  So after a crash between telling and noting, the next one
is known to be a repetition, and has the same id.
"""

import functools
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from crawler_app.base.errors import CrawlerError
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.notices.channel import NoticeChannel
from crawler_app.show.watch.notices.notice import Event, Notice, Outgoing
from gencoro import gen

__all__ = ["Delivery"]

logger = logging.getLogger(__name__)

# After failures, these double from the first to the longest.
FIRST_PAUSE_S = 60.0
LONGEST_PAUSE_S = 6 * 3600.0

# For one notice: a server may answer, but too slowly.
PATIENCE_S = 180.0


@dataclass
class Delivery:
    """The channels of a watch.

    Attributes:
        channels: By their names.
        sites: Those that are watched.
        clock: Returns the time, in seconds since the epoch.
    """

    memory: Memory
    channels: Mapping[str, NoticeChannel]
    sites: Sequence[str]
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self.memory.open_channels(self.channels)

    @gen.coroutine
    def deliver(self, *, at_once: bool = False) -> Generator[Any, Any, bool]:
        """Send everything that is to be told; return whether that worked.

        Args:
            at_once: Whether to try again before the pause of a failure has ended.
        """
        sent = yield [self._deliver_to(name, at_once) for name in self.channels]
        return all(sent)

    @gen.coroutine
    def test(self) -> Generator[Any, Any, dict[str, str]]:
        """Send a test to every channel; return what went wrong, by its name."""
        now = self.clock()
        event = Event(0, now, "", "test", "", "gencrawl watch can send notices here")
        errors: dict[str, str] = yield {
            # The process that sent the last test may have been killed, too.
            name: self._try(name, f"test/{now}", [event], is_repeated=True)
            for name in self.channels
        }
        self.memory.save()
        return errors

    @gen.coroutine
    def _deliver_to(self, name: str, at_once: bool) -> Generator[Any, Any, bool]:
        out = self.memory.channels[name]
        wait_s = out.next_try_at - self.clock()
        # A longer one means that the clock was set back.
        if not at_once and 0 < wait_s <= LONGEST_PAUSE_S:
            return False
        while events := self._next_events(name, out):
            out.tries += 1
            self.memory.save()
            out.error = yield self._try(
                name, f"{out.told}-{out.upto}", events, is_repeated=out.tries > 1
            )
            if out.error:
                pause_s = FIRST_PAUSE_S * 2 ** min(out.tries - 1, 20)
                out.next_try_at = self.clock() + min(pause_s, LONGEST_PAUSE_S)
                logger.warning("%s was not told: %s", name, out.error)
            else:
                out.end()
            self.memory.save()
            if out.error:
                return False
        return True

    def _next_events(self, name: str, out: Outgoing) -> Sequence[Event]:
        """Return the events of the notice that was not sent, or else of a new one."""
        sites = self._sites_of(name)
        for upto in (out.upto, self.memory.last_event):
            out.upto = upto
            events = [
                each
                for each in self.memory.events
                if out.told < each.id <= upto and each.site in sites
            ]
            if events:
                return events
            out.end()  # it was told, or its site is not watched any longer
        return []

    def _sites_of(self, name: str) -> Sequence[str]:
        return self.channels[name].sites or self.sites

    @gen.coroutine
    def _try(
        self, name: str, what: str, events: Sequence[Event], *, is_repeated: bool
    ) -> Generator[Any, Any, str]:
        """Send a notice; return why that failed, or nothing."""
        channel, out = self.channels[name], self.memory.channels[name]
        notice = Notice(
            self.memory.own_id(f"{name}/{what}").hex,
            self.memory.own_id(name).hex,
            events,
            functools.partial(self.memory.broken, self._sites_of(name)),
            is_repeated,
        )
        try:
            sending = channel.send(notice, out)
            yield gen.with_timeout(timedelta(seconds=PATIENCE_S), sending)
        except CrawlerError as exc:
            return str(exc) or "unknown error"
        except gen.TimeoutError:
            return f"it took more than {PATIENCE_S:.0f} seconds"
        except Exception as exc:
            # An answer of another form than the API's, for example.  The message may have
            # a secret.
            return f"{type(exc).__name__} in {type(channel).__name__.lower()}"
        return ""
