"""Logs in once: fills in the forms of a login page, or sends JSON.

Hidden fields, such as a CSRF token, are sent as the page has them.  Rule: what is filled in is
sent with POST only, and only to the origins that the recipe names, wherever a page redirects.
"""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import unquote, urlencode

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.login_recipe import TOKEN, LoginRecipe
from crawler_app.base.errors import FetchError, LoginError
from crawler_app.base.models import Fetched, Request
from crawler_app.base.reasons import RETRYABLE, reason_of_status
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import host_of, join_or_nothing, origin_of
from crawler_app.run.crawl.login_signs import LoginSigns
from crawler_app.run.crawl.logouts import logs_out
from crawler_app.run.crawl.retrying import retried
from crawler_app.web.documents.forms import Form, csrf_token_in, forms_in
from crawler_app.web.httpclient.response import REDIRECTS

__all__ = ["Exchange", "LogIn"]

Exchange: TypeAlias = Callable[[Request], Subgenerator[tuple[Fetched, float]]]

MAX_REDIRECTS = 10
# Name, password, a page of consent, and the forms of single sign-on.
MAX_FORMS = 6
MAX_TOKEN_CHARS = 16_384

# Cookies of tokens, and the headers in which scripts send them back: of Angular, axios and
# Laravel; of Django.
_CSRF_COOKIES = {"XSRF-TOKEN": "X-XSRF-TOKEN", "csrftoken": "X-CSRFToken"}

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_JSON = {"Content-Type": "application/json", "Accept": "application/json"}


