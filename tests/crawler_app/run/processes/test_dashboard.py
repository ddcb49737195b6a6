"""One dashboard shows, searches and controls all processes."""

import json
import subprocess
import urllib.error
import urllib.request

import pytest

from tests.crawler_app.run.processes.conftest import wait_until
from tests.helpers.scripts import start_python

TOKEN = "a-token-of-enough-characters"


def started(seeds, tmp_path, monkeypatch, *options):
    """Start a crawl by two processes; return its process, and how to ask its dashboard."""
    monkeypatch.setenv("GENCRAWL_DASHBOARD_TOKEN", TOKEN)
    running = start_python(
        *("-m", "crawler_app", "crawl", *seeds, "--into", tmp_path / "crawl"),
        *("--processes", 2, "--dashboard", "--quiet", *options),
        stderr=subprocess.PIPE,
    )
    shown = running.stderr.readline()
    base = shown.rpartition(" ")[2].partition("/?")[0]

    def ask(path, data=None):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        request = urllib.request.Request(base + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    return running, ask


def test_pace_reaches_all_processes(web, tmp_path, monkeypatch):
    for site in web.sites:
        site.page("/", *(f"/held/{number}" for number in range(9)))
        for number in range(9):
            site.page(f"/held/{number}")
            site.hold(f"/held/{number}")
    seeds = [web.url(number, "") for number in range(4)]
    options = ("--concurrency", 2, "--no-robots")
    running, ask = started(seeds, tmp_path, monkeypatch, *options)

    def held():
        paths = [path for site in web.sites for path in site.paths]
        return sum("held" in path for path in paths)

    wait_until(lambda: held() == 2)
    ask("/pace", b"concurrency=13&per-host=5")
    wait_until(lambda: held() == 13)
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask("/pace", b"concurrency=1")
    assert b"it must be at least their number, 2" in refused.value.read()
    state = json.loads(ask("/state"))
    assert state["pace"]["concurrency"] == 13
    wait_until(lambda: len(json.loads(ask("/state"))["under_way"]) == 13)

    ask("/stop", b"")
    for site in web.sites:
        for number in range(9):
            site.let_go(f"/held/{number}")
    _, err = running.communicate()
    assert running.returncode == 130, err


def test_dashboard_shows_searches_and_controls_all_processes(
    web, tmp_path, monkeypatch, gencrawl
):
    for number in (2, 3):
        web.sites[number].page(f"/{number}", title="Telescope")
    web.tree(40)
    for number in range(2):
        web.sites[number].hold(f"/{number + 4}")
    seeds = [web.url(number, str(number)) for number in range(4)]
    running, ask = started(seeds, tmp_path, monkeypatch)

    def has_both_under_way():
        state = json.loads(ask("/state"))
        return state["count_by_state"]["under_way"] == 2 and state["fetched"] > 5

    def finds_pages():
        return json.loads(ask("/search?q=telescope"))["total"] == 2

    wait_until(has_both_under_way)
    assert json.loads(ask("/state"))["hosts"] == 2
    wait_until(finds_pages)
    assert 'gencrawl_urls{state="under_way"} 2.0' in ask("/metrics")
    ask("/pause", b"")
    assert json.loads(ask("/state"))["phase"] == "paused"
    for number in range(2):
        web.sites[number].let_go(f"/{number + 4}")
    wait_until(lambda: json.loads(ask("/state"))["count_by_state"]["under_way"] == 0)
    left = json.loads(ask("/state"))["count_by_state"]["queued"]
    assert left > 0
    ask("/stop", b"")

    out, err = running.communicate()
    assert running.returncode == 130, err
    assert "still to be fetched" in out
    assert gencrawl.json("status", tmp_path / "crawl", "--json")["left"] >= left
