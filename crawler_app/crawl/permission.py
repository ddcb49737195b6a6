"""Why a URL must not be fetched now: by the rules of its host, or by the user's own.

Used by `crawler_app.crawl`.
"""

import logging
from collections.abc import Callable, Generator
from typing import Any

from crawler_app.config import CrawlConfig
from crawler_app.crawl import ending
from crawler_app.crawl.admission import Admission
from crawler_app.crawl.ending import Ending
from crawler_app.crawl.hooks import Hooks
from crawler_app.crawl.host_state import Hosts
from crawler_app.crawl.stats import Stats
from crawler_app.errors import FetchError
from crawler_app.frontier import Frontier
from crawler_app.models import Claim
from crawler_app.reasons import Reason
from crawler_app.robots import RobotsCache
from crawler_app.robots.rules import Rules
from gencoro import gen

__all__ = ["Obstacles"]

logger = logging.getLogger(__name__)


class Obstacles:
    """Asks robots.txt, then the user's own function.

    Args:
        robots: None if robots.txt is not obeyed.
        hosts: Learns how long each wants to be left alone.
        stats: Counts what is excluded, by reason.
        clock: The current time, in seconds of the epoch.
    """

    def __init__(
        self,
        config: CrawlConfig,
        robots: RobotsCache | None,
        hooks: Hooks,
        admission: Admission,
        frontier: Frontier,
        hosts: Hosts,
        stats: Stats,
        clock: Callable[[], float],
    ) -> None:
        self._config = config
        self._robots = robots
        self._hooks = hooks
        self._admission = admission
        self._frontier = frontier
        self._hosts = hosts
        self._stats = stats
        self._clock = clock
        # Those whose robots.txt was asked for in this run.
        self._asked_hosts: set[str] = set()

    def find(self, claim: Claim) -> Generator[Any, Any, Ending | None]:
        """Return how a URL ends that must not be fetched now; None if it may be.

        Raises:
            FetchError: its host has not answered when it was asked for its rules.
            HookError: the user's own function has failed.
        """
        if self._robots is not None:
            obstacle = yield from self._find_in_robots(claim, self._robots)
            if obstacle is not None:
                return obstacle
        if self._hooks.should_fetch is None or self._is_exempt(claim):
            return None
        if (yield from self._hooks.allow(claim.url)):
            return None
        yield gen.moment  # as for those that robots.txt forbids
        return self._exclude(Reason.SHOULD_FETCH)

    def _is_exempt(self, claim: Claim) -> bool:
        """Return whether a URL is not for the user's own function to decide on."""
        return claim.is_sitemap or claim.url in self._config.seeds

    def _find_in_robots(
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
            return self._unreachable(rules, claim)
        if rules.allows(claim.url):
            return None
        yield gen.moment  # many in a row must not keep the loop from the others
        return self._exclude(Reason.ROBOTS)

    def _exclude(self, reason: Reason) -> Ending:
        self._stats.add(f"excluded/{reason}")
        return ending.excluded(reason)

    def _heed(self, rules: Rules, claim: Claim) -> None:
        """Take in what a robots.txt says besides what it forbids."""
        self._hosts.note_crawl_delay(claim.host, rules.crawl_delay_s)
        if not self._config.sitemaps:
            return
        found = [
            self._admission.admit(url, claim.url, is_sitemap=True)
            for url in rules.sitemaps
        ]
        news = [candidate for candidate in found if candidate is not None]
        if news:  # not again by each worker that has waited for the rules
            self._frontier.add(news)

    def _unreachable(self, rules: Rules, claim: Claim) -> Ending:
        """Return how a URL ends while nobody knows its host's rules.

        Raises:
            FetchError: the host has given no answer at all.
        """
        error = rules.error
        if error is not None:  # as if the URL itself had given no answer
            raise FetchError(error.reason, f"robots.txt: {error}")
        if rules.retry_at is not None:
            logger.warning(
                "robots.txt of %s cannot be had now, so nothing of it is fetched; it is "
                "asked again in %.0f s",
                claim.host,
                rules.retry_at - self._clock(),
            )
            return ending.put_back(rules.retry_at)
        text = "robots.txt has answered with errors only, so nothing may be fetched"
        return ending.of_error(FetchError(Reason.ROBOTS_UNREACHABLE, text))
