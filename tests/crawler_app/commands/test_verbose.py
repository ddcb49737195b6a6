"""``--verbose``: each request and decision in one line, and no secret."""

import logging

import pytest

from tests.helpers.postgres import prepared_servers

__all__ = ["prepared_servers"]


@pytest.fixture
def told(gencrawl, site, directory):
    """Return a function that crawls the site; it returns what is told, by first words."""
    site.page("/", "/a", "/missing", "/moved", "/flaky", "http://elsewhere.test/")
    site.page("/a")
    site.redirect("/moved", to="/a")
    site.page("/flaky", status=503, times=1)
    site.page("/flaky")

    def told(*options):
        done = gencrawl(
            "crawl", site.url, "--into", directory, "--retry-pause", "1ms", *options
        )
        assert done.status == 0
        return [line.replace(site.url, "/") for line in done.err.splitlines()]

    return told


@pytest.mark.usefixtures("prepared_servers")
@pytest.mark.parametrize(
    "options", [("--verbose",), ("-v", "--concurrency", 2, "--processes", 2)], ids=str
)
def test_each_request_and_decision_is_one_line(told, options):
    lines = told(*options)

    for wanted in (
        "GET /robots.txt -> 404, text/html;charset=utf-8, ",
        "GET / -> 200, text/html;charset=utf-8, ",
        "GET /missing -> 404, ",
        "failed /missing (http_404)",
        "redirected /moved -> /a",
        "retrying /flaky in 0.0 s (http_503)",
        "skipped http://elsewhere.test/ (out_of_scope) on /",
    ):
        assert [line for line in lines if line.lower().startswith(wanted.lower())]
    assert not [line for line in lines if "fetches/s" in line]


def test_without_verbose_nothing_is_logged(told):
    before = (logging.getLogger("crawler_app").level, logging.getLogger().handlers[:])

    told("--verbose")
    lines = told("--quiet")

    assert not [line for line in lines if line.startswith(("GET", "skipped"))]
    after = (logging.getLogger("crawler_app").level, logging.getLogger().handlers[:])
    assert after == before


def test_verbose_hides_secrets_and_control_characters(told, site):
    site.answer("/a", b"", status=302, headers={"Location": "/b\x1b[2Jc"})

    lines = told("-v", "--auth", "me:pass-word", "--header", "X-Key: key-word")

    assert any("X-Key" in headers for _, headers in site.requests)
    assert not [line for line in lines if "word" in line or "X-Key" in line]
    assert all(line.isprintable() for line in lines)
