"""The path of a URL, from the frontier to the frontier; readable top to bottom::

    admit        canonicalize, check the scope          pure
    claim        the next URL whose host may be asked   disk
    fetch        one exchange                           network
    parse        title and links                        pure
    finish       the outcome and what was found         disk, all or nothing

Rule 1: every URL enters through `Crawler.admit`: seeds, links and redirect targets.

Rule 2: a claim ends in exactly one of `finish`, `retry`, `respell` and `release`, unless
the frontier itself fails, which ends the crawl.
"""

import asyncio
import datetime
import logging
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from tornado.locks import Condition

from crawler_app import parser, politeness
from crawler_app.config import CrawlConfig
from crawler_app.errors import FetchError, FrontierError, LeaseLostError, UrlError
from crawler_app.fetcher import Fetcher
from crawler_app.frontier import Frontier
from crawler_app.heap import keep_freed_memory
from crawler_app.links import SettledLinks
from crawler_app.models import Candidate, Claim, Fetched, Outcome, State
from crawler_app.scope import Scope
from crawler_app.stats import Stats
from crawler_app.urls import dedup_key, host_of, join, reference_in_header
from gencoro import gen

__all__ = ["PASSING_REASONS", "Crawler"]

logger = logging.getLogger(__name__)

REDIRECTS = (301, 302, 303, 307, 308)

# The server may be well again a little later.
PASSING_STATUSES = (429, 500, 502, 503, 504)

# Faults of a host rather than of a URL.
HOST_FAULTS = ("refused", "dns", "network")

# Of a host that is not known to be there no outage is waited out.
NEVER_ANSWERED = (politeness.MAX_OUTAGE_PAUSES, 0.0)

# Reasons for which a URL that failed may be worth another crawl.
PASSING_REASONS = (
    *HOST_FAULTS,
    "timeout",
    "connection_closed",
    *(f"http_{status}" for status in PASSING_STATUSES),
)

# A fetch is bounded by its time limit; a claim that is older has lost its worker.
LEASE_MARGIN_S = 60.0


