"""Tells from a response whether the crawl is logged in.  Pure."""

import html
import re
from collections.abc import Callable, Container, Iterator
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

from crawler_app.base.config.login_recipe import LoginRecipe
from crawler_app.base.http_headers import is_html
from crawler_app.base.models import Fetched
from crawler_app.base.urls import join_or_nothing, origin_of
from crawler_app.run.crawl.logouts import logs_out

__all__ = ["LoginSigns"]

# The beginning of a page; the mark of a user is in its head or its menu.
MAX_BYTES = 4 * 2**20

_HREF = re.compile(
    rb"""(?:href|action)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>]++|(?!))""", re.IGNORECASE
)
_COOKIE = re.compile(rb"\r\ncookie: *([^\r\n]*)", re.IGNORECASE)
# An answer such as {"error": "login"}, which may come in place of any page.
MAX_JSON_BYTES = 1000

_REFUSALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class LoginSigns:
    """The signs of a recipe.

    Args:
        seeds: Start URLs, which are pages also if they have the form.
        cookies_for: Returns the Cookie header of a request sent now.

    Attributes:
        are_on_pages: Whether each page shows them; otherwise one for visitors may look the same.
    """

    def __init__(
        self,
        recipe: LoginRecipe,
        seeds: Container[str],
        cookies_for: Callable[[str], str],
    ) -> None:
        kind, _, self._wanted = recipe.logged_in.partition(":")
        self._is_text, self._is_link = kind == "text", kind == "link"
        self.are_on_pages = self._is_text or self._is_link
        self._cookie = self._wanted if kind == "cookie" else ""
        self._has_token = bool(recipe.token)
        self._url = recipe.url
        self._cookies_for = cookies_for
        self._seeds = seeds
        self._login_urls: list[str] = []
        self.add_login_url(recipe.url)

    def add_login_url(self, url: str) -> None:
        """Note a login page, or where it has redirected to."""
        if origin_of(url) != origin_of(self._url):
            url = url.partition("?")[0]  # single sign-on: each time another state
        if url not in self._seeds and not self.is_login_page(url):
            self._login_urls.append(url)

    def is_login_page(self, url: str) -> bool:
        """Return whether a URL is that of the login page, with more parameters or without."""
        return any(_is_same_page(url, each) for each in self._login_urls)

    def leads_to_login(self, fetched: Fetched) -> bool:
        """Return whether a response redirects to the login page."""
        if not 300 <= fetched.status < 400:
            return False
        target = join_or_nothing(fetched.url, fetched.headers.get("Location", ""))
        return bool(target) and self.is_login_page(target)

    def refuses(self, fetched: Fetched) -> bool:
        """Return whether a response refuses what was asked for, or leads to the login page."""
        return fetched.status in _REFUSALS or self.leads_to_login(fetched)

    def is_suspicious(self, fetched: Fetched) -> bool:
        """Return whether a response may be one to a visitor who is not logged in."""
        if self.refuses(fetched):
            return True
        if self._cookie and not self.has_session(fetched.url):
            return True  # the site has deleted it
        if _is_page(fetched):
            return not self._has_mark(fetched)
        return not self._has_token and _is_short_json(fetched)

    def is_inside(self, fetched: Fetched) -> bool:
        """Return whether a response shows that the crawl is logged in."""
        return _is_page(fetched) and not self.is_suspicious(fetched)

    def has_session(self, url: str) -> bool:
        """Return whether there are cookies that may be those of a session."""
        sent = self._cookies_for(url) or self._cookies_for(self._url)
        if not self._cookie:
            return bool(sent) and not self._has_token
        return bool(_value_of(self._cookie, sent))

    def cookie(self, name: str, url: str) -> str:
        """Return the value of a cookie that is sent to a URL; empty for none."""
        return _value_of(name, self._cookies_for(url))

    def cookies_sent(self, fetched: Fetched) -> str:
        """Return the Cookie header that a request has had."""
        found = _COOKIE.search(fetched.request_head)
        return found[1].decode("latin-1") if found else ""

    def ways_out(self, fetched: Fetched) -> list[str]:
        """Return the links and forms of a page that log out, as written."""
        hrefs = _hrefs(fetched.body[:MAX_BYTES])
        return [each for each in hrefs if logs_out(join_or_nothing(fetched.url, each))]

    def _has_mark(self, fetched: Fetched) -> bool:
        body = fetched.body[:MAX_BYTES]
        if self._is_text:
            escaped = html.escape(self._wanted, quote=False)
            return any(text.encode() in body for text in (self._wanted, escaped))
        if self._is_link:
            return any(self._wanted in href for href in _hrefs(body))
        return True


def _hrefs(body: bytes) -> Iterator[str]:
    for found in _HREF.finditer(body):
        yield html.unescape(found[1].decode("utf-8", "replace")).strip("\"'")


def _value_of(name: str, header: str) -> str:
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return next((value for key, _, value in pairs if key == name), "")


def _is_page(fetched: Fetched) -> bool:
    return (
        fetched.status == HTTPStatus.OK
        and bool(fetched.body)
        and is_html(fetched.headers.get("Content-Type", ""))
    )


def _is_short_json(fetched: Fetched) -> bool:
    is_json = "json" in fetched.headers.get("Content-Type", "")
    return is_json and len(fetched.body) <= MAX_JSON_BYTES


def _is_same_page(url: str, login_url: str) -> bool:
    ours, its = urlsplit(url), urlsplit(login_url)
    if (ours.netloc, ours.path.rstrip("/")) != (its.netloc, its.path.rstrip("/")):
        return False
    wanted = set(parse_qsl(its.query))
    return wanted <= set(parse_qsl(ours.query))
