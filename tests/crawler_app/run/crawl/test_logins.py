"""A crawl that logs in, stays logged in, and leaves no secret behind."""

import asyncio
import json
import re
import shutil
from contextlib import closing

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.login_recipe import LoginRecipe
from crawler_app.base.errors import LoginError
from crawler_app.base.models import Request
from crawler_app.commands.exit_status import FAILED, OK
from crawler_app.commands.main import main
from crawler_app.run.crawl.session import Session
from crawler_app.run.crawl.wiring import wire
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.fetcher import HttpFetcher
from gencoro import gen
from tests.helpers.login_site import PAGES, PASSWORD, LoginSite
from tests.helpers.postgres import postgres, postgres_url, prepared_servers
from tests.helpers.postgres_server import newest_binaries

__all__ = ["postgres", "postgres_url", "prepared_servers"]


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


@pytest.mark.parametrize("how_out", ["redirect", "in place", "401", "403", "json"])
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


def test_start_url_shows_the_login_if_the_page_after_it_fails(site, crawl, recipe):
    site.leads_to = "/broken"

    assert titles(crawl(recipe())) == WHOLE


@pytest.mark.once
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs the program chromium")
def test_rendered_pages_and_what_they_load_are_those_of_the_user(site, crawl, recipe):
    site.script = """<script>fetch("/data").then(answer => answer.text()).then(
        text => document.title = text.includes("/logout") ? "in" : "out")</script>"""
    site.how_out = "in place"
    site.forgets_after = [7]

    outcomes = crawl(recipe(), render="always", max_pages=3, archive=False)

    fetched = [each for each in outcomes.values() if each.status == 200]
    assert [each.title for each in fetched] == ["in"] * 3
    assert len(site.logins) == 2


def test_request_cancelled_when_its_turn_comes_leaves_the_turn_to_the_next(
    site, recipe, run_sync
):
    answers = {}

    @gen.coroutine
    def main():
        config = CrawlConfig((site.url,), robots=False, login_file=recipe())
        with closing(HttpFetcher(config)) as fetcher:
            parts = wire(config, SqliteFrontier(), fetcher)
            in_turn = []

            def exchange(request):
                found = yield from parts.fetching.exchange(request)
                if request.url not in answers:  # a page of the login
                    return found
                if request.url not in in_turn:
                    in_turn.append(request.url)
                elif request.url == in_turn[0]:
                    # As a page that was rendered does with requests that it left behind.
                    asyncio.get_running_loop().call_soon(answers[in_turn[1]].cancel)
                return found

            read = LoginRecipe.read(config.login_file)
            session = Session(parts.context, fetcher, read, exchange)

            @gen.coroutine
            def ask(path):
                return (yield from session.ask(Request(site.url + path)))[0]

            yield ask("p0")
            site.sessions.clear()
            answers.update((site.url + path, ask(path)) for path in ("p1", "p2", "p3"))
            yield asyncio.wait(answers.values(), timeout=10)
            return in_turn

    first, cancelled, last = run_sync(main)

    assert answers[cancelled].cancelled()
    for url in (first, last):
        path = url.removeprefix(site.url)
        assert answers[url].done()
        assert f"/{path}</title>".encode() in answers[url].result().body


START = "<title>/</title>" + "".join(f"<a href=/p{n}>x</a>" for n in range(PAGES))


@pytest.mark.parametrize("how_out", ["redirect", "401", "403"])
def test_loss_of_a_session_is_seen_though_the_known_page_is_there_for_everyone(
    site, crawl, recipe, how_out
):
    site.start, site.how_out = START, how_out
    site.forgets_after = [12, 25, 40]

    outcomes = crawl(recipe(**{"logged-in": "cookie:sid"}))

    assert titles(outcomes) == WHOLE
    assert len(site.logins) == 4


@pytest.mark.parametrize("form_of_user", [None, "You are in."], ids=["form", "none"])
def test_refused_pages_cost_few_logins_if_the_known_page_is_there_for_everyone(
    site, crawl, recipe, form_of_user
):
    site.start, site.how_out, site.form_of_user = START, "403", form_of_user
    site.forbidden = ("/p3", "/p9", "/p12")

    outcomes = crawl(recipe(**{"logged-in": "cookie:sid"}))

    assert titles(outcomes) == WHOLE - set(site.forbidden)
    assert {outcomes[path].status for path in site.forbidden} == {403}
    assert len(site.logins) == (3 if form_of_user is None else 1)


@pytest.mark.once
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs the program chromium")
def test_data_of_an_application_is_that_of_the_user_though_the_session_is_lost(
    site, crawl, recipe
):
    site.start = """<!doctype html><body><script>
        fetch("/p" + location.search.slice(1)).then(answer => answer.text()).then(text => {
          document.title = text.includes("/logout") ? "in" : "out";
          document.body.innerHTML = "<a href=/?1>x</a><a href=/?2>x</a>"; })</script>"""
    site.how_out, site.is_sliding = "401", True
    site.forgets_after = [7]

    outcomes = crawl(
        recipe(**{"logged-in": "cookie:sid"}), render="always", concurrency=1
    )

    titles_by_path = {path: each.title for path, each in outcomes.items()}
    assert titles_by_path == dict.fromkeys(("/", "/?1", "/?2"), "in")
    assert len(site.logins) == 2


