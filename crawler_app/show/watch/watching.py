"""The round of a watch: check the sites that are due, decide what is new, and tell it."""

from collections.abc import Callable, Generator
from typing import Any

from crawler_app.base.errors import CrawlerError
from crawler_app.base.text.formatting import error_words, number
from crawler_app.show.watch.delivering import Delivery
from crawler_app.show.watch.looking import Look, LookAt, look_at
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.notices.notice import Event
from crawler_app.show.watch.schedule import end_of_quiet, next_check_at
from crawler_app.show.watch.watch_config import Watch
from gencoro import gen

__all__ = ["Watcher"]

NOTHING_REACHED = "no site was reached: this machine may be offline"

# A clock that is set, or a machine that sleeps, is noticed within this time.
LONGEST_SLEEP_S = 600.0


class Watcher:
    """Watches the sites of a file.

    Args:
        delivery: None to send no notice.
        clock: Returns the time, in seconds since the epoch.
        look: Checks a site.
        after_round: Called when a round has ended; returns whether all is well.
        note: Called with a line about each check.

    Attributes:
        events: What is new.
    """

    def __init__(
        self,
        watch: Watch,
        memory: Memory,
        delivery: Delivery | None,
        clock: Callable[[], float],
        *,
        look: LookAt = look_at,
        after_round: Callable[[], bool] = lambda: True,
        note: Callable[[str], object] = lambda line: None,
    ) -> None:
        self._watch = watch
        self._memory = memory
        self._delivery = delivery
        self._clock = clock
        self._look = look
        self._after_round = after_round
        self._note = note
        self.events: list[Event] = []

    @gen.coroutine
    def run_forever(self) -> Generator[Any, Any, None]:
        """Check the sites on their schedule, until this is cancelled."""
        while True:
            yield self.run_round()
            self.events.clear()
            pause_s = self._wakes_at() - self._clock()
            yield gen.sleep(min(max(pause_s, 1.0), LONGEST_SLEEP_S))

    @gen.coroutine
    def run_round(self, *, all_sites: bool = False) -> Generator[Any, Any, bool]:
        """Check the sites that are due, and tell what is new.

        Returns:
            Whether every site was checked, and everything that may be told now was told.
        """
        now = self._clock()
        is_fine = True
        due = [
            name
            for name in self._watch.sites
            if all_sites or self._due_at(name, now) <= now
        ]
        if due:
            is_fine = yield self._check(due)
            is_fine = self._after_round() and is_fine
        if self._delivery and not self._is_quiet():
            is_sent: bool = yield self._delivery.deliver(at_once=all_sites)
            is_fine = is_fine and is_sent
        return is_fine

    @gen.coroutine
    def _check(self, names: list[str]) -> Generator[Any, Any, bool]:
        """Check sites, one after the other; return whether all were checked."""
        is_fine, has_answer = True, False
        silent: list[tuple[str, Look, float]] = []
        for name in names:
            at = self._clock()
            try:
                look: Look = yield self._look(self._watch.sites[name])
            except (CrawlerError, OSError) as exc:
                self._note_void(name, at, error_words(exc))
                is_fine = False
                continue
            has_answer = has_answer or look.has_answer
            if look.has_answer and not (look.urls or look.sightings):  # a wall
                self._note_void(name, at, look.caveat)
                is_fine = False
            elif look.has_answer:
                self._take(name, look, at)
            else:
                silent.append((name, look, at))
        for name, look, at in silent:
            if has_answer:  # so the network works, and the site is down
                self._take(name, look, at)
            else:
                self._note_void(name, at, NOTHING_REACHED)
                is_fine = False
        return is_fine

    def _note_void(self, name: str, at: float, why: str) -> None:
        self._memory.note_void(name, at, why)
        self._note(f"{name}: not checked: {why}")

    def _take(self, name: str, look: Look, at: float) -> None:
        config = self._watch.config
        events = self._memory.note(
            name, look, at, external=config.external_rule, own=config.own_rule
        )
        self.events += events
        told = ", ".join(
            f"{sum(e.urls for e in events if e.kind == kind):,} {word}"
            for kind, word in (("dead", "newly broken"), ("mended", "mended"))
        )
        site = self._memory.site(name)
        caveat = f"; incomplete: {look.caveat}" if look.caveat else ""
        self._note(
            f"{name}: {number(look.urls, 'URL')} checked: {told}, "
            f"{len(site.broken):,} broken in all, "
            f"{len(site.suspected):,} to be confirmed by the next check{caveat}"
        )

    def _due_at(self, name: str, now: float) -> float:
        config, runs = self._watch.config, self._memory.site(name).runs
        last_at = runs[-1].at if runs else None
        return next_check_at(last_at, config.every_s, config.at, now)

    def _is_quiet(self) -> bool:
        now = self._clock()
        return end_of_quiet(self._watch.config.quiet, now) > now

    def _wakes_at(self) -> float:
        """Return when there is something to do next."""
        now = self._clock()
        times = [self._due_at(name, now) for name in self._watch.sites]
        quiet_end = end_of_quiet(self._watch.config.quiet, now)
        if quiet_end > now:
            times.append(quiet_end)
        elif self._delivery and (retry_at := self._delivery.next_try_at()):
            times.append(retry_at)
        return min(times)
