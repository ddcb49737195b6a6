"""The line that a check rewrites in place while it runs."""

import os
import sys
import threading

import pytest

from crawler_app.run.crawl import monitor


@pytest.fixture
def held_site(site, monkeypatch):
    """Return a site with a broken link, whose last page is held."""
    monkeypatch.setattr(monitor, "EVERY_S", 0.01)
    site.page("/", "gone", "held")
    site.page("/held")
    site.hold("/held")
    return site


def test_progress_of_a_check_is_a_line_that_is_gone_at_the_end(
    held_site, gencrawl, terminal, screen_of, monkeypatch
):
    monkeypatch.setattr(sys, "stderr", terminal.file)
    monkeypatch.setattr(sys, "stdout", terminal.file)

    def let_go():
        terminal.read_until("2 URLs checked, 1 to go, 1 finding")
        held_site.let_go("/held")

    letting_go = threading.Thread(target=let_go)
    letting_go.start()
    ended = gencrawl("check", held_site.url)
    letting_go.join()

    assert ended.status == 3
    url = held_site.url
    assert screen_of(terminal.read()).splitlines() == [
        f'{url}:1:40: "x" -> {url}gone  404 Not Found',
        "",
        "1 finding: 1 broken",
        "Checked: 2 references in 2 documents, to 3 URLs.",
    ]


@pytest.mark.parametrize("option", ["--quiet", "--verbose"])
def test_check_shows_no_progress(held_site, gencrawl, terminal, monkeypatch, option):
    monkeypatch.setattr(sys, "stderr", terminal.file)
    held_site.let_go("/held")

    ended = gencrawl("check", held_site.url, option)

    assert ended.status == 3
    assert "checked" not in terminal.read()


def test_log_of_a_check_has_few_lines_of_progress(held_site, gencrawl, monkeypatch):
    reading, writing = os.pipe()
    lines = []

    def read(reader):
        for line in reader:
            lines.append(line)
            held_site.let_go("/held")

    with open(reading) as reader, open(writing, "w") as writer:
        thread = threading.Thread(target=read, args=[reader])
        thread.start()
        monkeypatch.setattr(sys, "stderr", writer)
        gencrawl("check", held_site.url)
        writer.close()
        thread.join()

    assert 1 <= len(lines) <= 2
    assert " checked, " in lines[0]
