"""Login pages of other kinds: two steps, single sign-on, and what must not get a password."""

import json
from contextlib import closing, contextmanager
from http.cookies import SimpleCookie

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.login_recipe import LoginRecipe
from crawler_app.base.errors import LoginError
from crawler_app.base.models import Fetched
from crawler_app.run.crawl.logging_in import LogIn
from crawler_app.run.crawl.login_signs import LoginSigns
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from gencoro import gen
from tests.helpers.site import Site

PASSWORD = "s3cr&t"
NAME_FORM = (
    "<form method=post action=/name><input name=user><button>Next</button></form>"
)
PASSWORD_FORM = (
    "<form method=post action=%s><input type=hidden name=user value=me>"
    "<input type=password name=pass><button>Go</button></form>"
)
HANDOVER = (
    "<body onload='document.forms[0].submit()'><form method=post action=%s>"
    "<input type=hidden name=ticket value=t1><input type=submit></form>"
)


class Portal(Site):
    """Shows pages to who is logged in.

    Attributes:
        login_page: What `/login` shows; a URL redirects there.
        then: What is shown when the password is right, in place of a redirect.
        visitors_stay: Whether each page has the form for those who are not logged in.
        given: What was sent to log in.
    """

    def __init__(self):
        self.is_logged_in = False
        self.login_page = NAME_FORM
        self.then = ""
        self.visitors_stay = False
        self.given = []
        super().__init__()

    def _write(self, handler, path):
        handler.set_header("Content-Type", "text/html; charset=utf-8")
        has_cookie = "sid" in SimpleCookie(handler.request.headers.get("Cookie", ""))
        sent = {k: v[0].decode() for k, v in handler.request.arguments.items()}
        if handler.request.method == "POST":
            self.given.append(sent)
        if path.startswith("/login"):
            self._redirect_or_write(handler, self.login_page)
        elif path == "/name":
            handler.write(PASSWORD_FORM % "/password")
        elif path == "/password" and sent.get("pass") == PASSWORD:
            if self.then:
                handler.write(self.then)
            else:
                self._let_in(handler)
        elif path == "/accept" and sent == {"ticket": "t1"}:
            self._let_in(handler)
        elif not (has_cookie and self.is_logged_in):
            page = self.login_page if self.visitors_stay else f"{self.url}login"
            self._redirect_or_write(handler, page)
        elif path == "/account/end":
            self.is_logged_in = False
            handler.write("Bye")
        else:
            handler.write(
                f"<title>{path}</title>Signed in<a href=/a></a><a href=/b></a>"
            )
            handler.write("<a href=/account/end></a><a href=/c></a><a href=/d></a>")

    def _redirect_or_write(self, handler, page):
        if page.startswith("http"):
            handler.redirect(page)
        else:
            handler.write(page)

    def _let_in(self, handler):
        self.is_logged_in = True
        handler.set_header("Set-Cookie", "sid=7; Path=/")
        handler.redirect("/")


@contextmanager
def portal():
    site = Portal()
    try:
        yield site
    finally:
        site.stop()


@pytest.fixture
def site():
    with portal() as site:
        yield site


@pytest.fixture
def other():
    with portal() as site:
        yield site


@pytest.fixture
def crawl(site, run_sync, tmp_path, monkeypatch):
    """Crawl the site while logged in; return the reasons by path."""
    monkeypatch.setenv("PORTAL_PASSWORD", PASSWORD)

    def run(*, resume=False, max_pages=100, **values):
        values = {
            "url": site.url + "login",
            "fields": ["user=me", "pass=${PORTAL_PASSWORD}"],
            "logged-in": "text:Signed in",
        } | values
        path = tmp_path / "login.toml"
        lines = (f"{key} = {json.dumps(value)}" for key, value in values.items())
        path.write_text("\n".join(lines))
        into = str(tmp_path / "crawl")
        config = CrawlConfig(
            (site.url,),
            into=into,
            login_file=str(path),
            robots=False,
            max_pages=max_pages,
        )
        run_sync(Crawler(config, resume=resume).run)
        with closing(CrawlDirectory.open(into).frontier()) as frontier:
            return {
                "/" + each.url.removeprefix(site.url): each.outcome.reason
                for each in frontier.records()
                if each.outcome is not None
            }

    return run


