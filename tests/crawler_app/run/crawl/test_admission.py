"""Admission: scope, traps and nofollow, each refusal with its reason."""

from collections import Counter

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Candidate, Role
from crawler_app.run.crawl.admission import Admission
from crawler_app.store.frontier.sqlite import SqliteFrontier

SEED = "http://a.test/docs/"


class Door:
    def __init__(self, **options):
        self.stats = Counter()
        self.frontier = SqliteFrontier()
        config = CrawlConfig((SEED,), **options)
        self.admission = Admission(config, self.frontier, self.stats)

    def refusal(self, reference, **options):
        return self.admission.admit(reference, SEED, **options).refusal


def test_link_becomes_a_candidate_with_host_depth_and_redirects():
    candidate = Door(max_redirects=7).admission.admit("b#top", SEED, depth=3)

    assert candidate == Candidate("http://a.test/docs/b", "a.test", 3, 7)


def test_known_url_is_not_admitted_again():
    door = Door()
    door.frontier.add([door.admission.admit("b", SEED)])

    assert door.admission.admit("b#x", SEED) is None


def test_reference_that_is_not_a_url_is_counted_and_dropped():
    door = Door()

    assert door.admission.admit("mailto:me@a.test", SEED) is None

    assert door.stats["invalid/unsupported_scheme"] == 1


@pytest.mark.parametrize(
    ("reference", "options", "refusal"),
    [
        ("http://b.test/", {}, "out_of_scope"),
        ("/blog/", {"scope": "prefix"}, "out_of_scope"),
        ("x/" * 5, {}, "path_repeats"),
        ("x/" * 3, {"max_segment_repeats": 2}, "path_repeats"),
        ("/".join(map(str, range(60))), {}, "path_too_deep"),
        ("a" * 2001, {}, "url_too_long"),
        ("a" * 101, {"max_url_chars": 100}, "url_too_long"),
        ("b", {"exclude": ("/b",)}, "excluded_by_pattern"),
    ],
)
def test_refusal_is_counted_by_its_reason(reference, options, refusal):
    door = Door(**options)

    assert door.refusal(reference) == refusal

    assert door.stats[f"skipped/{refusal}"] == 1


def test_any_number_of_queries_may_be_admitted():
    door = Door(max_queries_per_path=None)

    assert {door.refusal(f"?page={n}") for n in range(2000)} == {None}


@pytest.mark.parametrize(
    ("earlier", "now"), [(None, "too_many_queries"), ("out_of_scope", None)]
)
def test_queries_of_an_earlier_run_count_unless_they_were_refused(earlier, now):
    door = Door(max_queries_per_path=2)
    door.frontier.add(
        Candidate(f"{SEED}calendar?month={n}", "a.test", refusal=earlier)
        for n in (7, 8)
    )

    door.admission.remember()

    assert door.refusal("calendar?month=9") == now


def test_link_that_is_not_followed_takes_no_query_of_its_path():
    door = Door(max_queries_per_path=1)
    for n in range(5):
        door.refusal(f"calendar?month={n}", nofollow=True)

    assert door.refusal("calendar?month=9") is None


def test_nofollow_is_a_refusal_like_others():
    door = Door()

    assert door.refusal("b", nofollow=True) == "nofollow"
    assert door.refusal("http://b.test/", nofollow=True) == "out_of_scope"
    assert door.stats["skipped/nofollow"] == 1


@pytest.mark.parametrize(
    ("reference", "options", "refusal"),
    [
        # On the host of the seed it may be anywhere.
        ("/sitemap.xml", {"scope": "prefix", "include": ("/docs/",)}, None),
        ("/sitemap.xml", {"exclude": ("sitemap",)}, "excluded_by_pattern"),
        ("http://b.test/sitemap.xml", {}, "out_of_scope"),
    ],
)
def test_sitemap_is_read_unless_it_is_excluded_or_elsewhere(
    reference, options, refusal
):
    candidate = Door(**options).admission.admit(reference, SEED, role=Role.SITEMAP)

    assert candidate.role is Role.SITEMAP
    assert candidate.refusal == refusal


def test_seed_is_exempt_from_trap_limits():
    seed = "http://a.test/" + "x/" * 9
    config = CrawlConfig((seed,))
    admission = Admission(config, SqliteFrontier(), Counter())

    assert admission.admit(seed).refusal is None
