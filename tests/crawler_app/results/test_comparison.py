"""Two crawls of one site: what is new, has changed, is as it was, has vanished."""

import pytest

from crawler_app.frontier.memory import MemoryFrontier
from crawler_app.models import Candidate, Outcome, State
from crawler_app.reasons import Reason
from crawler_app.results.comparison import Vanished, compare


def page(digest, reason="ok"):
    return Outcome(State.DONE, reason, 200, digest=digest)


def failure(reason):
    return Outcome(State.FAILED, reason)


def crawled(**outcome_by_path):
    """Return a frontier in which these URLs have ended so; None is still to fetch."""
    frontier = MemoryFrontier()
    frontier.add(Candidate(url(path), "a.test") for path in outcome_by_path)
    claims = []
    while (claim := frontier.claim(0.0, 60.0)) is not None:
        claims.append(claim)
    for claim in claims:
        outcome = outcome_by_path[claim.url.rpartition("/")[2]]
        if outcome is None:
            frontier.release(claim)
        else:
            frontier.finish(claim, outcome, 1.0)
    return frontier


def url(path):
    return f"http://a.test/{path}"


def test_first_crawl_beside_nothing_is_all_new():
    found = compare(crawled(), crawled(a=page("1"), b=page("2")))

    assert found.new == [url("a"), url("b")]
    assert (found.changed, found.unchanged, found.vanished) == ([], 0, [])


def test_content_tells_what_has_changed():
    before = crawled(a=page("1"), b=page("2"), c=page("3"))

    found = compare(before, crawled(a=page("1"), b=page("9"), c=page("3", "unchanged")))

    assert found.changed == [url("b")]
    assert found.unchanged == 2
    assert found.new == found.vanished == []


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (failure("http_404"), "http_404"),
        (Outcome(State.DONE, "redirect", 301, redirect_to=url("x")), "redirect"),
        (Outcome(State.EXCLUDED, "robots"), "robots"),
    ],
)
def test_page_that_is_none_any_more_has_vanished(outcome, reason):
    found = compare(crawled(a=page("1")), crawled(a=outcome))

    assert found.vanished == [Vanished(url("a"), reason)]
    assert found.unchanged == 0


@pytest.mark.parametrize("reason", ["timeout", "http_503", "dns", "robots_unreachable"])
def test_page_that_cannot_be_reached_just_now_has_not_vanished(reason):
    found = compare(crawled(a=page("1")), crawled(a=failure(reason)))

    assert found.unreachable == [url("a")]
    assert found.vanished == []


def test_page_that_nothing_leads_to_has_vanished():
    found = compare(crawled(a=page("1"), b=page("2")), crawled(a=page("1")))

    assert found.vanished == [Vanished(url("b"), Reason.NO_LONGER_LINKED)]


def test_crawl_that_goes_on_may_still_find_what_it_has_not_met():
    found = compare(crawled(a=page("1"), b=page("2")), crawled(a=page("1"), c=None))

    assert found.vanished == []


def test_page_that_is_still_to_fetch_has_not_vanished():
    found = compare(crawled(a=page("1")), crawled(a=None))

    assert (found.new, found.unchanged, found.vanished) == ([], 0, [])


def test_what_was_no_page_before_is_new():
    found = compare(crawled(a=failure("http_500")), crawled(a=page("1")))

    assert found.new == [url("a")]


def test_failure_that_lasts_is_no_news():
    found = compare(crawled(a=failure("http_404")), crawled(a=failure("http_404")))

    assert found.to_json() == {
        "new": [],
        "changed": [],
        "unchanged": 0,
        "vanished": [],
        "unreachable": [],
    }


def test_other_spelling_is_the_same_page():
    before, now = MemoryFrontier(), MemoryFrontier()
    for frontier, path in ((before, "x//y"), (now, "x/y")):
        frontier.add([Candidate(url(path), "a.test")])
        frontier.finish(frontier.claim(0.0, 60.0), page("1"), 1.0)

    assert compare(before, now).unchanged == 1
