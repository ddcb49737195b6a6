"""Sends what is to be told to the channels, each notice once.

Rule: a try is noted before it is made.  So after a crash between telling and noting, the next one
is known to be a repetition, and has the same id.
"""

import logging
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from crawler_app.base.errors import CrawlerError
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.notices.channel import Channel
from crawler_app.show.watch.notices.notice import Event, Notice, Outgoing
from gencoro import gen

__all__ = ["Delivery"]

logger = logging.getLogger(__name__)

# After failures, these double from the first to the longest.
FIRST_PAUSE_S = 60.0
LONGEST_PAUSE_S = 6 * 3600.0

# For one notice: a server may answer, but too slowly.
PATIENCE_S = 180.0


class Delivery:
    """The channels of a watch.

    Args:
        channels: By their names.
        sites: Those that are watched.
        clock: Returns the time, in seconds since the epoch.
    """

    def __init__(
        self,
        memory: Memory,
        channels: Mapping[str, Channel],
        sites: Sequence[str],
        clock: Callable[[], float],
    ) -> None:
        self._memory = memory
        self._channels = channels
        self._sites = {name: each.sites or sites for name, each in channels.items()}
        self._clock = clock
        memory.open_channels(channels)

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
        waiting = self._memory.channels.values()
        return min((each.next_try_at for each in waiting if each.error), default=None)

    @gen.coroutine
    def test(self) -> Generator[Any, Any, dict[str, str]]:
        """Send a test to every channel; return what went wrong, by its name."""
        now = self._clock()
        event = Event(0, now, "", "test", words="gencrawl watch can send notices here")
        errors: dict[str, str] = yield {
            name: self._try(
                name, self._notice(name, f"test/{now}", now, [event]), False
            )
            for name in self._channels
        }
        self._memory.save()
        return errors

    @gen.coroutine
    def _deliver_to(self, name: str, at_once: bool) -> Generator[Any, Any, bool]:
        out = self._memory.channels[name]
        wait_s = out.next_try_at - self._clock()
        # A longer one means that the clock was set back.
        if not at_once and 0 < wait_s <= LONGEST_PAUSE_S:
            return False
        while notice := self._next_notice(name, out):
            out.tries += 1
            self._memory.save()
            error: str = yield self._try(name, notice, out.tries > 1)
            if error:
                out.error = error
                pause_s = FIRST_PAUSE_S * 2 ** min(out.tries - 1, 20)
                out.next_try_at = self._clock() + min(pause_s, LONGEST_PAUSE_S)
                self._memory.save()
                logger.warning("%s was not told: %s", name, error)
                return False
            self._note_told(out)
            self._memory.save()
        return True

    def _next_notice(self, name: str, out: Outgoing) -> Notice | None:
        """Return the notice that was not sent, or a new one; None if all is told."""
        events = self._events(name, out)
        if not events:  # none is being told, or its site is not watched any longer
            self._note_told(out)
            out.upto, out.made_at = self._memory.last_event, self._clock()
            events = self._events(name, out)
        if events:
            return self._notice(name, f"{out.told}-{out.upto}", out.made_at, events)
        self._note_told(out)
        return None

    def _events(self, name: str, out: Outgoing) -> list[Event]:
        return [
            each
            for each in self._memory.events
            if out.told < each.id <= out.upto and each.site in self._sites[name]
        ]

    def _notice(
        self, name: str, what: str, made_at: float, events: Sequence[Event]
    ) -> Notice:
        own = uuid.UUID(self._memory.id)
        return Notice(
            uuid.uuid5(own, f"{name}/{what}").hex,
            uuid.uuid5(own, name).hex,
            made_at,
            events,
            self._memory.dead(self._sites[name]),
        )

    def _note_told(self, out: Outgoing) -> None:
        out.told = max(out.told, out.upto)
        out.tries, out.next_try_at, out.error = 0, 0.0, ""

    @gen.coroutine
    def _try(self, name: str, notice: Notice, again: bool) -> Generator[Any, Any, str]:
        """Send a notice; return why that failed, or nothing."""
        channel, out = self._channels[name], self._memory.channels[name]
        try:
            sending = channel.send(notice, out, again=again)
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
