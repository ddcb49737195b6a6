"""The crawl loop, and the path of a URL through it::

    admit        canonicalize, check the scope, avoid traps     admission, scope, traps
    claim        the next URL whose host may be asked           frontier
    permit       robots.txt and the user's callback             permission, hooks
    fetch        one exchange, which is archived                fetching
    interpret    parse; admit links; index and show the page    interpreting, redirecting,
                                                                hooks
    end          put back, respell, retry or finish             ending, frontier

Beside the path::

    external_checks  checks that external URLs exist
    external_cache   which of them existed in earlier runs
    refusals         decides whether a host refuses the crawl
    wall_checks      asks it for a page that is known, to find out
    waits            names what is waited for, and bounds the waits for external hosts
    session          logs in, and again when the site has logged the crawl out
    logging_in       makes the exchanges of a login
    login_signs      tells from a response whether the crawl is logged in
    logouts          recognizes the links that would do that
    repeated_pages   finds sites without end, whose pages say the same
    rendering        renders the pages that scripts make
    browser_requests makes the requests of their browser
    retrying         repeats a fetch of these that fails for a while
    soft_404         detects soft 404s, with one request per host
    observer         notified of documents, finished URLs and hosts
    wiring           makes the parts of one run and connects them
    context          what these share
    error_log        logs an error of thousands of URLs once
    host_state       what a run learns about its hosts
    pace             how fast to crawl, which may change
    outages          distinguishes a host that is down from a URL that fails
    trace            the log of every request and decision
    monitor          samples it once a second
    estimate         how much is done, and how long the rest will take
    malloc           keeps freed memory for the next page
    time_slice       interrupts long work on one page
    worker_crawl     a crawl whose frontier is shared with other workers
    host_updates     shares per-host state between workers

Rule 1: every URL enters through `Admission.admit`: seeds, links, redirect targets and the
entries of sitemaps.  A redirect to another spelling of the same URL is no new candidate, and
only `Admission.check` checks it.

Rule 2: a claim ends in exactly one of `finish`, `retry`, `respell` and `release`, unless
its lease was lost, or the crawl ends: by a disk that fails, or by a callback that raises
what is not an Exception.

Rule 3: the response of a URL that the frontier records as finished is in the archive, and its
text is in the index: both are flushed before each commit of the frontier.  No claim ends
meanwhile.
"""

import asyncio
import collections
import contextlib
import dataclasses
import datetime
import heapq
import logging
import math
from collections.abc import (
    Collection,
    Generator,
    Iterator,
)
from operator import attrgetter
from typing import Any

from crawler_app.base.errors import (
    FetchError,
    HookError,
    LeaseLostError,
    LoginError,
    StorageError,
)
from crawler_app.base.models import (
    Candidate,
    Claim,
    CrawledPage,
    Outcome,
    Role,
    State,
)
from crawler_app.base.reasons import WALLS, AnyReason
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import host_of
from crawler_app.run.crawl import ending, trace, waits
from crawler_app.run.crawl.ending import Ending, Finish, PutBack, Respell, Retry
from crawler_app.run.crawl.error_log import ErrorLog
from crawler_app.run.crawl.malloc import keep_freed_memory
from crawler_app.run.crawl.pace import Pace, with_pace
from crawler_app.run.crawl.wiring import CrawlParts
from crawler_app.store.frontier import Frontier
from crawler_app.web import politeness
from gencoro import gen
from gencoro.locks import Condition

__all__ = ["KEPT_FAILURES", "NO_PAGES", "Crawl", "Failure"]

logger = logging.getLogger(__name__)

# asyncio timers may fire slightly early; this is longer than that.
MIN_WAIT_S = 0.001

# While URLs are under way, a worker without one commits no more often than this.
IDLE_COMMIT_EVERY_S = 0.05

# While every worker waits for a site, what is due is committed this often.
BUSY_COMMIT_EVERY_S = 0.5

# Exchanges that one claim may have to wait for, each within its time limit: robots.txt and
# its redirects, a conditional request for the page, and the whole page.
MAX_EXCHANGES = 8
LEASE_MARGIN_S = 60.0

# Below the depth of every page.
NO_PAGES = -1

# What is under way may take so much longer than the time limit.
GRACE_S = 3.0

# For the monitor.
KEPT_FAILURES = 20


