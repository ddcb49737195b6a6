"""Chains and loops of redirects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.urls import dedup_key
from crawler_app.run.results.redirects import Redirects


def url(name):
    return f"http://a.test/{name}"


@pytest.mark.parametrize(
    ("pairs", "chains"),
    [
        (["ab"], []),
        (["bc", "ab", "cd"], ["abcd"]),
        (["ac", "bc", "cd"], ["acd", "bcd"]),
        (["ab", "bc", "cb"], []),
    ],
)
def test_chains_begin_at_their_first_redirect(pairs, chains):
    found = Redirects({url(a): url(b) for a, b in pairs})

    assert found.chains() == [list(map(url, chain)) for chain in chains]


def test_end_of_a_long_chain_is_found_in_linear_time(monkeypatch):
    steps = []
    counted = lambda url: steps.append(url) or dedup_key(url)
    monkeypatch.setattr("crawler_app.run.results.redirects.dedup_key", counted)
    found = Redirects({url(n): url(n + 1) for n in range(1000)})

    ends = {found.end_of(url(n)) for n in range(1000)}

    assert ends == {url(1000)}
    assert len(steps) <= 5 * 1000


def test_chain_continues_at_another_spelling_of_a_url():
    found = Redirects({url("a"): url("x//y"), url("x/y"): url("z")})

    assert found.chains() == [[url("a"), url("x//y"), url("z")]]


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdefg")))
def test_every_redirect_ends_at_another_url_or_in_a_loop(targets):
    found = Redirects({url(a): url(b) for a, b in targets.items()})

    for name in targets:
        walked = name
        for _ in targets:
            walked = targets.get(walked, walked)
        end = found.end_by_key[url(name)]
        assert url(walked) in found.loop_by_key.get(end, [end])
    in_loops = [each for loop in found.loop_by_key.values() for each in loop]
    assert len(in_loops) == len(set(in_loops))
    for loop in found.loop_by_key.values():
        names = [each[-1] for each in loop]
        assert [targets[name] for name in names] == names[1:] + names[:1]
