"""Handles redirects, by status or by refresh: admits the target, or asks again.

"Set a cookie and redirect to the same URL" is a page for a browser, which asks again and
sends the cookie.  Each URL is fetched once here, so such a loop is noticed where it closes:
if the URL it leads back to would get other cookies now, it is fetched again.

Used by `crawler_app.run.crawl.interpreting`.
"""

import re
from collections.abc import Callable

from crawler_app.base.errors import UrlError
from crawler_app.base.http_headers import different_values
from crawler_app.base.models import Candidate, Claim, Fetched, Outcome, Role, State
from crawler_app.base.reasons import Reason
from crawler_app.base.urls import dedup_key, redirect_target
from crawler_app.run.crawl import ending
from crawler_app.run.crawl.admission import Admission
from crawler_app.run.crawl.context import RunContext
from crawler_app.run.crawl.ending import Ending, Finish, Respell
from crawler_app.web.documents.html import Page
from crawler_app.web.documents.refresh import followed_refresh

__all__ = ["RedirectReader"]

# A page that takes its visitors elsewhere within this time is a redirect to them; one that
# takes longer is a page of a slide show.
REDIRECTED_WITHIN_S = 10

# Redirects whose cookies are remembered.  One that is forgotten may be fetched one time too
# many.
MAX_REMEMBERED = 10_000

_COOKIE = re.compile(rb"^cookie:[ \t]*(.*?)\r?$", re.IGNORECASE | re.MULTILINE)


class RedirectReader:
    """Turns a redirect into an `Ending`.

    Args:
        cookies_for: Returns the Cookie header that a request for a URL would have now.
    """

    def __init__(
        self,
        context: RunContext,
        admission: Admission,
        cookies_for: Callable[[str], str],
    ) -> None:
        self._max_redirects = context.config.max_redirects
        self._frontier = context.frontier
        self._admission = admission
        self._cookies_for = cookies_for
        # The Cookie header of each request that was redirected, unless it had none.
        self._cookies_by_url: dict[str, str] = {}

    def read(self, claim: Claim, fetched: Fetched) -> Ending:
        """Admit the target of a redirect, with one redirect fewer left."""
        outcome = ending.outcome_of(State.DONE, Reason.REDIRECT, fetched)
        locations = different_values(fetched.headers, "Location") or [""]
        if len(locations) > 1:
            text = f"{len(locations)} different Locations"
            return ending.failed(outcome, Reason.DANGEROUS, text)
        if fetched.headers.get("Location", "") != locations[0]:
            outcome.add_note("repeated Location")
        try:
            target_url = outcome.redirect_to = redirect_target(claim.url, locations[0])
        except UrlError as exc:
            return ending.failed(outcome, Reason.BAD_REDIRECT, str(exc))
        outcome.fragment = locations[0].partition("#")[2].strip()
        self._remember_cookies(claim.url, fetched)
        if target_url == claim.url:
            is_again = claim.redirects_left and self._has_new_cookies(claim.url)
            return Respell(claim.url) if is_again else Finish(outcome)
        if not claim.redirects_left:
            text = f"more than {self._max_redirects} redirects in a row"
            return ending.failed(outcome, Reason.TOO_MANY_REDIRECTS, text)
        if self._is_respelling(claim, target_url):
            return Respell(target_url)
        return self._lead_to(target_url, claim, outcome)

    def _is_respelling(self, claim: Claim, target_url: str) -> bool:
        """Return whether a target that is allowed is the same URL for the frontier."""
        if dedup_key(target_url) != dedup_key(claim.url):
            return False
        role = _role_of_target(claim)
        return not self._admission.check(target_url, claim.depth, role=role)

    def _lead_to(self, target_url: str, claim: Claim, outcome: Outcome) -> Finish:
        # First: a worker's frontier may lack a target that the server has.
        if self._has_new_cookies(target_url):
            again = self._frontier.redirect_before(claim, target_url)
            if again is not None:
                return Finish(outcome, again=again)
        redirects_left = claim.redirects_left - 1
        target = self._admission.admit(
            target_url, "", claim.depth, redirects_left, role=_role_of_target(claim)
        )
        return Finish(outcome) if target is None else Finish(outcome, (target,))

    def refresh(
        self,
        claim: Claim,
        fetched: Fetched,
        outcome: Outcome,
        page: Page | None = None,
        base: str = "",
        *,
        nofollow: bool = False,
    ) -> list[Candidate]:
        """Admit the target of a refresh, if the response has one that leads elsewhere.

        If it leads there soon, that is noted in the outcome, and the target has the depth of
        the page, as that of a redirect has.

        Args:
            page: None if the response is not a page.
            base: The URL that the links of the page are relative to.
        """
        header = fetched.headers.get("Refresh")
        if header is None and (page is None or page.refresh is None):
            return []  # the most frequent case
        in_page = None if page is None else page.refresh
        found = followed_refresh(claim.url, header, in_page, base)
        if found is None or dedup_key(found.reference) == dedup_key(claim.url):
            return []
        depth, redirects_left = claim.depth + 1, None
        if found.after_s <= REDIRECTED_WITHIN_S:
            outcome.redirect_to = found.reference
            if claim.redirects_left:
                depth, redirects_left = claim.depth, claim.redirects_left - 1
        target = self._admission.admit(
            found.reference, "", depth, redirects_left, nofollow=nofollow
        )
        return [] if target is None else [target]

    def _remember_cookies(self, url: str, fetched: Fetched) -> None:
        self._cookies_by_url.pop(url, None)
        found = _COOKIE.search(fetched.request_head)
        if found:
            self._cookies_by_url[url] = found[1].decode("latin-1")
        if len(self._cookies_by_url) > MAX_REMEMBERED:
            del self._cookies_by_url[next(iter(self._cookies_by_url))]

    def _has_new_cookies(self, url: str) -> bool:
        """Return whether a redirect would get other cookies now than it got before."""
        return self._cookies_for(url) != self._cookies_by_url.get(url, "")


def _role_of_target(claim: Claim) -> Role:
    """Return what the target of a redirect is found as.

    Assets are in scope on any host, and a text is a sitemap only if it was named as one;
    other targets are checked against the scope.
    """
    return claim.role if claim.role in (Role.ASSET, Role.SITEMAP) else Role.LINK
