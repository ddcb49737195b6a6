"""Keeps a crawl logged in: logs in before the first page, and again if the site has logged it out.

Rule 1: a response that looks like that of a visitor is neither archived nor read before it is
known whether the session was lost.  Signs are a redirect to the login page, 401, 403, and a page
without the mark; one request for a known page then decides for all requests that wait.  That of
an application may look the same to everyone: there, the first refusals with each status are
answered by a login, and a URL that this opens is what is asked for from then on.

Rule 2: no secret leaves this module: the exchanges of a login are not archived, and errors name
the page and the field, never a value.

`crawler_app.run.crawl.logging_in` makes the exchanges of a login.
"""

import contextlib
import logging
from collections import Counter
from collections.abc import Generator
from http import HTTPStatus
from typing import Any

from crawler_app.base.config.login_recipe import LoginRecipe
from crawler_app.base.errors import FetchError, LoginError
from crawler_app.base.models import Fetched, Request
from crawler_app.base.reasons import Reason, meaning_of
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import origin_of
from crawler_app.run.crawl.context import RunContext
from crawler_app.run.crawl.logging_in import Exchange, LogIn
from crawler_app.run.crawl.login_signs import LoginSigns
from crawler_app.web.fetcher import Fetcher
from gencoro import gen
from gencoro.locks import Lock

__all__ = ["Session"]

logger = logging.getLogger(__name__)

# A request may meet a session that is lost, and one that another process has just replaced.
MAX_ASKED = 3

# What one login does not open may have met another loss; what two do not is for no user.
MAX_DOUBTS = 2