class LogIn:
    """One login.

    Args:
        exchange: Makes one exchange, which is not archived.
    """

    def __init__(
        self,
        config: CrawlConfig,
        recipe: LoginRecipe,
        signs: LoginSigns,
        exchange: Exchange,
    ) -> None:
        self._config = config
        self._recipe = recipe
        self._signs = signs
        self._exchange = exchange

    def run(self, send_header: Callable[[str, str], None]) -> Subgenerator[str]:
        """Log in; return the URL of a page that shows it.

        Args:
            send_header: Called with the header that carries a token.

        Raises:
            LoginError: that failed.
        """
        recipe = self._recipe
        if recipe.json:
            head = _JSON | (yield from self._csrf_headers())
            body = json.dumps(recipe.values_by_field()).encode()
            request = Request(recipe.url, head, "POST", body)
            answer = self._accepted((yield from self._sent(request)))
            if recipe.token:
                name, _, value = recipe.send.partition(":")
                token = self._token(answer)
                send_header(name.strip(), value.strip().replace(TOKEN, token))
        else:
            answer = yield from self._filled_in()
            if self._signs.is_inside(answer):
                return answer.url
        if shown := (yield from self.proof()):
            return shown
        where = answer.url + f" (status {answer.status})" * (answer.status >= 400)
        raise LoginError(
            f"the login at {recipe.url} was not accepted: neither {where} nor a start "
            f"URL shows the sign ({recipe.logged_in or 'no refusal'}); {self._cure(answer)}"
        )

    def _cure(self, answer: Fetched) -> str:
        """Return what to look at, by what comes after the forms."""
        forms = _forms_of(answer)
        if any(form.asks_for_password for form in forms):
            return "the page asks for the password again: look at the user and the password"
        kind, _, part = self._recipe.logged_in.partition(":")
        if kind == "link" and part.encode() in answer.body:
            sign = json.dumps(f"text:{part}", ensure_ascii=False)
            return f"the page has that in a script; write: logged-in = {sign}"
        if hrefs := self._signs.ways_out(answer):
            sign = json.dumps(f"link:{hrefs[0]}", ensure_ascii=False)
            return f"the page has a link to log out; write it, or a part of it: logged-in = {sign}"
        if asking := [form for form in forms if form.is_post and not form.is_hidden]:
            return (
                f"the page asks for {', '.join(sorted(asking[0].fields))}; a login with a "
                "second factor needs the cookies of a browser"
            )
        return "look at the user, the password and the sign"

    def _csrf_headers(self) -> Subgenerator[dict[str, str]]:
        """Return the token that the scripts of the start page would send with the JSON."""
        started = yield from self._sent(Request(self._config.seeds[0]))
        page = yield from self._followed(started)
        found = {}
        if origin_of(page.url) == origin_of(self._recipe.url):
            found["X-CSRF-Token"] = csrf_token_in(
                page.body, page.headers.get("Content-Type", "")
            )
        for cookie, header in _CSRF_COOKIES.items():
            found[header] = unquote(self._signs.cookie(cookie, self._recipe.url))
        return {header: token for header, token in found.items() if token}

    def proof(self) -> Subgenerator[str]:
        """Return the URL of a page that shows that the crawl is logged in; empty for none."""
        for seed in self._config.seeds:
            shown = yield from self._sent(Request(seed))
            for _ in range(MAX_REDIRECTS):
                if self._signs.is_inside(shown):
                    return shown.url
                _require_answer(shown)
                url = _redirected(shown)
                if self._signs.leads_to_login(shown) or origin_of(
                    url or "http://./"
                ) != origin_of(seed):
                    break
                shown = yield from self._sent(Request(url))
        return ""

    def _filled_in(self) -> Subgenerator[Fetched]:
        """Return what comes after the forms of the login: the name may be asked for first."""
        asked = yield from self._sent(Request(self._recipe.url))
        urls: list[str] = []
        page = yield from self._followed(asked, urls.append)
        left = self._recipe.values_by_field()
        for _ in range(MAX_FORMS):
            form = self._form_on(page, left) if left else self._handover_on(page)
            if form is None:
                return page
            # Only now: a user who is logged in may be redirected to a page.
            while urls:
                self._signs.add_login_url(urls.pop())
            filled = {name: left.pop(name) for name in form.fields & left.keys()}
            head = {
                **_FORM,
                # Django and others want to know where a form was.
                "Referer": page.url,
                "Origin": origin_of(page.url),
            }
            body = urlencode(form.value_by_name | filled).encode()
            sent = yield from self._sent(Request(form.action, head, "POST", body))
            page = yield from self._followed(self._accepted(sent))
        raise LoginError(
            f"the login at {self._recipe.url} has more than {MAX_FORMS} forms"
        )

    def _form_on(self, page: Fetched, left: Mapping[str, str]) -> Form:
        """Return the form to fill in, which must be one that may have secrets."""
        wanted, where = self._recipe.form, page.url
        if page.status != HTTPStatus.OK:
            raise LoginError(f"the login page {where} has the status {page.status}")
        self._require_trusted(where, f"the login page is {where}")
        forms = _forms_of(page)
        if wanted:
            found = [each for each in forms if wanted in each.names]
        else:
            found = [each for each in forms if each.asks_for_password]
            found = found or [each for each in forms if each.fields & left.keys()]
        if not found:
            what = f"no form {wanted!r}" if wanted else "no form for a password"
            raise LoginError(f"{where} has {what}; it has {_listed(forms)}")
        form = found[0]
        missing = left.keys() - form.fields
        if missing and (form.asks_for_password or missing == left.keys()):
            raise LoginError(
                f"the form on {where} has no field {min(missing)!r}; it has "
                f"{', '.join(sorted(form.fields)) or 'none'}"
            )
        if not form.is_post:
            raise LoginError(
                f"the form on {where} would put the password into a URL (method GET)"
            )
        self._require_trusted(
            form.action, f"the form on {where} sends to {form.action}"
        )
        if where.startswith("https:") and not form.action.startswith("https:"):
            raise LoginError(f"the form on {where} would send without encryption")
        return form

    def _require_trusted(self, url: str, what: str) -> None:
        """Refuse to give a secret to an origin that the recipe does not name."""
        recipe = self._recipe
        origin = origin_of(url or "http://./")
        # The same host may redirect to https.
        same = (origin_of(recipe.url), f"https://{host_of(recipe.url)}")
        if origin not in (*same, recipe.login_origin):
            raise LoginError(
                f"{what}, at another origin than `url` of the recipe; if the site "
                f"logs in there, and you trust it, write: login-origin = {json.dumps(origin)}"
            )

    def _handover_on(self, page: Fetched) -> Form | None:
        """Return the form by which a script passes the login on to a site of the crawl.

        It has only what the page wrote into it: single sign-on uses it in place of a redirect.
        """
        if page.status != HTTPStatus.OK or b".submit(" not in page.body:
            return None
        here = origin_of(page.url)
        ours = {origin_of(self._recipe.url), *map(origin_of, self._config.seeds)} - {
            here
        }
        for form in _forms_of(page):
            is_ours = bool(form.action) and origin_of(form.action) in ours
            is_handover = is_ours and form.is_post and form.is_hidden
            if is_handover and not logs_out(form.action):
                return form
        return None

    def _followed(
        self, answer: Fetched, note: Callable[[str], None] = lambda _: None
    ) -> Subgenerator[Fetched]:
        """Follow redirects; call ``note`` with the URL of each."""
        for _ in range(MAX_REDIRECTS):
            note(answer.url)
            url = _redirected(answer)
            if not url:
                return answer
            answer = yield from self._sent(Request(url))
        raise LoginError(f"the login redirects more than {MAX_REDIRECTS} times")

    def _accepted(self, answer: Fetched) -> Fetched:
        _require_answer(answer)
        if answer.status >= 400 or answer.status in (307, 308):
            raise LoginError(
                f"{answer.url} answers a login with status {answer.status}; look at the user "
                "and the password"
            )
        return answer

    def _token(self, answer: Fetched) -> str:
        """Return the token in the JSON of an answer."""
        path = self._recipe.token
        try:
            found: Any = json.loads(answer.body)
            for key in path.split("."):
                found = found[int(key)] if isinstance(found, list) else found[key]
        except (ValueError, LookupError, TypeError, RecursionError):
            found = None
        is_text = isinstance(found, str) and found.isascii() and found.isprintable()
        if not (is_text and 0 < len(found) <= MAX_TOKEN_CHARS):
            raise LoginError(f"the answer of {answer.url} has no token at {path!r}")
        return str(found)

    def _sent(self, request: Request) -> Subgenerator[Fetched]:
        """Make one exchange, again if it fails for a while."""

        def send() -> Subgenerator[Fetched]:
            fetched, _ = yield from self._exchange(request)
            return fetched

        config = self._config
        try:
            return (yield from retried(send, config.tries, config.retry_pause_s))
        except FetchError as exc:
            raise LoginError(f"cannot log in at {request.url}: {exc}") from None


def _require_answer(answer: Fetched) -> None:
    """Refuse an answer that says nothing about the login, such as a 503."""
    if reason_of_status(answer.status) in RETRYABLE:
        raise LoginError(f"cannot log in at {answer.url}: status {answer.status}")


def _redirected(answer: Fetched) -> str:
    """Return where a response redirects to; empty if it does not."""
    if answer.status not in REDIRECTS:
        return ""
    return join_or_nothing(answer.url, answer.headers.get("Location", ""))


def _forms_of(page: Fetched) -> list[Form]:
    return forms_in(page.body, page.headers.get("Content-Type", ""), page.url)


def _listed(forms: list[Form]) -> str:
    """Return the names of forms, for an error."""
    names = [next(iter(form.names), "one without a name") for form in forms]
    return ", ".join(map(repr, names[:5])) or "no form at all"
