"""The user's patterns have the meaning they have in Python, and match in linear time."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.errors import ConfigError
from crawler_app.base.patterns import any_of
from crawler_app.run.crawl.scope import Scope

ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "/",
        "[.]",
        r"\.",
        ".",
        r"\d",
        r"\w",
        r"\W",
        r"\b",
        "[ab]",
        "[^/]",
        "^",
        "$",
    ]
)
REPEATS = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "+?", "??"])


def larger(patterns):
    grouped = patterns.map(lambda pattern: f"(?:{pattern})")
    return st.one_of(
        st.tuples(patterns, patterns).map("".join),
        st.tuples(patterns, patterns).map("|".join),
        st.tuples(grouped, REPEATS).map("".join),
        grouped.map(lambda pattern: f"(?i){pattern}"),
    )


@given(
    st.recursive(ATOMS, larger, max_leaves=6).filter(lambda p: "(?i)" not in p[1:]),
    st.text("aAb/.1_%", max_size=8).map("http://a.test/{}".format),
)
def test_pattern_has_the_meaning_it_has_in_python(pattern, url):
    assert any_of([pattern])(url) == bool(re.search(pattern, url))
    assert any_of(["never", pattern])(url) == bool(re.search(pattern, url))


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a|aa)+$",
        r"(\w+\s?)*$",
        "(.*a){12}b",
        "(.*?,){25}P",
        "(?:/[^/]+)+/x$",
        ".*.*.*=x",
    ],
)
def test_exponential_pattern_is_matched_quickly(pattern):
    links = [f"http://evil.test/{'a' * n}/,{',1' * n}!" for n in range(100, 1000)]
    scope = Scope(["http://evil.test/"], include=[pattern], exclude=[pattern])
    began_s = time.process_time()

    for link in links:
        scope.check(link, 1)

    assert time.process_time() - began_s < 2.0


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", r"missing \): \($"),
        ("/(?!private/)", "invalid perl operator.* --exclude takes precedence"),
        (r"/([^/]+)/\1/", "invalid escape.* without lookaheads and backreferences"),
        ("a{,3}", "write {0,3}"),
        ("\ud800", "surrogates"),
    ],
)
def test_unsupported_pattern_is_refused(pattern, said):
    with pytest.raises(ConfigError, match=said):
        any_of([pattern])