@pytest.mark.once
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs the program chromium")
def test_rendered_page_has_the_local_storage_of_its_user(site, crawl, tmp_path):
    site.sessions = {"mine"}
    site.script = "<script>document.title = Object.entries(localStorage)</script>"
    cookie = {"name": "sid", "value": "mine", "domain": "127.0.0.1", "path": "/"}
    own, other = (
        {"origin": origin, "localStorage": [{"name": name, "value": "{'\u2028&\"<"}]}
        for origin, name in ((site.url.rstrip("/"), "mine"), ("http://a.test", "no"))
    )
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"cookies": [cookie], "origins": [own, other]}))

    outcomes = crawl("", cookie_file=str(state), render="always", max_pages=1)

    assert outcomes["/"].title == "mine,{' &\"<"


@pytest.mark.usefixtures("prepared_servers")
@pytest.mark.parametrize("workers", ["processes", "frontier"])
def test_workers_that_cannot_log_in_end_with_the_summary_and_go_on_later(
    site, recipe, tmp_path, capsys, postgres_url, workers
):
    site.forgets_after = list(range(8, 1000, 7))
    command = ["crawl", site.url, "--into", str(tmp_path / "crawl"), "--no-robots"]
    value = {"processes": "2", "frontier": postgres_url}[workers]
    command += [f"--{workers}", value, "--login"]

    assert main([*command, recipe(**{"max-logins": 2})]) == FAILED

    shown = capsys.readouterr()
    assert "statuses" in shown.out
    assert "after each of 2 logins" in shown.err.splitlines()[-1]
    site.forgets_after = []
    assert main(["resume", str(tmp_path / "crawl")]) == OK
    assert {path for path in site.paths if path.startswith("/p")} == WHOLE - {"/"}


@pytest.mark.usefixtures("prepared_servers")
@pytest.mark.skipif(not newest_binaries(), reason="needs PostgreSQL")
def test_several_processes_stay_logged_in(site, crawl, recipe):
    site.forgets_after = [25]

    outcomes = crawl(recipe(), processes=2)

    assert titles(outcomes) == WHOLE
    assert "/logout" not in site.paths
    assert len(site.logins) <= 4


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
    ("head", "body", "header"),
    [
        ("XSRF-TOKEN=t%3D7; Path=/", "", "X-Xsrf-Token"),
        ("csrftoken=t=7; Path=/", "", "X-Csrftoken"),
        ("other=1", "<meta name=CSRF-Token content='t=7'>", "X-Csrf-Token"),
    ],
)
def test_json_is_sent_with_the_csrf_token_of_the_page(
    site, crawl, recipe, head, body, header
):
    site.how_out = "in place"
    site.login_cookie, site.login_head = head, body

    crawl(recipe(json=True, token="data.0.token"), max_pages=1)

    (sent,) = [
        headers
        for (path, headers), method in zip(site.requests, site.methods, strict=True)
        if method == "POST"
    ]
    assert sent[header] == "t=7"
    assert len({"X-Xsrf-Token", "X-Csrftoken", "X-Csrf-Token"} & sent.keys()) == 1


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"fields": ["user=me", "pass=${WRONG}"]}, "asks for the password again"),
        ({"logged-in": "text:Bye"}, 'logged-in = "link:/logout"'),
        ({"logged-in": "link:/bye"}, 'logged-in = "link:/logout"'),
        ({"logged-in": "link:<title>/"}, 'logged-in = "text:<title>/"'),
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


def test_second_factor_is_named(site, gencrawl, recipe):
    field = '<input name="code\x1b[2J&#10;::error::">'
    site.asks_more = f"<form method=post>{field}<button>Go</button></form>"

    ended = gencrawl("check", site.url, "--login", recipe())

    assert ended.status == FAILED
    told = (
        r"the page asks for code\x1b[2J\n::error::; a login with a second factor needs"
    )
    assert told in ended.err.splitlines()[-1]


@pytest.mark.parametrize("how_out", ["redirect", "in place"])
def test_loss_of_a_session_that_cookies_have_given_is_told(
    site, gencrawl, tmp_path, how_out
):
    site.how_out = how_out
    site.sessions = {"mine"}
    cookies = tmp_path / "cookies.txt"
    cookies.write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tmine\n")
    site.forgets_after = [12]

    ended = gencrawl(
        "check", site.url, "--no-robots", "--cookies", cookies, "--into", tmp_path / "x"
    )

    assert ended.status == FAILED
    assert "or is no longer logged in" in ended.out
    assert "no page found" in gencrawl("search", tmp_path / "x", "Log in").out


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
