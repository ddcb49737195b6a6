"""``gencrawl frontier``: a crawl in PostgreSQL."""

import sys

import pytest

from crawler_app.commands.exit_status import OK, USAGE


def test_crawl_is_made_once_and_deleted(gencrawl, postgres_url):
    def run(action):
        ran = gencrawl("frontier", action, postgres_url, "--crawl", "docs")
        return ran.status, ran.out or ran.err

    assert run("init") == (OK, "made the crawl docs at /postgres\n")
    assert run("init") == (OK, "the crawl docs at /postgres is there already\n")
    assert run("drop") == (OK, "deleted the crawl docs at /postgres\n")
    status, error = run("drop")
    assert status == USAGE and "there is no crawl docs at /postgres" in error


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hush@127.0.0.1:1/x",
        "postgresql://127.0.0.1:1/x?password=hush",
        "postgresql://me:hush@[::1/x",
    ],
)
def test_password_among_the_arguments_is_refused_and_not_shown(gencrawl, url):
    ran = gencrawl("frontier", "init", url)

    assert ran.status == USAGE
    assert "PGPASSWORD" in ran.err and "hush" not in ran.err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--host-gap", "-1"),
        ("--host-gap", "inf"),
        ("--max-bytes", "0"),
        ("--max-bytes", "x"),
    ],
)
def test_value_that_is_no_duration_or_size_is_refused(gencrawl, option, value):
    ran = gencrawl("frontier", "init", "postgresql://a.test/x", f"{option}={value}")

    assert ran.status == USAGE and f"is '{value}'; it must be a" in ran.err


def test_driver_that_is_missing_is_named(gencrawl, monkeypatch):
    monkeypatch.setitem(sys.modules, "crawler_app.frontier.postgres.install", None)

    ran = gencrawl("frontier", "init", "postgresql://a.test/x")

    assert ran.status == USAGE and "pip install 'gencoro[postgres]'" in ran.err
