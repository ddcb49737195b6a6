"""Access to the dashboard: the token, foreign sites, and what responses reveal."""

import logging

import pytest

from crawler_app.base.errors import ConfigError
from crawler_app.show.dashboard.access import token_from
from gencoro import gen

pytestmark = pytest.mark.usefixtures("no_socket_is_left")

VARIABLE = "GENCRAWL_DASHBOARD_TOKEN"
GET_PATHS = [
    "/",
    "/dashboard.js",
    "/events",
    "/state",
    "/search?q=a",
    "/metrics",
    "/report",
]
ACTIONS = ["/pause", "/unpause", "/stop", "/pace", "/close"]


def test_each_token_is_new_and_long():
    tokens = {token_from({}) for _ in range(10)}

    assert len(tokens) == 10
    assert all(len(token) == 32 for token in tokens)


@pytest.mark.parametrize(
    "token", ["", "15-characters-x", "a token with spaces", "é" * 16]
)
def test_invalid_token_in_the_environment_is_refused(token):
    with pytest.raises(ConfigError, match=VARIABLE):
        token_from({VARIABLE: token})


@gen.coroutine
def test_request_without_the_token_learns_nothing(watched):
    for token in (None, "", "a-token-of-the-test", "%FF"):
        for path in [*GET_PATHS, "/nothing"]:
            answer = yield watched.ask(path, token=token)
            assert answer.code == 403
            assert b"Open the complete URL" in answer.body
        for path in ACTIONS:
            answer = yield watched.ask(path, token=token, method="POST")
            assert answer.code == 403

    assert not watched.crawl.is_paused
    assert not watched.crawl.is_stopping


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
@gen.coroutine
def test_token_is_accepted_in_a_header(watched, scheme):
    headers = {"Authorization": f"{scheme} a-token-of-the-tests"}
    answer = yield watched.ask("/state", token=None, headers=headers)
    assert answer.code == 200

    answer = yield watched.ask("/pause", token=None, headers=headers, method="POST")
    assert answer.code == 204
    assert watched.crawl.is_paused

    # A wrong one is not corrected by the URL.
    answer = yield watched.ask("/state", headers={"Authorization": f"{scheme} x"})
    assert answer.code == 403


@gen.coroutine
def test_name_of_another_site_is_refused(watched):
    for host, code in (
        ("evil.test", 403),
        (f"evil.test:{watched.port}", 403),
        (f"localhost:{watched.port}", 200),
        ("192.0.2.1", 200),
    ):
        answer = yield watched.ask("/state", headers={"Host": host})
        assert answer.code == code, host


@gen.coroutine
def test_page_of_another_site_cannot_act(watched):
    for origin in ("http://evil.test", "null", "http://127.0.0.1:1"):
        answer = yield watched.ask("/stop", method="POST", headers={"Origin": origin})
        assert answer.code == 403, origin
    assert not watched.crawl.is_stopping

    answer = yield watched.ask(
        "/pause", method="POST", headers={"Origin": watched.address}
    )
    assert answer.code == 204


@gen.coroutine
def test_get_requests_change_nothing(watched):
    for path in ACTIONS:
        answer = yield watched.ask(path)
        assert answer.code == 405
        assert answer.headers["Allow"] == "POST"
    answer = yield watched.ask("/state", method="POST")
    assert answer.code == 405
    assert answer.headers["Allow"] == "GET"

    assert not watched.crawl.is_paused
    assert not watched.crawl.is_stopping


@gen.coroutine
def test_long_body_is_not_read(watched):
    answer = yield watched.ask("/pause", method="POST", body="x" * 1025)

    assert answer.code == 400
    assert not watched.crawl.is_paused


@gen.coroutine
def test_every_response_has_security_headers(watched):
    for path in ("/", "/dashboard.css", "/state", "/metrics", "/pause", "/nothing"):
        for token in ("a-token-of-the-tests", "none"):
            headers = (yield watched.ask(path, token=token)).headers
            assert "default-src 'none'" in headers["Content-Security-Policy"]
            assert "unsafe" not in headers["Content-Security-Policy"]
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["Cache-Control"] == "no-store"
            assert "Server" not in headers
            assert "Etag" not in headers


@gen.coroutine
def test_page_and_its_files_are_served(watched):
    for path, content_type, text in (
        ("/", "text/html", b'href="dashboard.css?token=a-token-of-the-tests"'),
        ("/dashboard.css", "text/css", b":root"),
        ("/dashboard.js", "text/javascript", b"EventSource"),
    ):
        answer = yield watched.ask(path)
        assert answer.code == 200
        assert answer.headers["Content-Type"].startswith(content_type)
        assert text in answer.body


@gen.coroutine
def test_unknown_path_is_not_found(watched):
    for path in ("/nothing", "/page.html", "/__init__.py", "/dashboard.js/"):
        answer = yield watched.ask(path)
        assert (answer.code, answer.body) == (404, b"404: Not Found.\n")


@gen.coroutine
def test_token_is_in_no_log(watch, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    with watch() as watched:
        yield watched.ask("/state")
        yield watched.ask("/nothing")
        yield watched.ask("/search?q=%FF")
        monkeypatch.setattr(watched.crawl, "pause", lambda: 1 / 0)
        answer = yield watched.act("pause")

        assert answer.code == 500
    assert "dashboard: /pause failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert "a-token-of-the-tests" not in caplog.text