class Session:
    """The session of one process.

    Args:
        recipe: How to log in.
        exchange: Makes one exchange, which is not archived.

    The counter ``logins`` has the number of logins of this run.
    """

    def __init__(
        self,
        context: RunContext,
        fetcher: Fetcher,
        recipe: LoginRecipe,
        exchange: Exchange,
    ) -> None:
        config = context.config
        self._context = context
        self._fetcher = fetcher
        self._recipe = recipe
        self._exchange = exchange
        self._origins = {origin_of(recipe.url), *map(origin_of, config.seeds)}
        self._signs = LoginSigns(recipe, config.seeds, fetcher.policy.cookies_for)
        # A page that was seen while logged in.
        self._known_url = ""
        # A URL that was refused before a login, and not after it.
        self._opened_url = ""
        # Logins for refusals, by their status, though the known page was there.
        self._doubts = Counter[int]()
        self._is_doubtful = False
        self._is_begun = False
        self._logins = 0
        self._error: LoginError | None = None
        self._repeating = Lock()
        # The last look whether the session still lives, and how many were begun.
        self._looks = 0
        self._look: gen.Future[bool] | None = None

    def ask(self, request: Request) -> Subgenerator[tuple[Fetched, float]]:
        """Make one exchange as a user who is logged in; see `Fetching.exchange`.

        Raises:
            FetchError: there was no usable response, or the user may not see the page.
            LoginError: the crawl cannot log in.
        """
        url = request.url
        is_own = origin_of(url) in self._origins and not url.endswith("/robots.txt")
        if not is_own or self._signs.is_login_page(url):
            return (yield from self._exchange(request))
        is_safe, was_refused = request.method in ("GET", "HEAD"), False
        with contextlib.ExitStack() as alone:
            for tries in range(MAX_ASKED):
                if tries == 1:
                    # One at a time: whose session is lost again ends it itself.
                    alone.enter_context((yield self._repeating.acquire()))
                yield from self._enter()
                logins = self._logins
                found = yield from self._exchange(request)
                fetched = found[0]
                is_refused = self._signs.refuses(fetched)
                if was_refused and not is_refused:
                    self._doubts.clear()
                    if is_safe and not self._signs.are_on_pages:
                        self._opened_url = url
                if not is_refused and (not is_safe or self._note_inside(fetched)):
                    return found
                was_refused = is_refused
                if is_refused and self._logins == logins:
                    self._doubt(fetched.status)
                if not (yield from self._was_lost(fetched, is_first=tries == 0)):
                    break
            else:
                logger.warning("skipping %s: %s", url, meaning_of(Reason.LOGS_OUT))
                raise FetchError(Reason.LOGS_OUT, meaning_of(Reason.LOGS_OUT))
        if self._signs.leads_to_login(fetched):
            raise FetchError(Reason.LOGIN_REQUIRED, meaning_of(Reason.LOGIN_REQUIRED))
        return found

    def _doubt(self, status: int) -> None:
        """Let a login decide on a refusal if the known page may be there for everyone."""
        is_clear = self._opened_url or self._signs.are_on_pages or self._is_doubtful
        if not is_clear and self._doubts[status] < MAX_DOUBTS:
            self._doubts[status] += 1
            self._is_doubtful = True

    def _is_suspicious(self, fetched: Fetched) -> bool:
        # A site that has refused data need not be asked about each that is short.
        signs = self._signs
        return (
            signs.refuses(fetched) if self._opened_url else signs.is_suspicious(fetched)
        )

    def _note_inside(self, fetched: Fetched) -> bool:
        """Return whether a response is one to a user who is logged in."""
        if self._is_suspicious(fetched):
            return False
        if not self._known_url and self._signs.is_inside(fetched):
            self._known_url = fetched.url
        return True

    def _enter(self) -> Subgenerator[None]:
        """Log in before the first page, unless cookies of an earlier login still do."""
        if self._error is not None:
            raise self._error
        if not self._is_begun:
            self._is_begun = True
            self._begin_look()
        if self._is_looking:
            yield self._look

    def _was_lost(self, fetched: Fetched, *, is_first: bool) -> Subgenerator[bool]:
        """Return whether a request is to be made again, with another session than before."""
        needed = self._looks + 1  # one that began before this response says nothing
        while True:
            if not self._is_looking:
                if not (self._known_url or is_first):
                    return False  # the user may not see this page
                self._begin_look()
            number, look = self._looks, self._look
            assert look is not None
            if (yield look):
                return True
            if number >= needed:
                break
        # Another process may have logged in.
        sent = self._signs.cookies_sent(fetched)
        return is_first and sent != self._fetcher.policy.cookies_for(fetched.url)

    def _begin_look(self) -> None:
        self._looks += 1
        self._look = self._renew()

    @property
    def _is_looking(self) -> bool:
        return self._look is not None and not self._look.done()

    @gen.coroutine
    def _renew(self) -> Generator[Any, Any, bool]:
        """Log in if the session was lost; return whether that was done."""
        if self._error is not None:
            raise self._error
        log_in = LogIn(self._context.config, self._recipe, self._signs, self._exchange)
        if self._looks == 1 and self._signs.has_session(self._recipe.url):
            self._known_url = yield from log_in.proof()
            if self._known_url:
                return False
        was_known = bool(self._known_url)
        is_lost = not was_known or (yield from self._is_known_lost())
        if not (is_lost or self._is_doubtful):
            return False
        self._is_doubtful = False
        if was_known:
            why = "logged the crawl out" if is_lost else "refused a request"
            logger.warning("the site has %s; logging in again", why)
        # What worked before may only have met another loss of the session.
        for tries_left in (1, 0) if was_known and is_lost else (0,):
            try:
                yield from self._log_in(log_in)
                break
            except LoginError as exc:
                if tries_left:
                    continue
                if not is_lost:  # whose session lives may find no form
                    return False
                self._error = exc
                raise
        return True

    def _is_known_lost(self) -> Subgenerator[bool]:
        """Return whether the known page is no longer there for this session."""
        url = self._opened_url or self._known_url
        try:
            fetched, _ = yield from self._exchange(Request(url))
        except FetchError:
            return False  # an outage, which says nothing
        if fetched.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return False
        return self._is_suspicious(fetched)

    def _log_in(self, log_in: LogIn) -> Subgenerator[None]:
        if self._logins >= self._recipe.max_logins:
            raise LoginError(
                f"the site has logged the crawl out after each of {self._logins} logins; "
                "max-logins in the recipe is their limit"
            )
        self._logins += 1
        self._context.stats["logins"] += 1
        self._known_url = yield from log_in.run(self._fetcher.policy.add_secret_header)
