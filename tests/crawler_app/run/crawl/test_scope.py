"""Scope: reach, patterns and depth, and which of them is named as the reason."""

import subprocess
import sys
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.errors import ConfigError
from crawler_app.base.reasons import Reason
from crawler_app.run.crawl.scope import REACHES, Scope, registrable_domain


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

    refusal = scope.check(url, depth=3)

    assert refusal == (None if is_in_scope else "out_of_scope")


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("docs/x", None),
        ("docs/private/x", "excluded_by_pattern"),
        ("docs/%70rivate/x", "excluded_by_pattern"),
        ("docs/a%2Epdf", "excluded_by_pattern"),
        ("d%6fcs/x", None),
        ("private/x", "excluded_by_pattern"),
        ("x.pdf", "excluded_by_pattern"),
        ("x.pdf?docs/", None),
        ("blog/x", "not_included"),
        ("Docs/x", "not_included"),
    ],
)
def test_url_matches_one_inclusion_and_no_exclusion(path, refusal):
    scope = Scope(
        ["http://a.test/"], include=["/docs/", r"\?docs"], exclude=["/private/", "f$"]
    )

    assert scope.check("http://a.test/" + path, depth=1) == refusal


def test_seed_is_in_scope_despite_the_patterns():
    scope = Scope(["http://a.test/start"], include=["/docs/"], exclude=["start"])

    assert scope.check("http://a.test/start", depth=0) is None
    assert scope.check("http://a.test/start2", depth=0) is not None


@pytest.mark.parametrize(
    ("max_depth", "path", "depth", "refusal"),
    [
        (2, "x", 0, None),
        (2, "x", 2, None),
        (2, "x", 3, Reason.TOO_DEEP),
        (0, "", 0, None),
        (0, "", 1, None),  # a seed
        (0, "x", 1, Reason.TOO_DEEP),
        (None, "x", 10**6, None),
        # What a shorter way cannot undo comes before the depth.
        (1, "private", 5, "excluded_by_pattern"),
        (1, "//b.test/", 5, "out_of_scope"),
    ],
)
def test_depth_limit(max_depth, path, depth, refusal):
    scope = Scope(["http://a.test/"], exclude=["private"], max_depth=max_depth)

    assert scope.check(urljoin("http://a.test/", path), depth) == refusal


@pytest.mark.parametrize(
    ("url", "is_in_scope"),
    [
        ("http://www.shop.co.uk/x", True),
        ("https://shop.co.uk/", True),
        ("http://files.shop.co.uk:8080/", True),
        ("http://shop.co.uk./", True),
        ("http://other.co.uk/", False),
        ("http://co.uk/", False),
        ("http://workshop.co.uk/", False),
        ("http://shop.co.uk.evil.test/", False),
        ("http://evil.test/shop.co.uk/", False),
        ("http://me.github.io/", True),
        ("http://docs.me.github.io/", True),
        ("http://you.github.io/", False),
        ("http://github.io/", False),
        ("http://127.0.0.1:9000/", True),
        ("http://1.127.0.0.1/", False),
        ("http://9.0.0.1/", False),
        ("http://[::1]/", True),
        ("http://[::2]/", False),
        ("http://localhost:1/", True),
        ("http://a.localhost/", False),
    ],
)
def test_domain_reaches_every_host_of_the_owner(url, is_in_scope):
    seeds = [
        "http://www.shop.co.uk/start",
        "http://me.github.io/",
        "http://127.0.0.1:8000/",
        "http://[::1]:8000/",
        "http://localhost/",
    ]

    assert (Scope(seeds, reach="domain").check(url, 1) is None) is is_in_scope


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.b.blogspot.com", "b.blogspot.com"),
        ("blogspot.com", "blogspot.com"),
        ("www.city.kobe.jp", "city.kobe.jp"),
        ("a.b.c.kobe.jp", "b.c.kobe.jp"),
        ("www.xn--85x722f.com.cn", "xn--85x722f.com.cn"),
        ("a.unknown", "a.unknown"),
        ("b.a.unknown:8000", "a.unknown"),
        ("localhost", "localhost"),
        ("0177.0.0.1", "0177.0.0.1"),
        ("5.0x1", "5.0x1"),
        ("[2001:db8::1]:8000", "[2001:db8::1]"),
        ("a..b", "a..b"),
        ("", ""),
    ],
)
def test_registrable_domain(host, domain):
    assert registrable_domain(host) == domain


@given(
    st.text(st.sampled_from("abct.-_0189x[]")), st.sampled_from(["", ":80", ":8000"])
)
def test_domain_of_a_domain_is_itself(name, port):
    host = name + port
    domain = registrable_domain(host)

    assert domain in host
    assert registrable_domain(domain) == domain


@pytest.mark.parametrize(
    ("seed", "url", "is_in_scope"),
    [
        ("docs/index.html", "docs/", True),
        ("docs/index.html", "docs/a/b", True),
        ("docs/index.html?up=/x/y", "docs/a", True),
        ("docs/index.html", "docs", False),
        ("docs/index.html", "docs2/", False),
        ("docs/index.html", "", False),
        ("docs/index.html", "x?/docs/", False),
        ("docs/", "docs/a", True),
        ("docs/", "blog/", False),
        ("docs", "blog/", True),
        ("?page=1", "blog/", True),
    ],
)
def test_prefix_reaches_the_directory_of_the_seed(seed, url, is_in_scope):
    scope = Scope(["http://a.test/" + seed], reach="prefix")

    assert (scope.check("http://a.test/" + url, 1) is None) is is_in_scope
    assert (scope.check("https://a.test/" + url, 1) is None) is is_in_scope
    assert scope.check("http://a.test:8000/" + url, 1) is not None
    assert scope.check("http://www.a.test/" + url, 1) is not None


def test_any_reaches_every_host_that_the_patterns_allow():
    scope = Scope(["http://a.test/"], exclude=["/ads/"], max_depth=2, reach="any")

    assert scope.check("https://b.test:8000/x", 2) is None
    assert scope.check("http://b.test/ads/x", 1) == "excluded_by_pattern"
    assert scope.check("http://b.test/x", 3) == Reason.TOO_DEEP


@pytest.mark.parametrize("reach", REACHES)
def test_seed_is_within_every_reach(reach):
    seeds = ["http://a.test/docs/x?y=/z", "http://github.io/", "http://[::1]:8000/"]
    scope = Scope(seeds, max_depth=0, reach=reach)

    assert not any(scope.check(seed, depth=0) for seed in seeds)


@pytest.mark.parametrize("reach", REACHES)
def test_without_seeds_nothing_is_in_scope_but_for_any(reach):
    refusal = Scope([], reach=reach).check("http://a.test/", 0)

    assert (refusal is None) is (reach == "any")


def test_unknown_reach_is_refused_with_a_list():
    with pytest.raises(ConfigError, match="'site'; it must be one of host, domain"):
        Scope(["http://a.test/"], reach="site")


def test_public_suffixes_are_loaded_for_domains_only():
    program = """
from crawler_app.run.crawl import scope
from crawler_app.run.crawl.scope import Scope
for reach in "host", "prefix", "any":
    Scope(["http://a.test/"], reach=reach).check("http://b.test/", 1)
assert scope._public_suffixes.cache_info().misses == 0
Scope(["http://a.test/"], reach="domain")
assert scope._public_suffixes.cache_info().misses == 1
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
