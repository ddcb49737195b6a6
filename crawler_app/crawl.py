"""The path of a URL, from the frontier to the frontier; readable top to bottom::

    admit        canonicalize, check the scope, avoid traps     in memory
    claim        the next URL whose host may be asked           disk
    robots       whether its host wants it to be asked for      remembered
    fetch        one exchange                                   network
    archive      what went over the wire                        disk, by another thread
    parse        title, links, text                             pure
    index        its words                                      disk
    finish       the outcome and what was found                 disk, all or nothing

Rule 1: every URL enters through `Admission.admit`: seeds, links, redirect targets and the
entries of sitemaps.

Rule 2: a claim ends in exactly one of `finish`, `retry`, `respell` and `release`, unless
a disk fails, which ends the crawl.

Rule 3: what the frontier has written as finished is in the archive and in the index:
they are flushed before each of its commits, see `crawler_app.directory`.
"""

import asyncio
import collections
import contextlib
import datetime
import logging
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tornado.locks import Condition

from crawler_app import ending, politeness
from crawler_app.admission import Admission
from crawler_app.archive import Archive, Capture
from crawler_app.config import CrawlConfig
from crawler_app.ending import Ending
from crawler_app.errors import (
    ArchiveError,
    FetchError,
    HookError,
    LeaseLostError,
    StorageError,
)
from crawler_app.fetcher import Fetcher
from crawler_app.frontier import Frontier
from crawler_app.heap import keep_freed_memory
from crawler_app.hooks import Hooks
from crawler_app.hosts import Hosts
from crawler_app.index import PageIndex
from crawler_app.models import Candidate, Claim, Fetched, State
from crawler_app.reading import Reader
from crawler_app.robots import RobotsCache
from crawler_app.robots_txt import Rules
from crawler_app.stats import Stats
from crawler_app.urls import host_of
from gencoro import gen

__all__ = ["Crawl", "Failure"]

logger = logging.getLogger(__name__)

# A timer of asyncio's may go off a moment early; this is longer than that moment.
LEAST_WAIT_S = 0.001

# Exchanges that a claim may have to wait for, each within its time limit: robots.txt and
# where it leads, a page that may be unchanged, and the whole page after all.
MAX_EXCHANGES = 8
LEASE_MARGIN_S = 60.0

# For whoever looks on.
KEPT_FAILURES = 20


@dataclass(slots=True, frozen=True)
class Failure:
    """A URL that has failed for the last time.

    Attributes:
        at: When, in seconds of the epoch.
    """

    at: float
    url: str
    reason: str
    error: str


