"""Logs in once: fills in the form of a page, or sends JSON.

Hidden fields, such as a CSRF token, are sent as the page has them.  Rule: what is filled in is
sent with POST only, and to the host whose page was asked for.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias
from urllib.parse import urlencode

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.login_recipe import TOKEN, LoginRecipe
from crawler_app.base.errors import FetchError, LoginError
from crawler_app.base.models import Fetched, Request
from crawler_app.base.reasons import RETRYABLE, reason_of_status
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import join_or_nothing, origin_of
from crawler_app.run.crawl.login_signs import LoginSigns
from crawler_app.web import politeness
from crawler_app.web.documents.forms import Form, forms_in
from gencoro import gen

__all__ = ["Exchange", "LogIn"]

Exchange: TypeAlias = Callable[[Request], Subgenerator[tuple[Fetched, float]]]

MAX_REDIRECTS = 10
MAX_TOKEN_CHARS = 16_384

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
            body = json.dumps(recipe.values_by_field).encode()
            answer = yield from self._sent(Request(recipe.url, _JSON, "POST", body))
            self._require_accepted(answer)
            if recipe.token:
                name, _, value = recipe.send.partition(":")
                send_header(
                    name.strip(), value.strip().replace(TOKEN, self._token(answer))
                )
        else:
            answer = yield from self._submitted()
            self._require_accepted(answer)
            answer = yield from self._followed(answer)
            if self._signs.is_inside(answer):
                return answer.url
        return (yield from self._proof(answer))

    def _submitted(self) -> Subgenerator[Fetched]:
        """Return the answer to the form of the login page, filled in."""
        page = yield from self._followed(
            (yield from self._sent(Request(self._recipe.url)))
        )
        self._signs.add_login_url(page.url)
        form = self._form_on(page)
        values = form.value_by_name | self._recipe.values_by_field
        body = urlencode(values).encode()
        head = {
            **_FORM,
            # Django and others want to know where a form was.
            "Referer": page.url,
            "Origin": origin_of(form.action),
        }
        return (yield from self._sent(Request(form.action, head, "POST", body)))

    def _form_on(self, page: Fetched) -> Form:
        """Return the form to fill in, which must be one that may have secrets."""
        recipe, where = self._recipe, page.url
        if page.status != 200:
            raise LoginError(f"the login page {where} has the status {page.status}")
        forms = forms_in(page.body, page.headers.get("Content-Type", ""), page.url)
        if recipe.form:
            found = [each for each in forms if recipe.form in each.names]
        else:
            found = [each for each in forms if each.asks_for_password]
        if not found:
            named = (
                f"no form {recipe.form!r}" if recipe.form else "no form for a password"
            )
            raise LoginError(f"{where} has {named}; it has {_listed(forms)}")
        form = found[0]
        if missing := [
            name for name in recipe.values_by_field if name not in form.fields
        ]:
            raise LoginError(
                f"the form on {where} has no field {missing[0]!r}; it has "
                f"{', '.join(sorted(form.fields)) or 'none'}"
            )
        if not form.is_post:
            raise LoginError(
                f"the form on {where} would put the password into a URL (method GET)"
            )
        if origin_of(form.action or "http://./") != origin_of(page.url):
            raise LoginError(
                f"the form on {where} sends to another host, {form.action or 'unknown'}; if "
                "the site logs in there, give a login page of that host as `url`"
            )
        return form

    def _followed(self, answer: Fetched) -> Subgenerator[Fetched]:
        """Follow redirects."""
        for _ in range(MAX_REDIRECTS):
            if answer.status not in (301, 302, 303, 307, 308):
                return answer
            url = join_or_nothing(answer.url, answer.headers.get("Location", ""))
            if not url:
                return answer
            answer = yield from self._sent(Request(url))
        raise LoginError(f"the login redirects more than {MAX_REDIRECTS} times")

    def _require_accepted(self, answer: Fetched) -> None:
        if answer.status >= 400 or answer.status in (307, 308):
            raise LoginError(
                f"{answer.url} answers a login with status {answer.status}"
            )

    def _proof(self, answer: Fetched) -> Subgenerator[str]:
        """Return the URL of a page that shows that the login has succeeded."""
        for seed in self._config.seeds:
            shown = yield from self._sent(Request(seed))
            for _ in range(MAX_REDIRECTS):
                if self._signs.is_inside(shown):
                    return shown.url
                if self._signs.leads_to_login(shown) or shown.status // 100 != 3:
                    break
                url = join_or_nothing(shown.url, shown.headers.get("Location", ""))
                if origin_of(url or "http://./") != origin_of(seed):
                    break
                shown = yield from self._sent(Request(url))
        sign = self._recipe.logged_in or "no refusal"
        raise LoginError(
            f"the login at {self._recipe.url} was not accepted: neither {answer.url} nor a "
            f"start URL shows the sign ({sign}); look at the user, the password and the sign"
        )

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
        config, url = self._config, request.url
        for tries in range(1, config.tries + 1):
            try:
                fetched, _ = yield from self._exchange(request)
                if reason_of_status(fetched.status) not in RETRYABLE:
                    break
                why = f"status {fetched.status}"
            except FetchError as exc:
                if not exc.is_passing:
                    raise LoginError(f"cannot log in at {url}: {exc}") from None
                why = str(exc)
            if tries == config.tries:
                raise LoginError(f"cannot log in at {url}: {why}")
            yield gen.sleep(politeness.retry_at(0.0, tries, config.retry_pause_s))
        return fetched


def _listed(forms: list[Form]) -> str:
    """Return the names of forms, for an error."""
    names = [next(iter(form.names), "one without a name") for form in forms]
    return ", ".join(map(repr, names[:5])) or "no form at all"
