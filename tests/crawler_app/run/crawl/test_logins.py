"""A crawl that logs in, stays logged in, and leaves no secret behind."""

import json
import re
from contextlib import closing
from http.cookies import SimpleCookie

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import LoginError
from crawler_app.commands.exit_status import FAILED
from crawler_app.commands.main import main
from crawler_app.run.crawl.logouts import logs_out
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from tests.helpers.site import Site

PAGES = 30
PASSWORD = "pass&wörd"

FORM = """<!doctype html><title>Log in</title><form id=search><input name=q></form>
<form id=in method=post action=/login?go><input type=hidden name=csrf value=%s>
<input name=user><input type=password name=pass><button name=do value=in>Go</button></form>"""


class LoginSite(Site):
    """Shows its pages to those who are logged in; forgets them after some requests.

    Attributes:
        forgets_after: Numbers of requests after which the next page finds no session.
        how_out: How it treats visitors: by a redirect, a status, or the form in place.
        forbidden: Pages that lead every user to the login page.
    """

    def __init__(self):
        self.sessions = set()
        self.logins = []
        self.forgets_after = []
        self.how_out = "redirect"
        self.forbidden = ()
        self.mark = '<a href="/logout">Log out</a>'
        super().__init__()

    def _write(self, handler, path):
        handler.set_header("Content-Type", "text/html; charset=utf-8")
        cookies = SimpleCookie(handler.request.headers.get("Cookie", ""))
        is_due = self.forgets_after and len(self.requests) >= self.forgets_after[0]
        if is_due and path.startswith("/p"):  # not while somebody logs in
            self.forgets_after.pop(0)
            self.sessions.clear()
        session = cookies["sid"].value if "sid" in cookies else ""
        bearer = handler.request.headers.get("Authorization", "")[len("Bearer ") :]
        if path.startswith("/login"):
            self._log_in(handler, cookies)
        elif not {session, bearer} & self.sessions:
            self._send_away(handler, path)
        elif path == "/logout":
            self.sessions.clear()
        elif path in self.forbidden:
            handler.redirect("/login?next=" + path)
        else:
            links = "".join(f'<a href="/p{n}">x</a>' for n in range(PAGES))
            mark = "" if path == "/p7" else self.mark
            handler.write(f"<title>{path}</title>{mark}{links}<a href=/private>x</a>")

    def _log_in(self, handler, cookies):
        if handler.request.method == "GET":
            handler.set_header("Set-Cookie", "csrf=t0ken; Path=/")
            handler.write(FORM % "t0ken")
            return
        is_json = handler.request.headers["Content-Type"] == "application/json"
        if is_json:
            given = json.loads(handler.request.body)
        else:
            given = {k: v[0].decode() for k, v in handler.request.arguments.items()}
            assert (given["csrf"], cookies["csrf"].value) == ("t0ken", "t0ken")
            assert given["do"] == "in"
        self.logins.append(given)
        if given["pass"] != PASSWORD:
            handler.write(FORM % "t0ken")
            return
        session = f"s{len(self.logins)}"
        self.sessions.add(session)
        if is_json:
            handler.write(json.dumps({"data": [{"token": session}]}))
        else:
            handler.set_header("Set-Cookie", f"sid={session}; Path=/; HttpOnly")
            handler.redirect("/")

    def _send_away(self, handler, path):
        if self.how_out == "redirect":
            handler.redirect("/login?next=" + path)
        elif self.how_out == "in place":
            handler.write(FORM % "t0ken")
        else:
            handler.set_status(int(self.how_out))


@pytest.fixture
def site():
    site = LoginSite()
    yield site
    site.stop()


@pytest.fixture
def recipe(site, tmp_path, monkeypatch):
    """Return a function that writes a recipe."""
    monkeypatch.setenv("SITE_PASSWORD", PASSWORD)

    def write(**values):
        values = {
            "url": site.url + "login",
            "fields": ["user=me", "pass=${SITE_PASSWORD}"],
            "logged-in": "link:/logout",
        } | values
        path = tmp_path / "login.toml"
        lines = (f"{key} = {json.dumps(value)}" for key, value in values.items())
        path.write_text("\n".join(lines))
        return str(path)

    return write


@pytest.fixture
def crawl(site, run_sync, tmp_path):
    """Crawl the site into a directory; return its pages by path, and the result."""

    def run(login_file, *, resume=False, **options):
        into = str(tmp_path / "crawl")
        options = {
            "robots": False,
            "retry_pause_s": 0.01,
            "login_file": login_file,
        } | options
        config = CrawlConfig((site.url,), into=into, **options)
        run_sync(lambda: Crawler(config, resume=resume).run())
        with closing(CrawlDirectory.open(into).frontier()) as frontier:
            return {
                "/" + each.url.removeprefix(site.url): each.outcome
                for each in frontier.records()
                if each.outcome is not None
            }

    return run


def titles(outcomes):
    return {path for path, outcome in outcomes.items() if outcome.title == path}


WHOLE = {"/", "/private", *(f"/p{n}" for n in range(PAGES))}


@pytest.mark.parametrize("how_out", ["redirect", "in place", "401", "403"])
def test_every_page_is_that_of_the_user_though_sessions_are_lost(
    site, crawl, recipe, how_out, tmp_path
):
    site.how_out = how_out
    site.forgets_after = [12, 25]

    outcomes = crawl(recipe())

    assert titles(outcomes) == WHOLE
    assert len(site.logins) == 3
    assert "/logout" not in site.paths
    assert outcomes["/logout"].reason == "logs_out"
    stored = b"".join(each.read_bytes() for each in (tmp_path / "crawl").iterdir())
    assert b"p\xc3\xb6rd" not in stored and PASSWORD.encode() not in stored


