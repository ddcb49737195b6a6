"""The comparison that a frontier keeps agrees with one that reads all URLs of both crawls."""

import contextlib
import random

import pytest

from crawler_app.base.models import Candidate, Outcome, State
from crawler_app.base.reasons import CONTENT, RETRYABLE, Reason
from crawler_app.base.urls import dedup_key
from crawler_app.run.crawler import _forget_vanished
from crawler_app.run.directory.stores import Stores
from crawler_app.run.results.comparison import compare
from crawler_app.run.results.summary import is_page
from crawler_app.store.frontier.sqlite import SqliteFrontier

# Two spellings of some URLs.
URLS = [f"http://a.test/x/{n}" for n in range(30)] + [
    f"http://a.test/x//{n}" for n in range(10)
]
FAILURES = ("timeout", "http_404", "http_503")


class Words(set):
    """The URLs whose words an index has."""

    def remove(self, url):
        self.discard(url)

    def flush(self):
        pass


def outcome(chosen):
    kind = chosen.choices(
        ["page", "file", "failure", "moved", "skipped"], [9, 2, 1, 1, 1]
    )
    digest = str(chosen.randrange(3))
    match kind[0]:
        case "page":
            return Outcome(State.DONE, Reason.OK, 200, "text/html", digest=digest)
        case "file":
            return Outcome(
                State.DONE, Reason.UNCHANGED, 200, "image/png", digest=digest
            )
        case "failure":
            return Outcome(State.FAILED, chosen.choice(FAILURES))
        case "moved":
            return Outcome(State.DONE, Reason.REDIRECT, 301, redirect_to=URLS[0])
    return Outcome(State.EXCLUDED, chosen.choice([Reason.ROBOTS, Reason.SHOULD_FETCH]))


def candidates(chosen):
    refusals = [None] * 8 + [Reason.OUT_OF_SCOPE, Reason.NOFOLLOW]
    return [
        Candidate(url, "a.test", refusal=chosen.choice(refusals))
        for url in chosen.sample(URLS, 4)
    ]


def crawl(frontier, words, chosen):
    """Make random steps, and end most URLs; note the words of pages."""
    for now in range(chosen.randrange(30, 90)):
        frontier.add(candidates(chosen))
        claim = frontier.claim(now, 1000.0)
        if claim is not None:
            ended = outcome(chosen)
            if is_page(ended):
                words.add(claim.url)
            found = candidates(chosen) if is_page(ended) else ()
            frontier.finish(claim, ended, now, found)
        if chosen.random() < 0.1:
            frontier.requeue_failed(FAILURES)
        if chosen.random() < 0.1:
            frontier.requeue_urls(chosen.sample(URLS, 3))
    while chosen.random() < 0.98 and (claim := frontier.claim(99, 1000.0)) is not None:
        ended = outcome(chosen)
        frontier.finish(claim, ended, 99)
        if is_page(ended):
            words.add(claim.url)


def content(records):
    return {
        dedup_key(each.url): each
        for each in records
        if each.outcome is not None and each.outcome.reason in CONTENT
    }


def expected(before, frontier):
    """Return a comparison as JSON, by all records of both crawls."""
    known = content(before)
    ended = [each for each in frontier.records() if each.outcome is not None]
    old = {
        each.url: known[key] for each in ended if (key := dedup_key(each.url)) in known
    }
    pages = [each for each in ended if each.outcome.reason in CONTENT]
    lost = [each for each in ended if each.url in old and each not in pages]
    unreachable = [e.url for e in lost if e.outcome.reason in RETRYABLE]
    vanished = [
        {"url": each.url, "reason": each.outcome.reason}
        for each in lost
        if each.outcome.reason not in RETRYABLE
    ]
    is_forbidden = any(each["reason"] == Reason.ROBOTS for each in vanished)
    if frontier.is_drained() and not is_forbidden and not unreachable:
        met = {dedup_key(url) for url in frontier.urls()}
        vanished += [
            {"url": each.url, "reason": Reason.NO_LONGER_LINKED}
            for key, each in known.items()
            if key not in met
        ]
    both = [(e, old[e.url].outcome.digest) for e in pages if e.url in old]
    return {
        "new": [each.url for each in pages if each.url not in old],
        "changed": [each.url for each, was in both if was != each.outcome.digest],
        "unchanged": sum(was == each.outcome.digest for each, was in both),
        "vanished": vanished,
        "unreachable": unreachable,
        **expected_broken(before, frontier),
    }


def is_loop(record):
    """Return whether a URL redirects to itself, as all redirects lead to one URL."""
    is_moved = record.outcome is not None and record.outcome.reason == Reason.REDIRECT
    return is_moved and dedup_key(record.url) == dedup_key(URLS[0])


def broken(records):
    return {
        dedup_key(each.url): each.url
        for each in records
        if each.state is State.FAILED or is_loop(each)
    }


def expected_broken(before, frontier):
    was, now = broken(before), broken(frontier.records())
    is_whole = compare(frontier).is_whole
    state_by_key = {dedup_key(each.url): each.state for each in frontier.records()}
    fixed = [
        url
        for key, url in was.items()
        if key not in now
        and state_by_key.get(key, State.DONE if is_whole else None) is State.DONE
    ]
    return {
        "newly_broken": sorted(url for key, url in now.items() if key not in was),
        "still_broken": sorted(url for key, url in now.items() if key in was),
        "fixed": sorted(fixed),
    }


@pytest.mark.parametrize("seed", range(15))
def test_kept_comparison_is_that_of_all_records(tmp_path, seed):
    chosen = random.Random(seed)
    path = tmp_path / "frontier.sqlite3"
    words = Words()
    before = None
    for _ in range(5):
        with contextlib.closing(SqliteFrontier(path)) as frontier:
            crawl(frontier, words, chosen)
        with contextlib.closing(SqliteFrontier(path)) as frontier:
            found = compare(frontier)
            records = list(frontier.records())
            if before is None:
                assert found is None
            else:
                kept = found.to_json()
                for name in ("newly_broken", "still_broken", "fixed"):
                    kept[name].sort()
                assert kept == expected(before, frontier)
                check_words(frontier, words, found)
            is_compared = frontier.is_drained() or before is None
            loops = [each.url for each in records if is_loop(each)]
            frontier.begin_anew(is_compared=is_compared, loops=loops)
            before = records if is_compared else before


def check_words(frontier, words, comparison):
    _forget_vanished(Stores(frontier, None, words), comparison)
    pages, passing = set(), set()
    for each in frontier.records():
        if each.outcome is not None and is_page(each.outcome):
            pages.add(each.url)
        elif each.outcome is not None and each.outcome.reason in RETRYABLE:
            passing.add(each.url)
    assert words >= pages
    if comparison.is_whole:
        assert words <= pages | passing
