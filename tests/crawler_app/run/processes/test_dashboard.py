"""One dashboard shows, searches and controls all processes."""

import functools
import json
import urllib.error
import urllib.request

import pytest

from tests.helpers.scripts import start_gencrawl, wait_until

TOKEN = "a-token-of-enough-characters"

# Each question takes both sides some time.
wait_until = functools.partial(wait_until, every_s=0.05)


def started(seeds, tmp_path, monkeypatch, *options):
    """Start a crawl by two processes; return its process, and how to ask its dashboard."""
    monkeypatch.setenv("GENCRAWL_DASHBOARD_TOKEN", TOKEN)
    running = start_gencrawl(
        *("crawl", *seeds, "--into", tmp_path / "crawl"),
        *("--processes", 2, "--dashboard", "--quiet", *options),
    )
    shown = running.stderr.readline()
    base = shown.rpartition(" ")[2].partition("/?")[0]

    def ask(path, data=None):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        request = urllib.request.Request(base + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    return running, ask


def test_dashboard_shows_searches_and_controls_all_processes(
    web, tmp_path, monkeypatch, gencrawl
):
    # More than one worker has and leases beforehand: the other gets some too.
    held = [f"/held/{number}" for number in range(30)]
    for site in web.sites:
        site.page("/", *held, title="Telescope")
        for path in held:
            site.page(path)
            site.hold(path)
    seeds = [site.url for site in web.sites]
    options = ("--concurrency", 2, "--no-robots")
    running, ask = started(seeds, tmp_path, monkeypatch, *options)

    def state():
        return json.loads(ask("/state"))

    def has_under_way(number):
        return len(state()["under_way"]) == number

    wait_until(lambda: has_under_way(2) and state()["hosts"] == 2)
    ask("/pace", b"concurrency=13&per-host=30")
    wait_until(lambda: has_under_way(13))
    wait_until(lambda: json.loads(ask("/search?q=telescope"))["total"] == 4)
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask("/pace", b"concurrency=1")
    assert b"it must be at least their number, 2" in refused.value.read()
    assert state()["pace"]["concurrency"] == 13

    ask("/pause", b"")
    assert state()["phase"] == "paused"
    for site in web.sites:
        for path in held:
            site.let_go(path)
    wait_until(lambda: state()["count_by_state"]["done"] == 4 + 13)
    left = state()["count_by_state"]["queued"]
    assert left == 4 * 30 - 13
    assert f'gencrawl_urls{{state="queued"}} {left}.0' in ask("/metrics")
    ask("/stop", b"")

    out, err = running.communicate()
    assert running.returncode == 130, err
    assert "still to be fetched" in out
    assert gencrawl.json("status", tmp_path / "crawl", "--json")["left"] >= left