@dataclasses.dataclass(slots=True, frozen=True)
class Failure:
    """A URL that has failed and will not be retried.

    Attributes:
        at: When it failed, in seconds since the epoch.
        url: The canonical URL.
        reason: Why; see `crawler_app.base.reasons`.
        error: The error message; empty if the reason says everything.
    """

    at: float
    url: str
    reason: AnyReason
    error: str


class Crawl:
    """One run: crawls until the frontier is drained, a limit is reached, or it is stopped.

    Args:
        parts: Made by `crawler_app.run.crawl.wiring.wire`.

    Attributes:
        config: What to crawl; `change_pace` changes it.
        frontier: Holds every URL.
        fetcher: Makes the HTTP exchanges.
        stats: Counts what this run does.
        limit_reached: The name of the option whose limit ended the crawl; empty if none.
        login_error: Why it cannot log in, which ended the crawl; None if that did not.
        is_paused: Whether no fetch is started until `unpause` is called.
        is_stopping: Whether no further fetch is started.
        under_way: The claimed URLs.
        last_failures: The most recent failures, the latest last.

    >>> from crawler_app.base.config import CrawlConfig
    >>> from crawler_app.run.crawl.wiring import wire
    >>> from crawler_app.store.frontier.sqlite import SqliteFrontier
    >>> crawl = Crawl(wire(CrawlConfig(("http://a.test/",)), SqliteFrontier(), None))
    >>> crawl.admit("page#top", base="http://a.test/").url
    'http://a.test/page'
    """

    # Whether hosts that have refused the crawl are asked again at its end, which only one
    # process can tell.
    asks_again = True

    def __init__(self, parts: CrawlParts) -> None:
        context = parts.context
        self.config = self._first_config = context.config
        self.frontier: Frontier = context.frontier
        self.fetcher = parts.fetcher
        self.stats = context.stats
        self.limit_reached = ""
        self.login_error: LoginError | None = None
        self.is_paused = self.is_stopping = self._has_failed = False
        self._is_cut_off = False
        self.last_failures = collections.deque[Failure](maxlen=KEPT_FAILURES)
        self._parts = parts
        self._bugs = ErrorLog(logger)
        self._clock = context.clock
        stores = (parts.archive, parts.index)
        self._stores = [store for store in stores if store is not None]
        self._lease_s = MAX_EXCHANGES * self.config.request_timeout_s + LEASE_MARGIN_S
        # A worker may have to look again.  One that has claimed a URL wakes the next, so that
        # a change wakes as many as there are URLs for, and one more.
        self._changed = Condition()
        self._is_committing = False
        self._committed = Condition()
        self._is_busy = asyncio.Event()
        self._committed_at = -math.inf  # on the loop's clock
        # Not by id: once a lease has expired, a URL may be claimed twice.
        self._claims: dict[Claim, gen.Future[Ending]] = {}
        self._workers: list[gen.Future[None]] = []

    @gen.coroutine
    def run(self) -> Generator[Any, Any, None]:
        """Crawl to the end.  If cancelled, put every claimed URL back first."""
        keep_freed_memory()
        self._limit_hosts()
        # Before the seeds: they count after the URLs of earlier runs.
        self._parts.admission.remember()
        self._add_seeds()
        with (
            self._time_limit(),
            contextlib.closing(self._parts.reader),
            self._parts.renderer or contextlib.nullcontext(),
        ):
            yield from self._all_work()
            while self._requeue_unread() or self._requeue_refused():
                yield from self._all_work()
            while self._requeue_missed():
                yield from self._all_work()
            if self.config.soft_404 and self._may_ask():
                yield self._commit()  # asking may take long
                yield from self._parts.soft_404.ask_all(self._may_ask)
        is_whole = self.frontier.is_drained()
        self.limit_reached = "" if is_whole else self.limit_reached or self._limit()
        yield self._commit()

    def _add_seeds(self) -> None:
        seeds = [self.admit(seed) for seed in self.config.seeds]
        self.frontier.add(seed for seed in seeds if seed is not None)
        self.frontier.flush()

    def _limit_hosts(self) -> None:
        self.frontier.limit_hosts(
            self._parts.context.hosts.limit(map(host_of, self.config.seeds))
        )

    def _all_work(self) -> Subgenerator[None]:
        """Wait for all workers, including those that a change of the pace adds."""
        self._workers = []
        self._add_workers()
        committing = self._commit_while_busy()
        try:
            while not all(worker.done() for worker in self._workers):
                # A disk that fails fails for several of them; one error says so.
                yield gen.multi(self._workers, quiet_exceptions=StorageError)
        except GeneratorExit:
            raise
        except BaseException:
            committing.cancel()
            yield from self._end_added_workers()
            raise
        while self._is_committing:
            yield self._committed.wait()
        committing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            yield committing  # which raises why it could not commit

    def _add_workers(self) -> None:
        """Start a worker for each fetch that may be under way; extra workers are harmless."""
        while len(self._workers) < self.config.concurrency:
            self._workers.append(self._work())

    def _end_added_workers(self) -> Subgenerator[None]:
        """End the workers that were added since the others were waited for."""
        added = [worker for worker in self._workers if not worker.done()]
        for worker in added:
            worker.cancel()
        with contextlib.suppress(asyncio.CancelledError, StorageError):
            yield gen.multi(added, quiet_exceptions=StorageError)

    def _requeue_unread(self) -> bool:
        """Queue the pages again that a check wants to read; return whether there are any."""
        if self._parts.observer is None or not self.frontier.is_drained():
            return False
        urls = self._parts.observer.unread()
        return bool(urls) and self.frontier.requeue_urls(urls) > 0

    def _requeue_missed(self) -> bool:
        """Queue the pages again that turned out to need rendering."""
        renderer = self._parts.renderer
        if renderer is None or self.is_stopping or not self.frontier.is_drained():
            return False
        urls = renderer.choice.take_missed()
        return bool(urls) and self.frontier.requeue_urls(urls) > 0

    def _requeue_refused(self) -> bool:
        """Queue the URLs again that walls stood before; return whether there are any.

        Their hosts are asked more slowly from now on.
        """
        if not self.asks_again or not self._may_ask():
            return False
        hosts, now, refused = self._parts.context.hosts, self._clock(), set[str]()
        for host, urls in self._parts.walls.refusals.to_ask_again():
            self.frontier.hold_host(host, now + hosts.slow_down(host))
            refused.update(urls)
        return bool(refused) and self.frontier.requeue_urls(refused) > 0

    def closed_hosts(self) -> list[str]:
        """Return a sentence about each host that refuses every request."""
        return self._parts.walls.refusals.closed()

    def change_pace(self, pace: Pace) -> None:
        """Crawl faster or slower from now on; fetches under way are completed.

        The gap that a robots.txt asks for is kept.

        Args:
            pace: By the keys of the options; see `crawler_app.run.crawl.pace`.

        Raises:
            ConfigError: a value is not allowed; nothing is changed.
        """
        config = with_pace(self.config, pace, self._first_config)
        self.config = config
        self.fetcher.allow(config.concurrency)
        for host, before, after in self._parts.context.hosts.change(
            config, self._clock()
        ):
            if after > before:
                self.frontier.hold_host(host, after)
            else:
                self.frontier.shorten_hold(host, before, after)
        self._limit_hosts()
        if not all(worker.done() for worker in self._workers):
            self._add_workers()
        self._changed.notify_all()

    def stop(self) -> None:
        """Start no further fetch; those under way are completed."""
        self.is_stopping = True
        self._changed.notify_all()

    def pause(self) -> None:
        """Start no fetch until `unpause` is called; those under way are completed."""
        self.is_paused = True
        self._changed.notify_all()  # to commit, so that other processes see everything

    def unpause(self) -> None:
        """Continue after `pause`."""
        self.is_paused = False
        self._changed.notify_all()

    @property
    def under_way(self) -> Collection[Claim]:
        """The URLs that are being fetched or processed."""
        return self._claims

    def oldest_under_way(self, now: float, most: int) -> list[tuple[str, float]]:
        """Return the URLs that have been under way longest, and for how many seconds."""
        oldest = heapq.nsmallest(most, self._claims, key=attrgetter("lease_ends_at"))
        return [(each.url, now - each.lease_ends_at + self._lease_s) for each in oldest]

    def under_way_by_host(self) -> collections.Counter[str]:
        """Return how many URLs of each host are under way."""
        return collections.Counter(claim.host for claim in self._claims)

    def count(self, state: State) -> int:
        """Return how many URLs are in a state."""
        return self.frontier.count(state)

    def next_at(self, now: float) -> float | None:
        """Return when the next URL may become due; see `Frontier.next_at`."""
        return self.frontier.next_at(now)

    def waiting_for(self, now: float) -> str:
        """Return the host that is waited for, and why if this run knows; empty if unknown."""
        hosts = set(map(host_of, self.config.seeds))
        # An earlier run may have held the only host.
        alone = hosts.pop() if len(hosts) == 1 else ""
        return self._parts.waits.first(now) or alone

    def admit(self, reference: str, base: str = "", depth: int = 0) -> Candidate | None:
        """Canonicalize and check a reference; see `Admission.admit`."""
        return self._parts.admission.admit(reference, base, depth)

    @contextlib.contextmanager
    def _time_limit(self) -> Iterator[None]:
        """Stop the run when its time limit is reached."""
        timer: asyncio.TimerHandle

        def end() -> None:
            nonlocal timer
            self.limit_reached = "max_time"
            self.stop()
            timer = loop.call_later(GRACE_S, cut_off)

        def cut_off() -> None:
            self._is_cut_off = True
            for exploring in [*self._claims.values()]:
                exploring.cancel()

        if self.config.max_time_s is None:
            yield
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self.config.max_time_s, end)
        try:
            yield
        finally:
            timer.cancel()

    @gen.coroutine
    def _work(self) -> Generator[Any, Any, None]:
        """Crawl one URL after another until there is nothing more to do."""
        with self._stopping_all():
            while not self._is_over():
                now = self._clock()
                # A commit that is due comes before a claim: the claims of a busy crawl never end,
                # and a kill would repeat what is not committed.
                if self.frontier.is_due(now) and self._may_commit():
                    self._changed.notify()
                    yield self._commit()
                elif (claim := self._claim(now)) is not None:
                    self._is_busy.set()
                    self._changed.notify()
                    yield self.crawl_one(claim)
                elif self._may_commit() and self._commits_while_idle():
                    yield self._commit()
                else:
                    yield self._wait_for_change(now)
            self._changed.notify_all()  # it may be over for the others too

    @gen.coroutine
    def _commit_while_busy(self) -> Generator[Any, Any, None]:
        """Commit what is due while every worker waits for a site, until this is cancelled.

        Other workers would not learn of it, and a kill would repeat it.
        """
        with self._stopping_all():
            while True:
                yield self._is_busy.wait()
                self._is_busy.clear()
                while self.frontier.has_changes():
                    yield gen.sleep(BUSY_COMMIT_EVERY_S)
                    if self.frontier.is_due(self._clock()) and self._may_commit():
                        yield self._commit()

    @contextlib.contextmanager
    def _stopping_all(self) -> Iterator[None]:
        """Stop all workers if one fails."""
        try:
            yield
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException:
            # Either a disk has failed, which stops the other workers too, or a hook has
            # raised something that is not an Exception.
            self._has_failed = True
            self.stop()
            raise

    def _may_commit(self) -> bool:
        return self.frontier.has_changes() and not self._is_committing

    def _commits_while_idle(self) -> bool:
        """Return whether a worker that has no URL commits now, as there is time for it."""
        now = asyncio.get_running_loop().time()
        return not self._claims or now >= self._committed_at + IDLE_COMMIT_EVERY_S

    @gen.coroutine
    def _commit(self) -> Generator[Any, Any, None]:
        """Commit the frontier, once the archive and the index have been flushed."""
        self._is_committing = True
        try:
            # The stores first, see rule 3.
            is_prepared = yield from self._flush_stores()
            self.frontier.flush(is_prepared=is_prepared)
            checkpoint = self.frontier.due_checkpoint()
            if checkpoint is not None:
                yield asyncio.get_running_loop().run_in_executor(None, checkpoint)
        except StorageError:
            self._has_failed = True
            raise
        finally:
            self._is_committing = False
            self._committed_at = asyncio.get_running_loop().time()
            self._committed.notify_all()

    def _flush_stores(self) -> Subgenerator[bool]:
        """Flush the archive and the index; return whether both have succeeded."""
        flushed = [store.flushed() for store in self._stores]
        try:
            yield gen.multi(flushed, quiet_exceptions=StorageError)
        except StorageError:
            return False  # the frontier will meet the same error, and roll back
        return True

    @gen.coroutine
    def _wait_for_change(self, now: float) -> Generator[Any, Any, None]:
        """Wait until another worker ends a URL, the next URL is due, or it is time to commit."""
        next_at = self.frontier.next_at(now) if self._may_claim() else None
        wait_s = math.inf if next_at is None else max(next_at - now, MIN_WAIT_S)
        if self._may_commit():
            wait_s = min(wait_s, IDLE_COMMIT_EVERY_S)
        timeout = None if wait_s == math.inf else datetime.timedelta(seconds=wait_s)
        yield self._changed.wait(timeout)

    def _may_claim(self) -> bool:
        # More are under way if the pace was lowered.
        return not self.is_paused and len(self._claims) < self.config.concurrency

    def _claim(self, now: float) -> Claim | None:
        if not self._may_claim():
            return None
        # If the depth is limited, crawl level by level.  Then a URL's depth is its shortest
        # distance, and no link is refused as too deep that a slower page links to as well.
        level = None
        if not self._may_begin_pages():
            level = NO_PAGES
        elif self.config.max_depth is not None:
            level = self._level(now)
        return self.frontier.claim(now, self._lease_s, level)

    def _may_begin_pages(self) -> bool:
        return self._limit() != "max_pages"

    def _level(self, now: float) -> int | None:
        """Return the depth that is crawled now; None for any."""
        return self.frontier.depth_in_work(now)

    def _is_over(self) -> bool:
        if self.is_stopping or self.frontier.is_drained():
            return True
        limit = self._limit()
        if limit != "max_pages":
            return bool(limit)
        # The last pages still get what they need.
        return not self.frontier.count_non_pages(State.QUEUED)

    def _may_ask(self) -> bool:
        """Return whether all is done, so that hosts may be asked for what does not exist."""
        is_whole = self.frontier.is_drained() and not self.is_stopping
        return is_whole and self._limit() != "max_bytes"

    def _limit(self) -> str:
        """Return the limit that is reached now; empty if none.

        That can change: a claimed URL may be put back.
        """
        config = self.config
        if config.max_bytes is not None and self.stats["bytes"] >= config.max_bytes:
            return "max_bytes"
        if (
            config.max_pages is not None
            and self.frontier.begun_pages() >= config.max_pages
        ):
            return "max_pages"
        return ""

    @gen.coroutine
    def crawl_one(self, claim: Claim) -> Generator[Any, Any, None]:
        """Process one claimed URL; an error, expected or not, becomes its outcome."""
        exploring = self._claims[claim] = self._explore(claim)
        try:
            end = yield exploring
            # An end between the flush of the stores and the commit would be committed although its
            # response may not be in the archive yet.
            while self._is_committing:
                yield self._committed.wait()
            self._end_claim(claim, end)
        except asyncio.CancelledError:
            self._abandon(claim)
            if not self._is_cut_off:
                raise
        except StorageError:
            self._has_failed = True
            raise
        except LoginError as exc:
            self.login_error = self.login_error or exc
            self._abandon(claim)
            self.stop()
        except LeaseLostError as exc:
            # A frontier that cannot be written forgets what was found since its last commit.
            if not self._has_failed:
                logger.warning("%s; it will be fetched again", exc)
        finally:
            self._claims.pop(claim, None)

    @gen.coroutine
    def _explore(self, claim: Claim) -> Generator[Any, Any, Ending]:
        """Fetch a URL and interpret the response; nothing is recorded yet."""
        is_external = claim.role is Role.EXTERNAL
        try:
            if (
                is_external
                and (end := self._parts.external_checker.known(claim)) is not None
            ):
                yield gen.moment  # many in a row must not block the loop
                return end
            end = self._parts.walls.known(claim)
            if end is None:
                end = yield from self._parts.permission.check(claim)
            if end is not None:
                return end
            if is_external:
                return (yield from self._parts.external_checker.ask(claim))
            fetched, reason = yield from self._parts.fetching.fetch_page(
                claim.url, claim.role
            )
            end = yield from self._parts.interpreter.read(claim, fetched, reason)
            end = yield from self._parts.walls.judge(claim, fetched, end)
            if isinstance(end, Finish) and end.page is not None:
                end = yield from self._show(end, end.page)
            return end
        except LoginError:
            raise
        except FetchError as exc:
            if is_external:
                self._parts.external_checker.note_failure(claim.host, exc)
            yield from self._parts.fetching.probe(claim.url, exc)
            return ending.of_error(exc)
        except StorageError:
            raise
        except Exception as exc:  # a bug of ours, which must not stop the other workers
            self._bugs.log("the crawler", claim.url, exc)
            return ending.internal_error(exc)

    def _show(self, end: Finish, page: CrawledPage) -> Subgenerator[Finish]:
        """Pass a page to the user's callbacks; its links are kept even if they fail."""
        try:
            yield from self._parts.hooks.show(page)
        except HookError as exc:
            failure = ending.failed(end.outcome, exc.reason, str(exc))
            return dataclasses.replace(end, outcome=failure.outcome)
        return end

    def _abandon(self, claim: Claim) -> None:
        """Put back a claimed URL, which may be archived and indexed already."""
        self.frontier.release(claim)

    def _end_claim(self, claim: Claim, end: Ending) -> None:
        """Make the state change that an ending stands for."""
        now = self._clock()
        match end:
            case PutBack():
                self._put_back_or_fail(claim, end.held_until, now)
            case Respell():
                self.frontier.respell(claim, end.url)
            case Retry():
                self._retry(claim, end, now)
            case Finish():
                self._finish_or_fail(claim, end, now)

    def _put_back_or_fail(
        self, claim: Claim, held_until: float | None, now: float
    ) -> None:
        """Put a URL back; an external one whose host's robots.txt takes too long fails."""
        if held_until is None or self._may_wait(claim, held_until, now):
            self._put_back(claim, held_until, "robots.txt")
        else:
            self._finish_or_fail(claim, ending.robots_unreachable(), now)

    def _may_wait(self, claim: Claim, until: float, now: float) -> bool:
        """Return whether to wait for a host; not for long if it is external."""
        is_external = claim.role is Role.EXTERNAL
        return not is_external or self._parts.waits.allows(claim.host, until, now)

    def _put_back(self, claim: Claim, held_until: float | None, why: str) -> None:
        if held_until is not None:
            self._parts.waits.note(claim.host, held_until, why)
            trace.note_hold(claim.host, held_until - self._clock())
            self.frontier.hold_host(claim.host, held_until)
        self.frontier.release(claim)

    def _retry(self, claim: Claim, end: Retry, now: float) -> None:
        """Schedule another try for a URL; finish it if it has none left."""
        outage_ends_at = self._parts.context.outages.ends_at(
            claim.url, end.outcome, now
        )
        if outage_ends_at is not None and self._may_wait(claim, outage_ends_at, now):
            # The host is down, so this does not count as a try of the URL.
            self._put_back(claim, outage_ends_at, waits.why(end.outcome))
            return
        tries = claim.tries + 1
        due_at = politeness.retry_at(
            now, tries, self.config.retry_pause_s, end.asked_for_s
        )
        may_wait = self._may_wait(claim, due_at, now)
        if may_wait and end.outcome.status == 429:
            # 429 Too Many Requests concerns the whole host; 503 may concern one URL only.
            self.frontier.hold_host(claim.host, due_at)
        if tries >= self.config.tries or not may_wait:
            self._finish_or_fail(claim, Finish(end.outcome), now)
            return
        self.stats["retried"] += 1
        self._parts.waits.note(claim.host, due_at, waits.why(end.outcome))
        trace.note_retry(claim.url, end.outcome, due_at - now)
        self.frontier.retry(claim, due_at)

    def _finish_or_fail(self, claim: Claim, end: Finish, now: float) -> None:
        """Finish a URL; if its result cannot be recorded, record that failure instead."""
        try:
            self._finish(claim, end, now)
        except (LeaseLostError, StorageError):
            raise
        except Exception as exc:
            # If recording this fails too, the frontier is broken.
            self._bugs.log("the crawler", claim.url, exc)
            self._finish(claim, ending.internal_error(exc), now)

    def _finish(self, claim: Claim, end: Finish, now: float) -> None:
        outcome = end.outcome
        self.frontier.finish(claim, outcome, now, end.outlinks, end.again)
        if end.on_recorded is not None:
            end.on_recorded()
        trace.note_end(claim.url, outcome)
        self._note_refused(claim, outcome)
        if outcome.status is None:
            self._parts.context.outages.forget(claim.url)
        if self._parts.observer is not None:
            self._parts.observer.saw_end(claim.url, outcome, claim.role)
        if outcome.state is State.FAILED:
            self.stats[f"failed/{outcome.reason}"] += 1
            self.last_failures.append(
                Failure(now, claim.url, outcome.reason, outcome.error)
            )

    def _note_refused(self, claim: Claim, outcome: Outcome) -> None:
        """Remember a URL that a wall stands before, unless its host wants to be left alone."""
        if outcome.reason not in WALLS:
            return
        if not self._parts.waits.are_over(claim.host):
            self._parts.walls.refusals.note_refused(claim.host, claim.url)
