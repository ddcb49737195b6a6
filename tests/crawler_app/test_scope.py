"""Scope: hosts, patterns and depth, and which of them is named as the reason."""

import pytest

from crawler_app.models import TOO_DEEP
from crawler_app.scope import Scope


@pytest.mark.parametrize(
    ("url", "is_in_scope"),
    [
        ("http://a.test/x", True),
        ("https://a.test/x", True),
        ("http://b.test:8000/", True),
        ("http://b.test/", False),
        ("http://a.test:8000/", False),
        ("http://www.a.test/", False),
        ("http://a.test.evil.test/", False),
        ("http://evil.test/http://a.test/", False),
        ("http://evil.test/?http://a.test/", False),
    ],
)
def test_hosts_of_the_seeds_are_in_scope(url, is_in_scope):
    scope = Scope(["http://a.test/", "http://b.test:8000/start"])

    verdict = scope.check(url, depth=3)

    assert verdict.is_in_scope is is_in_scope
    assert verdict.refusal == ("" if is_in_scope else "out_of_scope")


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("docs/x", ""),
        ("docs/private/x", "excluded_by_pattern"),
        ("private/x", "excluded_by_pattern"),
        ("x.pdf", "excluded_by_pattern"),
        ("x.pdf?docs/", ""),
        ("blog/x", "not_included"),
        ("Docs/x", "not_included"),
    ],
)
def test_url_matches_one_inclusion_and_no_exclusion(path, refusal):
    scope = Scope(
        ["http://a.test/"], include=["/docs/", r"\?docs"], exclude=["/private/", "f$"]
    )

    assert scope.check("http://a.test/" + path, depth=1).refusal == refusal


def test_without_patterns_everything_on_the_host_is_in_scope():
    assert Scope(["http://a.test/"]).check("http://a.test/?", depth=10**6).is_in_scope


def test_seed_is_in_scope_whatever_the_patterns_say():
    scope = Scope(["http://a.test/start"], include=["/docs/"], exclude=["start"])

    assert scope.check("http://a.test/start", depth=0).is_in_scope
    assert not scope.check("http://a.test/start2", depth=0).is_in_scope


@pytest.mark.parametrize(("depth", "refusal"), [(0, ""), (2, ""), (3, TOO_DEEP)])
def test_depth_limit(depth, refusal):
    scope = Scope(["http://a.test/"], max_depth=2)

    assert scope.check("http://a.test/x", depth).refusal == refusal


def test_depth_limit_of_zero_is_the_seeds():
    scope = Scope(["http://a.test/"], max_depth=0)

    assert scope.check("http://a.test/", depth=0).is_in_scope
    assert scope.check("http://a.test/", depth=1).is_in_scope
    assert scope.check("http://a.test/x", depth=1).refusal == TOO_DEEP


def test_reason_that_a_shorter_way_cannot_undo_comes_before_the_depth():
    scope = Scope(["http://a.test/"], exclude=["private"], max_depth=1)

    assert scope.check("http://a.test/private", depth=5).refusal == (
        "excluded_by_pattern"
    )
    assert scope.check("http://b.test/", depth=5).refusal == "out_of_scope"
