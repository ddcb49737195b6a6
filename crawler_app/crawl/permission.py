"""Whether a claimed URL may be fetched now: by robots.txt, and by the user's callback.

Used by `crawler_app.crawl`.
"""

import logging
from collections.abc import Callable

from crawler_app.crawl import ending
from crawler_app.crawl.admission import Admission
from crawler_app.crawl.context import Run
from crawler_app.crawl.ending import Ending, PutBack
from crawler_app.crawl.hooks import Hooks
from crawler_app.errors import FetchError
from crawler_app.models import Claim, Fetched
from crawler_app.reasons import Reason
from crawler_app.robots import RobotsCache
from crawler_app.robots.rules import Rules
from crawler_app.subgenerator import Subgenerator
from gencoro import gen

__all__ = ["Permission"]

logger = logging.getLogger(__name__)


class Permission:
    """Asks robots.txt, then the user's own ``should_fetch``.

    Args:
        admission: Takes in the sitemaps that a robots.txt names.
        fetch: Makes one exchange, as `Fetching.fetch` does.
    """

    def __init__(
        self,
        run: Run,
        admission: Admission,
        hooks: Hooks,
        fetch: Callable[[str], Subgenerator[Fetched]],
    ) -> None:
        self._run = run
        self._admission = admission
        self._hooks = hooks
        self._robots = _robots_cache(run, fetch) if run.config.robots else None
        # Those whose robots.txt was asked for in this run.
        self._asked_hosts: set[str] = set()

    def check(self, claim: Claim) -> Subgenerator[Ending | None]:
        """Return how a URL ends that must not be fetched now; None if it may be.

        Raises:
            FetchError: its host did not answer when it was asked for its rules.
            HookError: the user's callback failed.
        """
        if self._robots is not None:
            end = yield from self._check_robots(claim, self._robots)
            if end is not None:
                return end
        if self._hooks.should_fetch is None or self._is_exempt(claim):
            return None
        if (yield from self._hooks.allow(claim.url)):
            return None
        yield gen.moment  # as for those that robots.txt forbids
        return self._skip(Reason.SHOULD_FETCH)

    def _is_exempt(self, claim: Claim) -> bool:
        """Return whether a URL is not for the user's own function to decide on."""
        return claim.is_sitemap or claim.url in self._run.config.seeds

    def _check_robots(
        self, claim: Claim, robots: RobotsCache
    ) -> Subgenerator[Ending | None]:
        rules = robots.known(claim.url)
        if rules is None:
            rules = yield robots.ask(claim.url)
            self._heed(rules, claim)
            if claim.host not in self._asked_hosts:
                # Now that they are known: in its turn, which is after the host's gap.
                self._asked_hosts.add(claim.host)
                return PutBack()
            # They were known, and are forgotten or too old: now, or it would go on so.
        if rules.is_unreachable:
            return self._unreachable(rules, claim)
        if rules.allows(claim.url):
            return None
        yield gen.moment  # many in a row must not keep the loop from the others
        return self._skip(Reason.ROBOTS)

    def _skip(self, reason: Reason) -> Ending:
        self._run.stats.add(f"skipped/{reason}")
        return ending.skipped(reason)

    def _heed(self, rules: Rules, claim: Claim) -> None:
        """Take in what a robots.txt says besides what it forbids."""
        self._run.hosts.note_crawl_delay(claim.host, rules.crawl_delay_s)
        if not self._run.config.sitemaps:
            return
        found = [
            self._admission.admit(url, claim.url, is_sitemap=True)
            for url in rules.sitemaps
        ]
        news = [candidate for candidate in found if candidate is not None]
        if news:  # not again by each worker that has waited for the rules
            self._run.frontier.add(news)

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
                rules.retry_at - self._run.clock(),
            )
            return PutBack(rules.retry_at)
        text = "robots.txt has answered with errors only, so nothing may be fetched"
        return ending.of_error(FetchError(Reason.ROBOTS_UNREACHABLE, text))


def _robots_cache(
    run: Run, fetch: Callable[[str], Subgenerator[Fetched]]
) -> RobotsCache:
    config = run.config
    return RobotsCache(
        gen.coroutine(fetch), config.user_agent, config.retry_pause_s, run.clock
    )
