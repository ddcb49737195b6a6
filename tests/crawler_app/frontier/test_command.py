"""``gencrawl frontier``: a crawl in PostgreSQL."""

import sys

import pytest

from crawler_app.commands.exit_status import OK, USAGE


def test_crawl_is_made_once_listed_and_deleted(gencrawl, postgres_url):
    def run(*words):
        ran = gencrawl(*words, postgres_url, *name)
        return ran.status, ran.out or ran.err

    name = ["--crawl", "docs"]
    assert run("frontier", "init") == (OK, "made the crawl docs at /postgres\n")
    assert run("frontier", "init") == (
        OK,
        "the crawl docs at /postgres is there already\n",
    )
    listed = gencrawl("crawls", postgres_url).out.splitlines()
    assert [line for line in listed if line.startswith("docs ")] == [
        "docs  has not begun"
    ]
    assert run("drop") == (OK, "deleted the crawl docs at /postgres\n")
    status, error = run("drop")
    assert status == USAGE and "there is no crawl docs at /postgres" in error


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hush@127.0.0.1:1/x",
        "postgresql://127.0.0.1:1/x?password=hush",
        "postgresql://127.0.0.1:1/x?sslpassword=hush",
        "postgresql://me:hush@[::1/x",
    ],
)
def test_password_among_the_arguments_is_refused_and_not_shown(gencrawl, url):
    for words in (
        ["frontier", "init", url],
        ["work", url, "--into", "kept"],
        ["crawl", "http://a.test/", "--into", "kept", "--frontier", url],
    ):
        ran = gencrawl(*words)

        assert ran.status == USAGE
        assert "PGPASSWORD" in ran.err and "hush" not in ran.err


def test_driver_that_is_missing_is_named(gencrawl, monkeypatch):
    for name in ("frontier.postgres.install", "frontier.postgres.crawls", "worker"):
        monkeypatch.setitem(sys.modules, f"crawler_app.{name}", None)

    for words in (["frontier", "init"], ["work", "--into", "kept"], ["crawls"]):
        ran = gencrawl(*words, "postgresql://a.test/x")

        assert ran.status == USAGE and "pip install 'gencoro[postgres]'" in ran.err
