"""Checks a claimed URL against robots.txt and the user's ``should_fetch`` callback.

A crawl that is logged in does not log itself out.

Used by `crawler_app.run.crawl`.
"""

import logging
from collections.abc import Callable

from crawler_app.base.errors import FetchError
from crawler_app.base.models import Claim, Fetched, Role
from crawler_app.base.reasons import Reason, meaning_of
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import host_of, origin_of
from crawler_app.run.crawl import ending
from crawler_app.run.crawl.admission import Admission
from crawler_app.run.crawl.context import RunContext
from crawler_app.run.crawl.ending import Ending, PutBack
from crawler_app.run.crawl.hooks import Hooks
from crawler_app.run.crawl.logouts import logs_out
from crawler_app.web.robots.cache import RobotsCache
from crawler_app.web.robots.rules import Rules
from gencoro import gen

__all__ = ["Permission"]

logger = logging.getLogger(__name__)

# Logout links that are named in the log; all are counted.
MAX_NAMED = 5


class Permission:
    """Consults robots.txt, then the user's ``should_fetch`` callback.

    Args:
        admission: Admits the sitemaps that a robots.txt lists.
        fetch: Makes one exchange, as `Fetching.fetch` does.

    Attributes:
        robots: The rules; None if robots.txt is not asked for.
    """

    def __init__(
        self,
        context: RunContext,
        admission: Admission,
        hooks: Hooks,
        fetch: Callable[[str], Subgenerator[Fetched]],
    ) -> None:
        self._context = context
        self._admission = admission
        self._hooks = hooks
        self.robots = _robots_cache(context, fetch) if context.config.robots else None
        self._named_logouts: set[str] = set()
        # The hosts whose robots.txt was fetched in this run.
        self._asked_hosts: set[str] = set()
        # Origins whose robots.txt was fetched for a page that needs something of theirs.
        self._unapplied: set[str] = set()

    def check(self, claim: Claim) -> Subgenerator[Ending | None]:
        """Return the ending of a URL that must not be fetched now; None if it may be.

        Raises:
            FetchError: its host did not respond to the request for robots.txt.
            HookError: the user's callback failed.
        """
        if self._admission.is_trap(claim.url):  # found before that was known
            yield gen.moment  # many in a row must not block the loop
            return self._skip(Reason.TOO_MANY_ALIKE)
        if self._would_log_out(claim.url):
            yield gen.moment
            self._name_logout(claim.url)
            return self._skip(Reason.LOGS_OUT)
        if self.robots is not None:
            end = yield from self._check_robots(claim, self.robots)
            if end is not None:
                return end
        if self._hooks.should_fetch is None or claim.role is Role.SITEMAP:
            return None
        if claim.url in self._context.config.seeds:
            return None
        if (yield from self._hooks.allow(claim.url)):
            return None
        yield gen.moment  # as for URLs that robots.txt forbids
        return self._skip(Reason.SHOULD_FETCH)

    def _would_log_out(self, url: str) -> bool:
        config = self._context.config
        return config.is_logged_in and logs_out(url) and url not in config.seeds

    def _name_logout(self, url: str) -> None:
        """Warn of the first URL at each of a few paths that is skipped."""
        path = url.partition("?")[0]
        if path not in self._named_logouts and len(self._named_logouts) < MAX_NAMED:
            self._named_logouts.add(path)
            logger.warning("skipping %s: %s", url, meaning_of(Reason.LOGS_OUT))

    def is_allowed(self, url: str) -> bool:
        """Return whether a robots.txt that was read in this run allows a URL."""
        if self.robots is None:
            return True
        rules = self.robots.known(url)
        return rules is not None and not rules.is_unreachable and rules.allows(url)

    def allows(self, url: str) -> Subgenerator[bool]:
        """Return whether robots.txt allows what a page loads, after asking for it."""
        if self.robots is None:
            return True
        rules = self.robots.known(url)
        if rules is None:
            rules = yield self.robots.ask(url)
            self._context.hosts.note_crawl_delay(host_of(url), rules.crawl_delay_s)
            self._unapplied.add(origin_of(url))
        return not rules.is_unreachable and rules.allows(url)

    def _check_robots(
        self, claim: Claim, robots: RobotsCache
    ) -> Subgenerator[Ending | None]:
        rules = robots.known(claim.url)
        if rules is None or self._is_unapplied(claim.url):
            rules = yield robots.ask(claim.url)
            yield from self._apply(rules, claim)
            self._context.host_observer.robots_applied(origin_of(claim.url))
            is_first = claim.host not in self._asked_hosts
            self._asked_hosts.add(claim.host)
            if is_first and not rules.is_unreachable:
                # The rules were just fetched, here or for another URL of the host, so this
                # one waits until the host's gap is over.
                return PutBack()
            # A robots.txt of this host was fetched before, or another URL waited for it too.
            # Continue now: if the URL were put back each time, it might never be fetched.
        if rules.is_unreachable:
            return self._unreachable(rules, claim)
        if rules.allows(claim.url):
            return None
        yield gen.moment  # many in a row must not block the loop
        return self._skip(Reason.ROBOTS)

    def _is_unapplied(self, url: str) -> bool:
        """Return whether the sitemaps of a robots.txt are still to be added, from now on."""
        if not self._unapplied or (origin := origin_of(url)) not in self._unapplied:
            return False
        self._unapplied.discard(origin)
        return True

    def _skip(self, reason: Reason) -> Ending:
        self._context.stats[f"skipped/{reason}"] += 1
        return ending.skipped(reason)

    def _apply(self, rules: Rules, claim: Claim) -> Subgenerator[None]:
        """Note the crawl delay of a robots.txt, and admit the sitemaps that it lists."""
        self._context.hosts.note_crawl_delay(claim.host, rules.crawl_delay_s)
        if not self._context.config.sitemaps:
            return
        admitted = (
            self._admission.admit(url, claim.url, role=Role.SITEMAP)
            for url in rules.sitemaps
        )
        new = yield from self._admission.in_turns(admitted, None)
        if new:  # only the first of the workers that waited for the rules finds any
            self._context.frontier.add(new)

    def _unreachable(self, rules: Rules, claim: Claim) -> Ending:
        """Return the ending of a URL whose host's robots.txt cannot be fetched.

        Raises:
            FetchError: the host did not respond at all.
        """
        error = rules.error
        if error is not None:  # handled as if the URL itself had failed
            raise FetchError(error.reason, f"robots.txt: {error}")
        if rules.retry_at is not None:
            logger.warning(
                "cannot fetch robots.txt of %s, so nothing is fetched from that host; next "
                "try in %.0f s",
                claim.host,
                max(0.0, rules.retry_at - self._context.clock()),
            )
            return PutBack(rules.retry_at)
        return ending.robots_unreachable()


def _robots_cache(
    context: RunContext, fetch: Callable[[str], Subgenerator[Fetched]]
) -> RobotsCache:
    config = context.config
    return RobotsCache(
        gen.coroutine(fetch),
        config.user_agent,
        config.retry_pause_s,
        context.clock,
        on_found=context.host_observer.robots_found,
    )