def test_what_a_user_may_not_see_costs_no_login(site, crawl, recipe):
    site.forbidden = ("/private", "/p3")

    outcomes = crawl(recipe())

    assert titles(outcomes) == WHOLE - {"/private", "/p3"}
    assert outcomes["/p3"].reason == "login_required"
    assert len(site.logins) == 1
    assert not any(path.startswith("/login?") for path in outcomes)


def test_token_of_a_json_answer_is_sent(site, crawl, recipe):
    site.how_out = "401"
    values = {"json": True, "token": "data.0.token", "logged-in": ""}

    outcomes = crawl(recipe(**values))

    assert titles(outcomes) == WHOLE
    assert site.logins == [{"user": "me", "pass": PASSWORD}]


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"fields": ["user=me", "pass=${WRONG}"]}, "was not accepted"),
        ({"fields": ["user=me", "pin=7", "pass=${WRONG}"]}, "no field 'pin'; it has"),
        ({"form": "entry"}, "has no form 'entry'; it has 'search', 'in'"),
        ({"form": "search", "fields": ["q=1"]}, "into a URL"),
        ({"json": True, "token": "token", "logged-in": ""}, "no token at 'token'"),
    ],
)
def test_login_that_fails_ends_the_crawl(
    site, crawl, recipe, monkeypatch, values, error
):
    monkeypatch.setenv("WRONG", "s3cret")

    with pytest.raises(LoginError, match=error) as caught:
        crawl(recipe(**values))

    assert "s3cret" not in str(caught.value)
    assert len(site.logins) <= 1


def test_number_of_logins_is_bounded_and_resume_goes_on(
    site, crawl, recipe, tmp_path, capsys
):
    site.forgets_after = list(range(8, 1000, 7))
    options = ["--login", recipe(**{"max-logins": 2}), "--no-robots"]

    status = main(["crawl", site.url, "--into", str(tmp_path / "crawl"), *options])

    assert status == FAILED
    shown = capsys.readouterr()
    assert "captures" in shown.out
    assert "gencrawl resume" in shown.err
    assert "after each of 2 logins" in shown.err.splitlines()[-1]
    site.forgets_after = []
    outcomes = crawl(recipe(), resume=True)

    assert titles(outcomes) == WHOLE


def test_cookies_last_until_the_crawl_is_resumed(site, crawl, recipe, tmp_path):
    crawl(recipe(), max_pages=5)
    cookies = tmp_path / "crawl" / "cookies.json"
    assert cookies.stat().st_mode & 0o77 == 0

    outcomes = crawl(recipe(), resume=True)

    assert titles(outcomes) == WHOLE
    assert len(site.logins) == 1


def test_damaged_cookies_are_left_out(site, crawl, recipe, tmp_path, caplog):
    crawl(recipe(), max_pages=5)
    (tmp_path / "crawl" / "cookies.json").write_text('{"http://a.test": [[1]]}')

    outcomes = crawl(recipe(), resume=True)

    assert titles(outcomes) == WHOLE
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"fields": ["user=me", "pass=word"]}, r"write 'pass=\$\{NAME\}'"),
        (
            {"fields": ["pass=${NOT_SET}"]},
            r"\$\{NOT_SET\} is neither in the environment",
        ),
        ({"logged-in": "button"}, "must be text:TEXT, link:"),
        ({"logged-in": ""}, "logged-in is missing"),
        ({"fields": []}, "fields is empty"),
        ({"token": "a"}, "needs `json = true`"),
        ({"passwort": "x"}, "there is no option 'passwort'"),
        ({"secrets": "none.env"}, "cannot read the secrets in .*none.env"),
    ],
)
def test_recipe_is_refused(recipe, crawl, values, error, tmp_path):
    path = recipe(**values)

    with pytest.raises(Exception, match=error) as caught:
        crawl(path)

    assert not (tmp_path / "crawl").exists()
    assert re.search("login.toml|none.env", str(caught.value))


def test_secrets_that_others_can_read_are_refused(site, recipe, crawl, tmp_path):
    secrets = tmp_path / "site.env"
    secrets.write_text(f"# comment\nOWN={PASSWORD}\n")
    values = {"secrets": "site.env", "fields": ["user=me", "pass=${OWN}"]}
    secrets.chmod(0o640)
    with pytest.raises(Exception, match="can be read by others"):
        crawl(recipe(**values))

    secrets.chmod(0o600)

    assert titles(crawl(recipe(**values))) == WHOLE


LOGOUTS = [
    "/logout",
    "/user/sign_out",
    "/log-off.aspx",
    "/a/Logout!default.jspa",
    "/x?action=logout",
    "/wp-login.php?action=logout&n=1",
    "/index.php?title=Spezial:Abmelden",
    "/wiki/Sp%C3%A9cial:D%C3%A9connexion",
    "/wiki/Speciale:Esci",
    "/?task=user.logout",
    "/?logout",
    "/ucp.php?mode=logout&sid=1",
]
OTHERS = [
    "/esci",
    "/logouts",
    "/how-to-logout",
    "/login?next=/logout",
    "/p?q=a:b",
    "/signage",
    "/logout-help/x",
]


def test_links_that_log_out_are_known():
    host = "http://a.test"
    assert [path for path in LOGOUTS if not logs_out(host + path)] == []
    assert [path for path in OTHERS if logs_out(host + path)] == []
