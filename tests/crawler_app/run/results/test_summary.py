"""The summary: numbers, short lists, and how they read on a terminal."""

import dataclasses
import json
import re

import pytest

from crawler_app.base.models import Candidate, Outcome, State
from crawler_app.commands.summary_text import LISTED, render_summary
from crawler_app.run.directory import CrawlSizes
from crawler_app.run.results.comparison import Comparison
from crawler_app.run.results.summary import final_records, summarize
from crawler_app.store.archive.totals import ArchiveSummary
from crawler_app.store.frontier.sqlite import SqliteFrontier


def url(path):
    return f"http://a.test/{path}"


def page(size_bytes=100, took_s=0.1):
    return Outcome(
        State.DONE, "ok", 200, "text/html; charset=utf-8", size_bytes, took_s, "Title"
    )


def redirect(to):
    return Outcome(State.DONE, "redirect", 301, redirect_to=url(to), took_s=0.01)


def failure(reason="http_404", status=404):
    return Outcome(State.FAILED, reason, status, "text/html", error="it says no")


@pytest.fixture
def frontier():
    """A small frontier that is filled by hand."""
    return SqliteFrontier()


def end(frontier, outcome_by_path, via=None):
    """Put URLs into the frontier and end each, in order."""
    found = [Candidate(url(path), "a.test") for path in outcome_by_path]
    frontier.add(found, via)
    claims = {}
    for path, outcome in outcome_by_path.items():
        claims[path] = frontier.claim(0.0, 60.0)
        assert claims[path].url == url(path)
        frontier.finish(claims[path], outcome, 5.0)
    return claims


def test_empty_frontier_has_a_summary(frontier):
    summary = summarize(frontier)

    assert summary.left == 0
    assert (
        " ".join(render_summary(summary).split())
        == "done 0 0 pages, 0 files, 0 redirects, 0 B"
    )


def test_numbers_of_a_crawl(frontier):
    file = Outcome(State.DONE, "ok", 200, "image/png", 2_000_000, 0.2)
    ends = {"x": page(500), "y": page(1_500), "f": file, "r": redirect("x")}
    ends |= {"no": failure(), "away": failure("dns", None)}
    end(frontier, ends | {"huge": failure("too_large", None)})
    frontier.add(
        [
            Candidate(url("left"), "a.test"),
            Candidate(url("under way"), "a.test"),
            Candidate("http://b.test/", "b.test", refusal="out_of_scope"),
            Candidate("http://c.test/", "c.test", refusal="out_of_scope"),
            Candidate(url("deep"), "a.test", refusal="too_deep"),
        ]
    )

    frontier.claim(5.0, 60.0)

    summary = summarize(frontier)

    assert (summary.urls, summary.pages, summary.files) == (12, 2, 1)
    assert (summary.done, summary.skipped, summary.left) == (4, 3, 2)
    assert (summary.failed, summary.broken, summary.not_checked) == (3, 2, 1)
    assert summary.size_bytes == 2_002_000
    assert summary.count_by_status == {200: 3, 301: 1, 404: 1}
    assert summary.unanswered == 2
    assert summary.pages_by_depth == {0: 2}
    short = summarize(frontier, has_hosts=False, max_failures=1)
    assert (short.failures, short.hosts) == (summary.failures[:1], [])
    assert short.failed == 3
    (host,) = summary.hosts
    assert (host.name, host.urls, host.pages, host.broken) == ("a.test", 9, 2, 2)
    assert host.mean_s == pytest.approx(0.41 / 4)
    text = re.sub("\n {25}", " ", render_summary(summary))
    assert "4   2 pages, 1 file, 1 redirect, 2.0 MB" in text
    assert "2 broken, 1 not checked (http_404: 1, dns: 1, too_large: 1)" in text
    assert "skipped              3   out_of_scope: 2, too_deep: 1" in text
    assert "200: 3, 301: 1, 404: 1" in text
    assert "2   URLs still to be fetched" in text


def test_no_line_ends_between_a_name_and_its_count(frontier):
    ends = {f"{n}": failure(status=401) for n in range(10)}
    end(frontier, ends | {f"{n}": failure(status=n) for n in range(402, 411)})

    counts = render_summary(summarize(frontier)).partition("\nstatuses ")[2]

    assert "401: 10, 402: 1, 403: 1, 404: 1, 405: 1, 406: 1,\n" in counts


def test_loop_is_shown_once_in_order(frontier):
    end(frontier, {"x": redirect("c"), "c": redirect("b"), "b": redirect("c")})

    text = render_summary(summarize(frontier))

    assert text.count("redirect loops\n") == 1
    assert "\n      -> ".join(map(url, "cbc")) in text
    assert "loops: 1" in text


