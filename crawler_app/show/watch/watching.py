"""The round of a watch: check the sites that are due, decide what is new, and tell it."""

from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from crawler_app.base.errors import CrawlerError
from crawler_app.base.text.formatting import error_words, number
from crawler_app.show.watch.deciding import DAY_S
from crawler_app.show.watch.delivering import Delivery
from crawler_app.show.watch.looking import Look, LookAt, look_at
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.publishing import publish
from crawler_app.show.watch.schedule import end_of_quiet, next_check_at
from crawler_app.show.watch.watch_config import Watch
from gencoro import gen

__all__ = ["Watcher"]

NOTHING_REACHED = "no site was reached: this machine may be offline"

# As cron does it, so a clock that is set or a machine that sleeps needs no more than this.
TICK_S = 60.0


@dataclass
class Watcher:
    """Watches the sites of a file.

    Attributes:
        clock: Returns the time, in seconds since the epoch.
        note: Called with a line about each check.
        look: Checks a site.
    """

    watch: Watch
    memory: Memory
    delivery: Delivery
    clock: Callable[[], float]
    note: Callable[[str], object] = lambda line: None
    look: LookAt = look_at

    @gen.coroutine
    def run_forever(self) -> Generator[Any, Any, None]:
        """Check the sites on their schedule, until this is cancelled."""
        while True:
            yield self.run_round()
            yield gen.sleep(TICK_S)

    @gen.coroutine
    def run_round(self, *, all_sites: bool = False) -> Generator[Any, Any, bool]:
        """Check the sites that are due, publish that, and tell what is new.

        Returns:
            Whether every site was checked, and everything published and told that may be told.
        """
        now = self.clock()
        is_fine = True
        due = [
            name
            for name in self.watch.sites
            if all_sites or self._due_at(name, now) <= now
        ]
        if due:
            is_fine = yield self._check(due)
            is_fine = publish(self.watch, self.memory, self.clock()) and is_fine
        if end_of_quiet(self.watch.config.quiet, now := self.clock()) <= now:
            is_sent: bool = yield self.delivery.deliver(at_once=all_sites)
            is_fine = is_fine and is_sent
        return is_fine

    @gen.coroutine
    def _check(self, names: list[str]) -> Generator[Any, Any, bool]:
        """Check sites, one after the other; return whether all were checked."""
        is_fine, has_answer = True, False
        silent: list[tuple[str, Look, float]] = []
        for name in names:
            at = self.clock()
            try:
                look: Look = yield self.look(self.watch.sites[name])
            except (CrawlerError, OSError) as exc:
                look = Look.void(error_words(exc))
            else:
                has_answer = has_answer or look.has_answer
            if look.has_answer:
                is_fine = self._take(name, look, at) and is_fine
            else:
                silent.append((name, look, at))
        for name, look, at in silent:
            # If another site has answered, the network works, and this one is down.
            seen = look if has_answer else Look.void(NOTHING_REACHED)
            is_fine = self._take(name, seen, at) and is_fine
        return is_fine

    def _take(self, name: str, look: Look, at: float) -> bool:
        """Note a check, and what is to be told; return whether it has found out anything."""
        events = self.memory.note(name, look, at, self.watch.config.rule_of)
        if look.is_void:
            self.note(f"{name}: {look.caveat}")
            return False
        urls = Counter[str]()
        for event in events:
            urls[event.kind] += event.urls
        site = self.memory.site(name)
        caveat = f"; {look.caveat}" if look.caveat else ""
        self.note(
            f"{name}: {number(look.urls, 'URL')} checked: "
            f"{urls['broken']:,} newly broken, {urls['mended']:,} mended, "
            f"{len(site.broken):,} broken in all, "
            f"{len(site.suspected):,} to be confirmed by the next check{caveat}"
        )
        return True

    def _due_at(self, name: str, now: float) -> float:
        config, runs = self.watch.config, self.memory.site(name).runs
        last_at = runs[-1].at if runs else None
        return next_check_at(last_at, config.every_s or DAY_S, config.at, now)
