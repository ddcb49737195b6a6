"""Chains and loops of redirects."""

from hypothesis import given
from hypothesis import strategies as st

from crawler_app.results.redirects import Redirects


def url(name):
    return f"http://a.test/{name}"


def redirects(*pairs):
    return Redirects({url(pair[0]): url(pair[1]) for pair in pairs})


def test_single_redirect_is_no_chain():
    found = redirects("ab")

    assert found.chains() == []
    assert found.end_by_key == {url("a"): url("b")}


def test_chain_is_told_once_and_from_its_beginning():
    found = redirects("bc", "ab", "cd")

    assert found.chains() == [[url("a"), url("b"), url("c"), url("d")]]


def test_chains_that_meet_are_told_each():
    found = redirects("ac", "bc", "cd")

    assert found.chains() == [
        [url("a"), url("c"), url("d")],
        [url("b"), url("c"), url("d")],
    ]


def test_way_into_a_loop_is_no_chain_and_ends_in_the_loop():
    found = redirects("ab", "bc", "cb")

    assert found.chains() == []
    assert list(found.loop_by_key.values()) == [[url("b"), url("c")]]
    assert set(found.end_by_key.values()) == {url("b")}


def test_other_spelling_of_a_url_goes_on_the_way():
    found = Redirects({url("a"): url("x//y"), url("x/y"): url("z")})

    assert found.chains() == [[url("a"), url("x//y"), url("z")]]


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdefg")))
def test_every_redirect_ends_at_what_is_none_or_in_a_loop(targets):
    found = Redirects({url(a): url(b) for a, b in targets.items()})

    for name in targets:
        end = found.end_by_key[url(name)]
        assert end in found.loop_by_key or end not in map(url, targets)
    in_loops = [each for loop in found.loop_by_key.values() for each in loop]
    assert len(in_loops) == len(set(in_loops))
    for loop in found.loop_by_key.values():
        names = [each[-1] for each in loop]
        assert [targets[name] for name in names] == names[1:] + names[:1]