def test_redirects_that_meet_are_counted(frontier):
    meeting = {"a": "x", "b": "x", "c": "x", "d": "y", "e": "y", "f": "z"}
    end(frontier, {path: redirect(to) for path, to in meeting.items()})

    text = render_summary(summarize(frontier))

    assert "redirects            6   to the same URL as another: 5, loops: 0" in text


def test_failure_is_shown_with_the_linking_page(frontier):
    claims = end(frontier, {"start": page()})
    end(frontier, {"gone": failure()}, via=claims["start"])
    end(frontier, {"seed": failure("timeout", None)})

    summary = summarize(frontier)

    lines = [line.split() for line in render_summary(summary).splitlines()]
    at = lines.index(["http_404", url("gone")])
    assert lines[at + 1] == ["first", "found", "on", url("start")]
    assert lines[at + 2] == ["timeout", url("seed")]
    assert summary.to_json()["failures"] == [
        {"url": url("gone"), "via": url("start"), "reason": "http_404"},
        {"url": url("seed"), "via": "", "reason": "timeout"},
    ]


def test_long_list_of_failures_is_cut_and_says_so(frontier):
    end(frontier, {str(n): failure() for n in range(LISTED + 5)})

    text = render_summary(summarize(frontier, max_failures=LISTED))

    assert text.count("http_404  ") == LISTED
    assert "    and 5 more; `gencrawl export` lists all\n\ndone " in text


def test_counts_come_last_and_only_urls_exceed_80_columns(frontier):
    reasons = ["http_404", "dns", "timeout", "refused", "network", "too_large", "tls"]
    failures = {f"{n}": failure(reason, None) for n, reason in enumerate(reasons)}
    pages = {f"new/{n}": page() for n in range(30)}
    end(frontier, failures | pages | {"loop": redirect("loop"), "x" * 90: failure()})
    new = [url(path) for path in pages]
    comparison = Comparison(new=new, unreachable=new, was_whole=False)
    kept = CrawlSizes(ArchiveSummary(10**8, 10**8, 10**3, 10**12), 10**8)

    text = render_summary(summarize(frontier), kept, comparison, "finished")

    lists, _, counts = text.rpartition("\n\n")
    assert counts.startswith("finished\ndone ")
    assert "\ncompared " in counts
    assert "http" not in counts.replace("http_", "")
    assert "    and 20 more; `gencrawl status --json` lists all" in lists
    wide = [line for line in text.splitlines() if len(line) > 80]
    assert len(wide) == 1
    assert url("x" * 90) in wide[0]


def test_slowest_urls_come_first(frontier):
    times = {"a": 0.5, "b": 3.0, "c": 0.1, "d": 2.0, "e": 1.0}
    end(frontier, {path: page(took_s=took_s) for path, took_s in times.items()})

    summary = summarize(frontier)

    assert [ranked.url for ranked in summary.slowest] == list(map(url, "bdeac"))


def test_numbers_are_plain_values_for_json(frontier):
    end(frontier, {"a": redirect("b"), "b": redirect("a"), "c": page(), "d": failure()})

    values = json.loads(json.dumps(summarize(frontier).to_json()))

    assert values["states"]["done"] == 3
    assert values["statuses"] == {"200": 1, "301": 2, "404": 1}
    assert values["redirect_loops"] == [[url("a"), url("b")]]
    assert (values["pages"], values["redirects"], values["left"]) == (1, 2, 0)


@pytest.mark.parametrize(
    ("start", "reached"),
    [
        ("a", "c"),
        ("c", "c"),
        ("f", "f"),
        ("out", None),
        ("in", "y"),
        ("to_f", "f"),
        ("to_a", "c"),
    ],
)
def test_final_record_is_where_the_redirects_lead(frontier, start, reached):
    ends = {"a": redirect("b"), "b": redirect("c"), "c": page(), "f": failure()}
    loop = {"in": redirect("y"), "x": redirect("y"), "y": redirect("x")}
    for to in "fa":
        ends[f"to_{to}"] = dataclasses.replace(page(), redirect_to=url(to))
    end(frontier, ends | loop | {"out": redirect("elsewhere")})

    (record,) = final_records([url(start)], frontier, summarize(frontier))

    assert (record and record.url) == (reached and url(reached))


def test_text_of_the_summary_holds_no_control_character(frontier):
    frontier.add([Candidate("http://a.test/\x1b[2J", "a.test")])
    claimed = frontier.claim(0.0, 60.0)
    frontier.finish(claimed, failure(), 1.0)
    frontier.add([Candidate("http://a.test/\x1b]x", "a.test")], via=claimed)
    frontier.finish(frontier.claim(0.0, 60.0), failure(), 1.0)

    text = render_summary(summarize(frontier))

    assert "".join(text.split("\n")).isprintable()