PAGES = {"/": "ok", "/a": "ok", "/b": "ok", "/c": "ok", "/d": "ok"}


def test_name_is_asked_for_before_the_password_and_a_hidden_logout_is_found(
    site, crawl, tmp_path
):
    assert crawl() == PAGES | {"/account/end": "logs_out"}

    assert site.given[:2] == [{"user": "me"}, {"user": "me", "pass": PASSWORD}]
    stored = [each.read_bytes() for each in (tmp_path / "crawl").iterdir()]
    assert not any(PASSWORD.encode() in each for each in stored)


def test_single_sign_on_at_an_origin_that_is_named(site, other, crawl):
    site.login_page = other.url + "login?state=1"
    other.login_page = PASSWORD_FORM % "/password"
    other.then = HANDOVER % (site.url + "accept")

    recipe = {"login-origin": other.url, "fields": ["pass=${PORTAL_PASSWORD}"]}

    crawl(**recipe, max_pages=1)
    site.is_logged_in = False  # the session has expired when the crawl is resumed
    reasons = crawl(**recipe, resume=True)

    assert reasons == PAGES | {"/account/end": "logs_out"}
    assert {"ticket": "t1"} in site.given
    assert not any("pass" in each for each in site.given)


def test_page_elsewhere_gets_no_password(site, other, crawl):
    site.login_page = other.url + "login"
    other.login_page = PASSWORD_FORM % "/password"

    with pytest.raises(LoginError, match=f'write: login-origin = "{other.url[:-1]}"'):
        crawl(fields=["pass=${PORTAL_PASSWORD}"])

    assert other.given == []


def test_form_that_sends_elsewhere_gets_no_password(site, other, crawl):
    site.login_page = PASSWORD_FORM % (other.url + "password")

    with pytest.raises(LoginError, match="write: login-origin"):
        crawl(fields=["pass=${PORTAL_PASSWORD}"])

    assert other.given == []


def test_login_is_handed_over_to_no_other_site(site, other, crawl):
    site.login_page = PASSWORD_FORM % "/password"
    site.then = HANDOVER % (other.url + "accept")

    with pytest.raises(LoginError, match="was not accepted"):
        crawl(fields=["pass=${PORTAL_PASSWORD}"])

    assert other.given == []


def test_start_page_may_have_the_form(site, crawl):
    site.login_page = PASSWORD_FORM % "/password"
    site.visitors_stay = True

    reasons = crawl(url=site.url, fields=["pass=${PORTAL_PASSWORD}"])

    assert reasons == PAGES | {"/account/end": "logs_out"}


@pytest.mark.parametrize(
    ("url", "action", "error"),
    [
        ("http://a.test/in", "https://a.test/in", "was not accepted"),
        ("http://a.test/in", "http://a.test/in", "would send without encryption"),
        ("https://a.test/in", "http://a.test/in", "at another origin than"),
    ],
)
def test_page_that_came_encrypted_sends_encrypted(run_sync, url, action, error):
    sent = []

    def exchange(request):
        """Redirect to https; show the form there, and accept nothing."""
        sent.append((request.method, request.url))
        html, redirect = (
            {"Content-Type": "text/html"},
            {"Location": "https://a.test/in"},
        )
        if request.url.startswith("http:"):
            return Fetched(request.url, 302, redirect, b"", 0.0), 0.0
        body = (PASSWORD_FORM % action).encode()
        return Fetched(request.url, 200, html, body, 0.0), 0.0
        yield  # a generator that waits for nothing

    config = CrawlConfig(("https://a.test/",))
    recipe = LoginRecipe(url, ("pass=x",), logged_in="text:Signed in")
    signs = LoginSigns(recipe, config.seeds, lambda url: "")

    @gen.coroutine
    def log_in():
        yield from LogIn(config, recipe, signs, exchange).run(None)

    with pytest.raises(LoginError, match=error):
        run_sync(log_in)

    posts = [target for method, target in sent if method == "POST"]
    assert posts == ([action] if "accepted" in error else [])