class Crawl:
    """One run: crawls until the frontier is drained, a limit is reached, or it is stopped.

    Args:
        config: What to crawl.
        frontier: Where every URL is kept; owned by the caller, who closes it.
        fetcher: Likewise.
        stats: Counts what this run does.
        clock: The current time, in seconds of the epoch.
        archive: Where every exchange is kept; likewise.
        index: Where the words of every page are kept; likewise.
        is_recrawl: Whether to ask only for what has changed since it was archived.
        hooks: The user's own functions.

    Attributes:
        limit_reached: The limit that has ended the crawl, as its option is called.
        is_paused: Whether no fetch is begun until `resume` is called.
        is_stopping: Whether no fetch is begun any more.
        under_way: The claimed URLs.
        last_failures: The newest, the latest last.

    >>> from crawler_app.frontier.memory import MemoryFrontier
    >>> crawl = Crawl(CrawlConfig(("http://a.test/",)), MemoryFrontier(), None)
    >>> crawl.admit("page#top", base="http://a.test/").url
    'http://a.test/page'
    """

    def __init__(
        self,
        config: CrawlConfig,
        frontier: Frontier,
        fetcher: Fetcher,
        stats: Stats | None = None,
        clock: Callable[[], float] = time.time,
        *,
        archive: Archive | None = None,
        index: PageIndex | None = None,
        is_recrawl: bool = False,
        hooks: Hooks | None = None,
    ) -> None:
        self.config = config
        self.frontier = frontier
        self.fetcher = fetcher
        self.stats = Stats() if stats is None else stats
        self.limit_reached = ""
        self._archive = archive
        self._is_recrawl = is_recrawl and archive is not None
        self._clock = clock
        self._admission = Admission(config, frontier, self.stats)
        self._hooks = Hooks() if hooks is None else hooks
        self._reader = Reader(
            config, self._admission, index, clock, keeps_page=self._hooks.want_pages
        )
        self._hosts = Hosts(config, self.stats)
        self._robots: RobotsCache | None = None
        if config.robots:
            self._robots = RobotsCache(
                self._fetch_robots, config.user_agent, config.retry_pause_s, clock
            )
        # Those whose robots.txt was asked for in this run.
        self._asked_hosts: set[str] = set()
        self._lease_s = MAX_EXCHANGES * config.request_timeout_s + LEASE_MARGIN_S
        self._changed = Condition()
        self.is_paused = False
        self.is_stopping = False
        self.last_failures: collections.deque[Failure] = collections.deque(
            maxlen=KEPT_FAILURES
        )
        self._claim_by_id: dict[int, Claim] = {}

    @gen.coroutine
    def run(self) -> Generator[Any, Any, None]:
        """Crawl to the end.  When cancelled, give every claimed URL back first."""
        keep_freed_memory()
        self.frontier.recover()
        self.frontier.limit_hosts(self._hosts.limit(map(host_of, self.config.seeds)))
        self._admission.remember()
        seeds = [self.admit(seed) for seed in self.config.seeds]
        self.frontier.add(seed for seed in seeds if seed is not None)
        with self._time_limit():
            yield [self._work() for _ in range(self.config.concurrency)]
        is_whole = self.frontier.is_drained()
        self.limit_reached = "" if is_whole else self.limit_reached or self._limit()
        self.frontier.flush()

    def stop(self) -> None:
        """Let the fetches under way end, and begin no others."""
        self.is_stopping = True
        self._changed.notify_all()

    def pause(self) -> None:
        """Let the fetches under way end, and begin no others until `resume` is called."""
        self.is_paused = True

    def resume(self) -> None:
        """Go on after `pause`."""
        self.is_paused = False
        self._changed.notify_all()

    @property
    def under_way(self) -> Collection[Claim]:
        return self._claim_by_id.values()

    def admit(self, reference: str, base: str = "", depth: int = 0) -> Candidate | None:
        """Return what a reference means for this crawl; see `Admission.admit`."""
        return self._admission.admit(reference, base, depth)

    @contextlib.contextmanager
    def _time_limit(self) -> Iterator[None]:
        """Stop when the run has taken as long as it may."""

        def end() -> None:
            self.limit_reached = "max_time"
            self.stop()

        if self.config.max_time_s is None:
            yield
            return
        timer = asyncio.get_running_loop().call_later(self.config.max_time_s, end)
        try:
            yield
        finally:
            timer.cancel()

    @gen.coroutine
    def _work(self) -> Generator[Any, Any, None]:
        """Crawl one URL after the other until there is nothing more to do."""
        try:
            while not self._is_over():
                if self.is_paused:
                    if not self._claim_by_id:
                        self.frontier.flush()  # so that whoever looks on sees all of it
                    yield self._changed.wait()
                    continue
                now = self._clock()
                claim = self._claim(now)
                if claim is not None:
                    yield self.crawl_one(claim)
                else:
                    yield self._wait_for_change(now)
        except Exception:
            # Only a disk that fails gets here, and it fails the others too.
            self.stop()
            raise

    @gen.coroutine
    def _wait_for_change(self, now: float) -> Generator[Any, Any, None]:
        """Wait until another worker ends a URL, or time makes one ready."""
        next_at = self.frontier.next_at(now)
        timeout = None
        if next_at is not None:
            timeout = datetime.timedelta(seconds=max(next_at - now, LEAST_WAIT_S))
        yield self._changed.wait(timeout)

    def _claim(self, now: float) -> Claim | None:
        # Level by level where the depth counts, so that a URL's depth is the shortest
        # way to it and no link is refused as too deep that a slower page makes shallow.
        level = None
        if self.config.max_depth is not None:
            level = self.frontier.depth_in_work(now)
        return self.frontier.claim(now, self._lease_s, level)

    def _is_over(self) -> bool:
        return self.is_stopping or self.frontier.is_drained() or bool(self._limit())

    def _limit(self) -> str:
        """Return which limit the crawl has reached; nothing if none.

        Not for good: a URL that is claimed may be put back.
        """
        config = self.config
        if config.max_bytes is not None and self.stats["bytes"] >= config.max_bytes:
            return "max_bytes"
        begun = (State.DONE, State.FAILED, State.CLAIMED)
        if (
            config.max_pages is not None
            and sum(map(self.frontier.count, begun)) >= config.max_pages
        ):
            return "max_pages"
        return ""

    @gen.coroutine
    def crawl_one(self, claim: Claim) -> Generator[Any, Any, None]:
        """Take one claimed URL down its path; an error ends on the URL, not on us."""
        self._claim_by_id[claim.id] = claim
        try:
            end = yield self._explore(claim)
            self._record(claim, end)
        except asyncio.CancelledError:
            self.frontier.release(claim)
            raise
        except LeaseLostError as exc:
            logger.warning("%s; it will be fetched again", exc)
        finally:
            del self._claim_by_id[claim.id]
            self._changed.notify_all()

    @gen.coroutine
    def _explore(self, claim: Claim) -> Generator[Any, Any, Ending]:
        """Fetch a URL and read what came; nothing is recorded yet."""
        try:
            obstacle = yield from self._obstacle(claim)
            if obstacle is not None:
                return obstacle
            fetched, reason = yield from self._fetch_page(claim.url)
            end = self._reader.read(claim, fetched, reason)
            if end.page is not None:
                yield from self._show(end)
            return end
        except FetchError as exc:
            return ending.of_error(exc)
        except StorageError:
            raise
        except Exception as exc:  # a fault of ours: it must not stop the other workers
            logger.exception("cannot process %s", claim.url)
            return ending.internal_error(exc)

    def _obstacle(self, claim: Claim) -> Generator[Any, Any, Ending | None]:
        """Return why a URL must not be fetched now, by the rules of its host."""
        if self._robots is not None:
            obstacle = yield from self._obstacle_by_robots(claim, self._robots)
            if obstacle is not None:
                return obstacle
        if self._hooks.should_fetch is None or self._is_exempt(claim):
            return None
        if (yield from self._hooks.allow(claim.url)):
            return None
        self.stats.add("excluded/should_fetch")
        return ending.excluded("should_fetch")

    def _is_exempt(self, claim: Claim) -> bool:
        """Return whether a URL is not for the user's own function to decide on."""
        return claim.is_sitemap or claim.url in self.config.seeds

    def _show(self, end: Ending) -> Generator[Any, Any, None]:
        """Show a page to the user's own functions; its links are kept if they fail."""
        assert end.page is not None and end.outcome is not None
        try:
            yield from self._hooks.show(end.page)
        except HookError as exc:
            end.outcome.state = State.FAILED
            end.outcome.reason = exc.reason
            end.outcome.error = str(exc)

    def _obstacle_by_robots(
        self, claim: Claim, robots: RobotsCache
    ) -> Generator[Any, Any, Ending | None]:
        rules = robots.known(claim.url)
        if rules is None:
            rules = yield robots.ask(claim.url)
            self._heed(rules, claim)
            if claim.host not in self._asked_hosts:
                # Now that they are known: in its turn, which is after the host's gap.
                self._asked_hosts.add(claim.host)
                return ending.put_back()
            # They were known, and are forgotten or too old: now, or it would go on so.
        if rules.is_unreachable:
            return self._unreachable(rules)
        if rules.allows(claim.url):
            return None
        yield gen.moment  # many in a row must not keep the loop from the others
        self.stats.add("excluded/robots")
        return ending.excluded("robots")

    def _heed(self, rules: Rules, claim: Claim) -> None:
        """Take in what a robots.txt says besides what it forbids."""
        self._hosts.note_crawl_delay(claim.host, rules.crawl_delay_s)
        if not self.config.sitemaps:
            return
        found = [
            self._admission.admit(url, claim.url, is_sitemap=True)
            for url in rules.sitemaps
        ]
        news = [candidate for candidate in found if candidate is not None]
        if news:  # not again by each worker that has waited for the rules
            self.frontier.add(news)

    def _unreachable(self, rules: Rules) -> Ending:
        """Return how a URL ends while nobody knows its host's rules.

        Raises:
            FetchError: the host has given no answer at all.
        """
        error = rules.error
        if error is not None:  # as if the URL itself had given no answer
            raise FetchError(
                error.reason, f"robots.txt: {error}", is_passing=error.is_passing
            )
        if rules.retry_at is not None:
            return ending.put_back(rules.retry_at)
        text = "robots.txt has answered with errors only, so nothing may be fetched"
        return ending.of_error(FetchError("robots_unreachable", text, is_passing=False))

    @gen.coroutine
    def _fetch_robots(self, url: str) -> Generator[Any, Any, Fetched]:
        fetched = yield from self._fetch(url)
        return fetched

    def _fetch_page(self, url: str) -> Generator[Any, Any, tuple[Fetched, str]]:
        """Fetch a URL, or find that it is as it was archived; and say which."""
        capture = None
        if self._archive is not None and self._is_recrawl:
            capture = self._archive.latest(url)
        if self._archive is None or capture is None:
            return (yield from self._fetch(url)), "ok"
        fetched = yield from self._fetch(url, _conditions(capture))
        if fetched.status != 304:
            return fetched, "ok"
        try:
            archived = self._archive.read(capture, self.config.max_body_bytes)
        except ArchiveError as exc:
            logger.warning("%s is fetched whole: %s", url, exc)
            return (yield from self._fetch(url)), "ok"
        archived.took_s = fetched.took_s
        return archived, "unchanged"

    def _fetch(
        self, url: str, headers: Mapping[str, str] | None = None
    ) -> Generator[Any, Any, Fetched]:
        """Make one exchange, and archive it."""
        host = host_of(url)
        gap_s = self._hosts.gap_s(host)
        if gap_s:
            self.frontier.hold_host(host, self._clock() + gap_s)
        began_at = self._clock()
        fetched: Fetched = yield self.fetcher.fetch(url, headers)
        self._hosts.note_answer(host, fetched.took_s)
        self.stats.add("fetched")
        self.stats.add("bytes", len(fetched.body))
        if self._archive is not None:
            yield self._archive.write(fetched, began_at)
        return fetched

    def _record(self, claim: Claim, end: Ending) -> None:
        """Put a URL back, for another try or under another spelling, or finish it."""
        now = self._clock()
        held_until: float | None = end.held_until
        if end.outcome is not None:
            held_until = self._hosts.outage_ends_at(claim.host, end.outcome, now)
        if held_until:
            self.frontier.hold_host(claim.host, held_until)
        if end.outcome is None or held_until:
            # Not the URL's fault: it costs it no try.
            self.frontier.release(claim)
        elif end.respelled:
            self.frontier.respell(claim, end.respelled)
        elif not end.is_passing or not self._retry(claim, end, now):
            self._finish(claim, end, now)

    def _retry(self, claim: Claim, end: Ending, now: float) -> bool:
        """Put a URL back for another try, if it has one left."""
        tries = claim.tries + 1
        due_at = politeness.retry_at(
            now, tries, self.config.retry_pause_s, end.asked_for_s
        )
        if end.outcome is not None and end.outcome.status == 429:
            # "Too many requests" is about us; 503 may be about this URL alone.
            self.frontier.hold_host(claim.host, due_at)
        if tries >= self.config.tries:
            return False
        self.stats.add("retried")
        self.frontier.retry(claim, due_at)
        return True

    def _finish(self, claim: Claim, end: Ending, now: float) -> None:
        try:
            self._end(claim, end, now)
        except (LeaseLostError, StorageError):
            raise
        except Exception as exc:
            # What we found cannot be kept; that we failed can, or the frontier is broken.
            logger.error("cannot record %s: %r", claim.url, exc)
            self._end(claim, ending.internal_error(exc), now)

    def _end(self, claim: Claim, end: Ending, now: float) -> None:
        assert end.outcome is not None
        self.frontier.finish(claim, end.outcome, now, end.outlinks)
        if end.outcome.state is State.FAILED:
            self.stats.add(f"failed/{end.outcome.reason}")
            self.last_failures.append(
                Failure(now, claim.url, end.outcome.reason, end.outcome.error)
            )


def _conditions(capture: Capture) -> dict[str, str]:
    """Return the headers that ask for a page only if it is not what was archived."""
    fields = {
        "If-None-Match": capture.etag,
        "If-Modified-Since": capture.last_modified,
    }
    return {name: value for name, value in fields.items() if value}
