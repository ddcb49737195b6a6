"""``gencrawl postgres``: a crawl in PostgreSQL."""

import sys
from importlib import import_module

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.commands.exit_status import FAILED, OK, USAGE
from crawler_app.store.frontier.postgres.crawls import begin
from tests.helpers.postgres import make_crawl, run_sql


def test_crawl_is_made_once_listed_and_deleted(gencrawl, postgres_url):
    def run(*words):
        ran = gencrawl(*words, postgres_url, *name)
        return ran.status, ran.out or ran.err

    name = ["--crawl", "docs"]
    assert run("postgres", "init") == (OK, "made the crawl docs at /postgres\n")
    assert run("postgres", "init") == (
        OK,
        "the crawl docs at /postgres exists already\n",
    )
    listed = gencrawl("postgres", "list", postgres_url).out.splitlines()
    assert [line for line in listed if line.startswith("docs ")] == [
        "docs  has not begun"
    ]
    assert run("postgres", "drop") == (OK, "deleted the crawl docs at /postgres\n")
    status, error = run("postgres", "drop")
    assert status == USAGE and "there is no crawl docs at /postgres" in error


def test_schema_that_is_no_crawl_is_not_listed(gencrawl, postgres_url):
    place = make_crawl(postgres_url)
    others = ["gencrawl_empty", 'gencrawl_o"dd', "gencrawl_other", "gencrawl_zero"]
    columns = ["version integer", "version integer", "name text", ""]
    making = [
        f"CREATE SCHEMA {name}; CREATE TABLE {name}.crawl ({column})"
        for name, column in zip(map(quoted, others), columns, strict=True)
    ]
    run_sql(postgres_url, *making)

    listed = gencrawl("postgres", "list", postgres_url)
    used = gencrawl("status", postgres_url, "--crawl", "other")

    run_sql(postgres_url, *(f"DROP SCHEMA {quoted(name)} CASCADE" for name in others))
    assert listed.status == OK, listed.err
    names = {line.split()[0] for line in listed.out.splitlines()}
    assert place.crawl in names and not names & {"empty", 'o"dd', "other", "zero"}
    assert used.status == USAGE and "there is no crawl other" in used.err


def quoted(name):
    return '"{}"'.format(name.replace('"', '""'))


def test_crawl_without_workers_has_nothing_to_search(gencrawl, postgres_url, run_sync):
    place = make_crawl(postgres_url)
    name = (postgres_url, "--crawl", place.crawl)
    not_begun = gencrawl("search", *name, "telescope")
    config = CrawlConfig(("http://a.test/",)).shared_json()
    run_sync(lambda: begin(place, config, gap_s=0.0))

    found = gencrawl("search", *name, "telescope")

    assert not_begun.status == USAGE and "has not begun" in not_begun.err
    assert found.status == FAILED and "no page found for: telescope" in found.out


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
        ["postgres", "init", url],
        ["postgres", "work", url, "--into", "kept"],
        ["crawl", "http://a.test/", "--into", "kept", "--frontier", url],
    ):
        ran = gencrawl(*words)

        assert ran.status == USAGE
        assert "PGPASSWORD" in ran.err and "hush" not in ran.err


def test_driver_that_is_missing_is_named(gencrawl, monkeypatch):
    unloaded = ("crawler_app.store.frontier.postgres", "crawler_app.run")
    loaded = [each for each in sys.modules.items() if each[0].startswith(unloaded)]
    for name, module in loaded:
        # An import that fails leaves another package in its parent, which is undone too.
        parent, _, child = name.rpartition(".")
        monkeypatch.setattr(import_module(parent), child, module)
    for name, _ in loaded:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)

    for words in (
        ["postgres", "init"],
        ["postgres", "work", "--into", "kept"],
        ["postgres", "list"],
    ):
        ran = gencrawl(*words, "postgresql://a.test/x")

        assert ran.status == USAGE and "pip install 'gencoro[processes]'" in ran.err
