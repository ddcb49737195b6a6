"""URLs agree with the test data of the WHATWG standard."""

import json
import pathlib

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler_app.base.errors import UrlError
from crawler_app.base.urls import (
    canonicalize,
    dedup_key,
    join,
    with_normal_escapes,
    without_fragment,
)
from tests.helpers.fuzzing import examples

DATA = pathlib.Path(__file__).with_name("web_platform_tests") / "urltestdata.json"
CASES = [tuple(case) for case in json.loads(DATA.read_text(encoding="utf-8"))]

BASE = "http://a.test/docs/page?q"

REFERENCES = st.text(
    st.sampled_from("/.:?#%@;=&[]\\ \t\n\0ab2eE|'~\"<{é\ud800\udc00"), max_size=12
)


def has_user_name(href):
    parts = ada_url.URL(href)
    return bool(parts.username or parts.password)


def wanted(base, href):
    """Return the URL in the test data, or the reason why it cannot be fetched."""
    if href is None or not href.startswith(("http://", "https://")):
        return "invalid"
    # The only difference, which is intended.
    if has_user_name(base or href) or has_user_name(href):
        return "credentials"
    return href.partition("#")[0]


def joined(base, reference):
    """Return the URL of a reference, or why it cannot be fetched."""
    try:
        return join(canonicalize(base) if base else "", reference)
    except UrlError as exc:
        return exc.reason if exc.reason == "credentials" else "invalid"


def test_urls_are_those_of_the_standard_but_for_credentials():
    assert len(CASES) == 757
    assert [
        (base, reference, href)
        for base, reference, href in CASES
        if joined(base, reference) != wanted(base, href)
    ] == []


@settings(max_examples=examples(300))
@given(REFERENCES)
@example("./page.html")
@example("/a/../../b/.")
@example("page.html #x")
@example("a\n#x")
def test_shortcuts_agree_with_the_standard(reference):
    scalars = reference.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    try:
        href = ada_url.join_url(BASE, scalars)
    except ValueError:
        href = None

    assert joined(BASE, reference) == wanted("", href)
    assert joined(BASE, without_fragment(reference)) == joined(BASE, reference)


@settings(max_examples=examples(300))
@given(REFERENCES)
@example("%2%35")
@example("%%41%41")
def test_normalized_escapes_name_the_same_page(reference):
    url = joined(BASE, reference)
    if not url.startswith("http"):
        return
    normal = with_normal_escapes(url)

    assert with_normal_escapes(normal) == normal
    assert dedup_key(normal) == dedup_key(url) == dedup_key(dedup_key(url))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("%7Eme", "~me"),
        ("caf%c3%a9", "café"),
        ("?a[]=|", "?a%5b%5D=%7C"),
        ("?'", "?%27"),
        ("q?", "q"),
        ("http://127.1/", "http://0x7f000001/"),
        ("http://BÜCHER.test/", "http://xn--bcher-kva.test:80"),
    ],
)
def test_spellings_of_one_page_have_one_key(one, other):
    assert dedup_key(join(BASE, one)) == dedup_key(join(BASE, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("100%", "100%25"), ("%2%35", "%25"), ("?%26", "?&"), ("a?", "a%3F")],
)
def test_distinct_pages_have_distinct_keys(one, other):
    assert dedup_key(join(BASE, one)) != dedup_key(join(BASE, other))


def test_long_host_is_joined_quickly():
    with pytest.raises(UrlError, match="a host of 5000 characters"):
        canonicalize("http://" + "é" * 5000 + "/")