class Crawler:
    """Crawls until the frontier is drained, the page limit is reached, or it is stopped.

    Args:
        config: What to crawl.
        frontier: Where every URL is kept; owned by the caller, who closes it.
        fetcher: Likewise.
        stats: Counts what this run does.
        clock: The current time, in seconds of the epoch.

    >>> from crawler_app.frontier.memory import MemoryFrontier
    >>> crawler = Crawler(CrawlConfig(("http://a.test/",)), MemoryFrontier(), None)
    >>> crawler.admit("page#top", base="http://a.test/").url
    'http://a.test/page'
    """

    def __init__(
        self,
        config: CrawlConfig,
        frontier: Frontier,
        fetcher: Fetcher,
        stats: Stats | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.config = config
        self.frontier = frontier
        self.fetcher = fetcher
        self.stats = Stats() if stats is None else stats
        self._clock = clock
        self._scope = Scope(
            config.seeds, config.include, config.exclude, config.max_depth
        )
        self._settled = SettledLinks()
        self._lease_s = config.request_timeout_s + LEASE_MARGIN_S
        self._changed = Condition()
        self._is_stopping = False
        # Hosts that have answered: the pauses made since, and the end of the last one.
        self._outage_by_host: dict[str, tuple[int, float]] = {}

    @gen.coroutine
    def run(self) -> Generator[Any, Any, None]:
        """Crawl to the end.  When cancelled, give every claimed URL back first."""
        keep_freed_memory()
        self.frontier.recover()
        seeds = [self.admit(seed) for seed in self.config.seeds]
        self.frontier.add(seed for seed in seeds if seed is not None)
        yield [self._work() for _ in range(self.config.concurrency)]
        self.frontier.flush()

    def stop(self) -> None:
        """Let the fetches under way end, and begin no others."""
        self._is_stopping = True
        self._changed.notify_all()

    def admit(
        self,
        reference: str,
        base: str = "",
        depth: int = 0,
        redirects_left: int | None = None,
    ) -> Candidate | None:
        """Return what a reference means for this crawl; None if it needs nothing more.

        A refused URL is a candidate too, so that it is kept with its reason; what is no
        http(s) URL, and what the frontier knows already, is not.

        Args:
            reference: As written in a page or a header, or an absolute URL.
            base: The URL that it is relative to.
            redirects_left: None for as many as the configuration allows.
        """
        try:
            url = join(base, reference)
        except UrlError as exc:
            self.stats.add(f"refused/{exc.reason}")
            return None
        if url in self.frontier:
            return None
        verdict = self._scope.check(url, depth)
        if not verdict.is_in_scope:
            self.stats.add(f"excluded/{verdict.refusal}")
        if redirects_left is None:
            redirects_left = self.config.max_redirects
        return Candidate(url, host_of(url), depth, redirects_left, verdict.refusal)

    @gen.coroutine
    def _work(self) -> Generator[Any, Any, None]:
        """Crawl one URL after the other until there is nothing more to do."""
        try:
            while not self._is_over():
                now = self._clock()
                claim = self._claim(now)
                if claim is not None:
                    yield self.crawl_one(claim)
                else:
                    yield self._wait_for_change(now)
        except Exception:
            # Only a frontier that fails gets here, and it fails the others too.
            self.stop()
            raise

    @gen.coroutine
    def _wait_for_change(self, now: float) -> Generator[Any, Any, None]:
        """Wait until another worker ends a URL, or time makes one ready."""
        next_at = self.frontier.next_at(now)
        timeout = None
        if next_at is not None:
            timeout = datetime.timedelta(seconds=next_at - now)
        yield self._changed.wait(timeout)

    def _claim(self, now: float) -> Claim | None:
        # Level by level where the depth counts, so that a URL's depth is the shortest
        # way to it and no link is refused as too deep that a slower page makes shallow.
        level = None
        if self.config.max_depth is not None:
            level = self.frontier.depth_in_work(now)
        claim = self.frontier.claim(now, self._lease_s, level)
        if claim is not None:
            gap_s = politeness.host_gap_s(claim.host, self.config.host_gap_s)
            if gap_s:
                self.frontier.hold_host(claim.host, now + gap_s)
        return claim

    def _is_limit_reached(self) -> bool:
        if self.config.max_pages is None:
            return False
        begun = (State.DONE, State.FAILED, State.CLAIMED)
        return sum(map(self.frontier.count, begun)) >= self.config.max_pages

    def _is_over(self) -> bool:
        return (
            self._is_stopping or self._is_limit_reached() or self.frontier.is_drained()
        )

    @gen.coroutine
    def crawl_one(self, claim: Claim) -> Generator[Any, Any, None]:
        """Take one claimed URL down its path; an error ends on the URL, not on us."""
        try:
            ending = yield self._explore(claim)
            self._record(claim, ending)
        except asyncio.CancelledError:
            self.frontier.release(claim)
            raise
        except LeaseLostError as exc:
            logger.warning("%s; it will be fetched again", exc)
        finally:
            self._changed.notify_all()

    @gen.coroutine
    def _explore(self, claim: Claim) -> Generator[Any, Any, "_Ending"]:
        """Fetch a URL and read what came; nothing is recorded yet."""
        try:
            fetched = yield self.fetcher.fetch(claim.url)
            self.stats.add("fetched")
            self.stats.add("bytes", len(fetched.body))
            if fetched.status in REDIRECTS:
                return self._redirect(claim, fetched)
            if not 200 <= fetched.status < 400:
                return self._refusal(fetched)
            return self._content(claim, fetched)
        except FetchError as exc:
            outcome = Outcome(State.FAILED, exc.reason, error=str(exc))
            return _Ending(outcome, is_passing=exc.is_passing)
        except Exception as exc:  # a fault of ours: it must not stop the other workers
            logger.exception("cannot process %s", claim.url)
            return _Ending(_internal_error(exc))

    def _content(self, claim: Claim, fetched: Fetched) -> "_Ending":
        """A page, whose links are admitted, or a file."""
        ending = _Ending(_outcome(State.DONE, "ok", fetched))
        if parser.is_html(ending.outcome.content_type):
            page = parser.parse_html(fetched.body, ending.outcome.content_type)
            ending.outcome.title = page.title
            base = _base(claim.url, page.base)
            for link in self._settled.news(base, page.links):
                candidate = self.admit(link, base, claim.depth + 1)
                if candidate is not None:
                    ending.outlinks.append(candidate)
                else:
                    self._settled.add(base, link)
        return ending

    def _redirect(self, claim: Claim, fetched: Fetched) -> "_Ending":
        """A redirect, whose target is admitted with one redirect fewer to go."""
        outcome = _outcome(State.DONE, "redirect", fetched)
        location = reference_in_header(fetched.headers.get("Location", ""))
        if not location:
            return _failed(outcome, "bad_redirect", "the redirect has no Location")
        try:
            outcome.redirect_to = join(claim.url, location)
        except UrlError as exc:
            return _failed(outcome, "bad_redirect", str(exc))
        if not claim.redirects_left:
            text = f"more than {self.config.max_redirects} redirects in a row"
            return _failed(outcome, "too_many_redirects", text)
        if _is_respelling(claim.url, outcome.redirect_to):
            return _Ending(outcome, respelled=outcome.redirect_to)
        target = self.admit(location, claim.url, claim.depth, claim.redirects_left - 1)
        return _Ending(outcome, outlinks=[] if target is None else [target])

    def _refusal(self, fetched: Fetched) -> "_Ending":
        """An error status, which may pass."""
        retry_after = fetched.headers.get("Retry-After")
        return _Ending(
            _outcome(State.FAILED, f"http_{fetched.status}", fetched),
            is_passing=fetched.status in PASSING_STATUSES,
            asked_for_s=politeness.retry_after_s(retry_after, self._clock()),
        )

    def _record(self, claim: Claim, ending: "_Ending") -> None:
        """Put a URL back, for another try or under another spelling, or finish it."""
        now = self._clock()
        if self._is_outage(claim.host, ending.outcome, now):
            # Not the URL's fault: it costs it no try.
            self.frontier.release(claim)
        elif ending.respelled:
            self.frontier.respell(claim, ending.respelled)
        elif not ending.is_passing or not self._retry(claim, ending, now):
            self._finish(claim, ending, now)

    def _retry(self, claim: Claim, ending: "_Ending", now: float) -> bool:
        """Put a URL back for another try, if it has one left."""
        tries = claim.tries + 1
        due_at = politeness.retry_at(
            now, tries, self.config.retry_pause_s, ending.asked_for_s
        )
        if ending.outcome.status == 429:
            # "Too many requests" is about us; 503 may be about this URL alone.
            self.frontier.hold_host(claim.host, due_at)
        if tries >= self.config.tries:
            return False
        self.stats.add("retried")
        self.frontier.retry(claim, due_at)
        return True

    def _is_outage(self, host: str, outcome: Outcome, now: float) -> bool:
        """Return whether a host that has answered is gone; if so, leave it alone a while.

        Without that, an outage of seconds would use up the tries of all its URLs.
        """
        if outcome.status is not None:
            self._outage_by_host[host] = (0, 0.0)
        if outcome.reason not in HOST_FAULTS:
            return False
        pauses, held_until = self._outage_by_host.get(host, NEVER_ANSWERED)
        if now < held_until:
            return True  # fetched before we knew
        pause_s = politeness.outage_pause_s(pauses, self.config.retry_pause_s)
        if pause_s is None:
            return False
        self.stats.add("outages")
        self._outage_by_host[host] = (pauses + 1, now + pause_s)
        self.frontier.hold_host(host, now + pause_s)
        return True

    def _finish(self, claim: Claim, ending: "_Ending", now: float) -> None:
        try:
            self.frontier.finish(claim, ending.outcome, now, ending.outlinks)
        except (LeaseLostError, FrontierError):
            raise
        except Exception as exc:
            # What we found cannot be kept; that we failed can, or the frontier is broken.
            logger.error("cannot record %s: %r", claim.url, exc)
            ending = _Ending(_internal_error(exc))
            self.frontier.finish(claim, ending.outcome, now)
        if ending.outcome.state is State.FAILED:
            self.stats.add(f"failed/{ending.outcome.reason}")


@dataclass(slots=True)
class _Ending:
    """What came of one fetch.

    Attributes:
        is_passing: Whether another try may end better.
        asked_for_s: How long the server asked us to wait before it.
        respelled: The URL as its server spells it; empty if that is how we did.
    """

    outcome: Outcome
    outlinks: list[Candidate] = field(default_factory=list)
    is_passing: bool = False
    asked_for_s: float | None = None
    respelled: str = ""


def _base(url: str, base: str) -> str:
    try:
        return join(url, base) if base else url
    except UrlError:
        return url  # as browsers do


def _outcome(state: State, reason: str, fetched: Fetched) -> Outcome:
    return Outcome(
        state,
        reason,
        fetched.status,
        content_type=parser.without_controls(fetched.headers.get("Content-Type", "")),
        size_bytes=len(fetched.body),
        took_s=fetched.took_s,
    )


def _failed(outcome: Outcome, reason: str, error: str) -> _Ending:
    outcome.state, outcome.reason, outcome.error = State.FAILED, reason, error
    return _Ending(outcome)


def _is_respelling(url: str, target: str) -> bool:
    """Return whether a redirect leads to what the frontier takes for the same URL."""
    return target != url and dedup_key(target) == dedup_key(url)


def _internal_error(exc: Exception) -> Outcome:
    return Outcome(State.FAILED, "internal_error", error=repr(exc))
