"""Two crawls of one site: new, changed, unchanged and vanished pages."""

import pytest

from crawler_app.base.models import Candidate, Outcome, State
from crawler_app.base.reasons import Reason
from crawler_app.run.results.comparison import compare
from crawler_app.store.frontier.sqlite import SqliteFrontier


def page(digest, reason="ok"):
    return Outcome(State.DONE, reason, 200, digest=digest)


def failure(reason):
    return Outcome(State.FAILED, reason)


def crawl(frontier, outcome_by_path):
    """End each URL with its outcome; None leaves it queued."""
    frontier.add(Candidate(url(path), "a.test") for path in outcome_by_path)
    claims = []
    while (claim := frontier.claim(0.0, 60.0)) is not None:
        claims.append(claim)
    for claim in claims:
        outcome = outcome_by_path[claim.url.removeprefix(url(""))]
        if outcome is None:
            frontier.release(claim)
        else:
            frontier.finish(claim, outcome, 1.0)


def url(path):
    return f"http://a.test/{path}"


def vanished(path, reason):
    return {"vanished": [{"url": url(path), "reason": reason}]}


ONE, TWO = page("1"), page("2")
MOVED = Outcome(State.DONE, "redirect", 301, redirect_to=url("x"))
ROBOTS = Outcome(State.EXCLUDED, "robots")
NOTHING = {"new": [], "changed": [], "unchanged": 0, "vanished": [], "unreachable": []}


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ({}, {"a": ONE, "b": TWO}, {"new": [url("a"), url("b")]}),
        ({"a": failure("http_500")}, {"a": ONE}, {"new": [url("a")]}),
        ({"a": ONE}, {"a": TWO}, {"changed": [url("a")]}),
        ({"a": ONE}, {"a": page("1", "unchanged")}, {"unchanged": 1}),
        ({"x//y": ONE}, {"x/y": ONE}, {"unchanged": 1}),
        ({"a": ONE}, {"a": failure("http_404")}, vanished("a", "http_404")),
        ({"a": ONE}, {"a": MOVED}, vanished("a", "redirect")),
        ({"a": ONE}, {"a": ROBOTS}, vanished("a", "robots")),
        ({"a": ONE}, {"a": failure("timeout")}, {"unreachable": [url("a")]}),
        ({"a": ONE}, {"a": failure("http_503")}, {"unreachable": [url("a")]}),
        ({"a": ONE}, {"a": failure("dns")}, {"unreachable": [url("a")]}),
        (
            {"a": ONE, "b": TWO},  # whose links were on a, perhaps
            {"a": failure("robots_unreachable")},
            {"unreachable": [url("a")]},
        ),
        (
            {"a": ONE, "b": TWO},
            {"a": ONE},
            vanished("b", Reason.NO_LONGER_LINKED) | {"unchanged": 1},
        ),
        ({"a": ONE, "b": TWO}, {"a": ONE, "c": None}, {"unchanged": 1}),
        ({"a": ONE}, {"a": None}, {}),
        ({"a": failure("http_404")}, {"a": failure("http_404")}, {}),
    ],
)
def test_each_url_is_listed_by_its_difference(before, now, found):
    frontier = SqliteFrontier(":memory:")
    crawl(frontier, before)
    assert compare(frontier) is None
    frontier.begin_anew(is_compared=True)
    crawl(frontier, now)

    compared = compare(frontier).to_json()
    assert {key: compared[key] for key in NOTHING} == NOTHING | found
    frontier.close()


LOOP = {
    path: Outcome(State.DONE, "redirect", 301, redirect_to=url(target))
    for path, target in (("a", "b"), ("b", "a"))
}


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ({"a": ONE}, {"a": failure("http_404")}, [["a"], [], []]),
        ({}, {"a": failure("dns")}, [["a"], [], []]),
        ({"a": failure("http_404")}, {"a": failure("http_410")}, [[], ["a"], []]),
        ({"x//y": failure("dns")}, {"x/y": failure("dns")}, [[], ["x/y"], []]),
        ({"a": failure("http_404")}, {"a": ONE}, [[], [], ["a"]]),
        ({"a": failure("http_404")}, {"a": MOVED}, [[], [], ["a"]]),
        # No page links to it, if every page was read.
        ({"a": failure("http_404")}, {"b": ONE}, [[], [], ["a"]]),
        ({"a": failure("http_404")}, {"b": None}, [[], [], []]),
        ({"a": failure("http_404")}, {"a": None}, [[], [], []]),
        ({"a": failure("http_404")}, {"a": ROBOTS}, [[], [], []]),
        ({"a": failure("too_large")}, {"a": ONE}, [[], [], []]),
        (LOOP, LOOP, [[], ["a"], []]),
        ({"a": ONE}, LOOP, [["a"], [], []]),
        (LOOP, {"a": ONE, "b": ONE}, [[], [], ["a", "b"]]),
    ],
)
def test_what_is_broken_is_compared(before, now, found):
    frontier = SqliteFrontier(":memory:")
    crawl(frontier, before)
    loops = list(before) if before is LOOP else ()
    frontier.begin_anew(is_compared=True, loops=map(url, loops))
    crawl(frontier, now)

    compared = compare(frontier).to_json()

    keys = ("newly_broken", "still_broken", "fixed")
    assert [compared[key] for key in keys] == [
        [url(path) for path in paths] for paths in found
    ]
    frontier.close()
