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
from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from tornado.locks import Condition

from crawler_app import politeness
from crawler_app.archive.store import Archive
from crawler_app.config import CrawlConfig
from crawler_app.crawl import ending
from crawler_app.crawl.admission import Admission
from crawler_app.crawl.ending import Ending
from crawler_app.crawl.fetching import Exchanges
from crawler_app.crawl.hooks import Hooks
from crawler_app.crawl.host_state import Hosts
from crawler_app.crawl.interpreting import Reader
from crawler_app.crawl.malloc import keep_freed_memory
from crawler_app.crawl.permission import Obstacles
from crawler_app.crawl.stats import Stats
from crawler_app.errors import (
    FetchError,
    HookError,
    LeaseLostError,
    StorageError,
)
from crawler_app.fetcher import Fetcher
from crawler_app.frontier import Frontier
from crawler_app.index import PageIndex
from crawler_app.models import Candidate, Claim, Fetched, State
from crawler_app.reasons import AnyReason
from crawler_app.robots import RobotsCache
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
    reason: AnyReason
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
        self._clock = clock
        self._admission = Admission(config, frontier, self.stats)
        self._hooks = Hooks() if hooks is None else hooks
        self._reader = Reader(
            config, self._admission, index, clock, keeps_page=self._hooks.want_pages
        )
        self._hosts = Hosts(config, self.stats)
        self._exchanges = Exchanges(
            fetcher,
            frontier,
            self._hosts,
            self.stats,
            clock,
            archive=archive,
            is_recrawl=is_recrawl,
            max_body_bytes=config.max_body_bytes,
        )
        self._obstacles = Obstacles(
            config,
            self._robots_cache(),
            self._hooks,
            self._admission,
            frontier,
            self._hosts,
            self.stats,
            clock,
        )
        self._lease_s = MAX_EXCHANGES * config.request_timeout_s + LEASE_MARGIN_S
        self._changed = Condition()
        self.is_paused = False
        self.is_stopping = False
        self.last_failures: collections.deque[Failure] = collections.deque(
            maxlen=KEPT_FAILURES
        )
        # Not by their numbers: a lease that expires in our hands gives a URL out twice.
        self._claims: set[Claim] = set()

    def _robots_cache(self) -> RobotsCache | None:
        if not self.config.robots:
            return None
        return RobotsCache(
            self._fetch_robots,
            self.config.user_agent,
            self.config.retry_pause_s,
            self._clock,
        )

    @gen.coroutine
    def _fetch_robots(self, url: str) -> Generator[Any, Any, Fetched]:
        fetched = yield from self._exchanges.fetch(url)
        return fetched

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
        return self._claims

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
                    if not self._claims:
                        self.frontier.flush()  # so that whoever looks on sees all of it
                    yield self._changed.wait()
                    continue
                now = self._clock()
                claim = self._claim(now)
                if claim is not None:
                    yield self.crawl_one(claim)
                else:
                    yield self._wait_for_change(now)
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException:
            # Only a disk that fails gets here, and it fails the others too; or what a
            # hook has raised for nobody to handle.
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
        self._claims.add(claim)
        try:
            end = yield self._explore(claim)
            self._record(claim, end)
        except asyncio.CancelledError:
            self.frontier.release(claim)
            raise
        except LeaseLostError as exc:
            logger.warning("%s; it will be fetched again", exc)
        finally:
            self._claims.discard(claim)
            self._changed.notify_all()

    @gen.coroutine
    def _explore(self, claim: Claim) -> Generator[Any, Any, Ending]:
        """Fetch a URL and read what came; nothing is recorded yet."""
        try:
            obstacle = yield from self._obstacles.find(claim)
            if obstacle is not None:
                return obstacle
            fetched, reason = yield from self._exchanges.fetch_page(claim.url)
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

    def _show(self, end: Ending) -> Generator[Any, Any, None]:
        """Show a page to the user's own functions; its links are kept if they fail."""
        assert end.page is not None and end.outcome is not None
        try:
            yield from self._hooks.show(end.page)
        except HookError as exc:
            end.outcome.state = State.FAILED
            end.outcome.reason = exc.reason
            end.outcome.error = str(exc)

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
