"""URLs: refusals, comparison, and properties for any text."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from crawler_app.base.errors import UrlError
from crawler_app.base.urls import (
    MAX_URL_CHARS,
    canonicalize,
    dedup_key,
    directory_of,
    host_of,
    is_loopback,
    join,
    name_of,
    origin_of,
    place_of,
    redirect_target,
    written_above,
)
from tests.helpers.fuzzing import examples

# Any character, including lone surrogates and NUL, but often one that is common in URLs.
CHARS = st.one_of(
    st.sampled_from("/.:?#%@;=&[]\\ \t\n\r\0aZ02eF-_~é\ud800"),
    st.characters(codec=None),
)
ANY_TEXT = st.text(CHARS, max_size=40)
URLS = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https", "HTTP", "ftp"]),
    st.one_of(st.sampled_from(["a.test", "A.Test:80", "b.test:8080"]), ANY_TEXT),
    ANY_TEXT,
)
PATHS = st.text(st.sampled_from("/.:?;=%ab2eEfF()"), max_size=20)
PLAIN = st.text(st.sampled_from("/.;=ab()"), min_size=1, max_size=20)
CANONICAL_URLS = PATHS.map(lambda path: canonicalize("http://a.test/" + path))
REFERENCES = st.one_of(
    ANY_TEXT,
    PATHS,
    st.lists(st.sampled_from(["http", "ftp", *":/?;.a\\"]), max_size=6).map("".join),
)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("javascript:alert(1)", "unsupported_scheme"),
        ("mailto:a@a.test", "unsupported_scheme"),
        ("data:text/html,<p>", "unsupported_scheme"),
        ("tel:+4912345", "unsupported_scheme"),
        ("ftp://a.test/", "unsupported_scheme"),
        ("//a.test/", "unsupported_scheme"),
        ("a.test", "unsupported_scheme"),
        ("", "unsupported_scheme"),
        ("http://", "malformed"),
        ("http://a b/", "malformed"),
        ("http://[fe80::1%25eth0]/", "malformed"),
        ("http://a.test:99999/", "malformed"),
        ("http://user@a.test/", "credentials"),
        ("http://user:secret@a.test/", "credentials"),
        ("http://a.test/".ljust(MAX_URL_CHARS + 1, "x"), "too_long"),
        ("http://a.test/" + 3_000 * "é", "too_long"),
    ],
)
def test_url_that_cannot_be_fetched_is_refused(url, reason):
    with pytest.raises(UrlError) as caught:
        canonicalize(url)

    assert caught.value.reason == reason
    assert "secret" not in str(caught.value)


def test_longest_url_is_accepted():
    url = "http://a.test/".ljust(MAX_URL_CHARS, "x")

    assert canonicalize(url) == url


@settings(max_examples=examples(800))
@given(st.one_of(ANY_TEXT, URLS))
@example("http://[v1.a]/")
@example("http://[::1%\ud800 b]/")
@example("http://" + 64 * "é" + "/")
@example("http://a\u3002\u3002b/")
@example("http://a.test/%2%35" + "2e/../x")
@example("http://a.test//..//%2e%2E/b")
@example("http://a.test/" + 2_000 * "é")
def test_any_text_is_a_stable_url_or_a_url_error(text):
    try:
        url = canonicalize(text)
    except UrlError as exc:
        assert exc.reason and str(exc)
    else:
        assert url.isascii() and url.isprintable() and " " not in url
        assert len(url) <= MAX_URL_CHARS
        assert url.startswith(("http://", "https://"))
        assert "#" not in url
        assert canonicalize(url) == url


@settings(max_examples=examples(500))
@given(PATHS, st.sampled_from(["", "x", "y?q=/a/b"]), REFERENCES)
@example("a/", "x", "http:?y")
@example("a/", "x", "//?y")
@example("a/", "x", "http:")
@example("a/", "x", ";")
@example("a/", "x", "\\\\?y")
def test_reference_means_the_same_at_one_place(path, page, reference):
    base = canonicalize(f"http://a.test/{path}{page}")
    place = place_of(base, reference)
    assume(place is not None)

    def outcome(base):
        try:
            return join(base, reference)
        except UrlError as exc:
            return exc.reason

    assert place in ("", origin_of(base), directory_of(base))
    others = {"": "https://b.test/c", origin_of(base): "http://a.test/b/c"}
    other = others.get(place, f"{place}other")
    assert outcome(base) == outcome(other)


@settings(max_examples=examples(500))
@given(
    st.lists(st.sampled_from(["a", "b;c", ""]), min_size=1), st.integers(1, 4), PLAIN
)
@example(["a", "", "b"], 1, "x")
@example(["a", "b"], 1, "../x")
@example(["a"], 2, "x")
def test_reference_means_the_same_as_written_above(directories, levels, rest):
    base = canonicalize(f"http://a.test/{'/'.join(directories)}/page")
    reference = "../" * levels + rest
    above = written_above(base, reference)
    assume(above is not None)

    place, written = above

    assert join(place, written) == join(base, reference)
    assert base.startswith(place) and place == directory_of(place) != directory_of(base)
    assert place_of(f"{place}other", written) == place


@pytest.mark.parametrize(
    "rest", ["", "/x", "?q", "http://b.test/x", "http:x", "\\x", " x"]
)
def test_reference_that_is_another_one_above_is_not_written_there(rest):
    assert written_above("http://a.test/b/c/d", f"../{rest}") is None


SESSIONS = [
    ("x;jsessionid=8A1C!-12!34", "x"),
    ("x;jsessionid=8A1C.node1?y=1", "x;JSESSIONID=77?y=1"),
    ("x%3Bjsessionid%3D8A1C/y", "x/y"),
    ("x/;jsessionid=1/y", "x/y"),
    ("?PHPSESSID=g8k1", ""),
    ("x?a=1&phpsessid=g8k1&b=2", "x?a=1&b=2"),
    ("x.asp?ASPSESSIONIDQQ=A&sid=" + 4 * "1a2b3c4d", "x.asp"),
    ("?id=5&osCsid=" + 2 * "abcdefghijklm", "?id=5"),
    ("(S(lit3py55t21z5v55vlm25s55))/x.aspx", "x.aspx"),
    ("app/(A(x)S(y))/x.aspx", "app/x.aspx"),
]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.test/%28x%29", "http://a.test/(x)"),
        ("http://a.test/%40%3a", "http://a.test/@:"),
        ("http://a.test/%21%24%26%27%2A%2B%2C%3B%3D", "http://a.test/!$&'*+,;="),
        ("http://a.test//b", "http://a.test/b"),
        ("http://a.test/a///b//", "http://a.test/a/b/"),
        *((f"http://a.test/{one}", f"http://a.test/{two}") for one, two in SESSIONS),
    ],
)
def test_dedup_key_is_equal_for_equivalent_urls(one, other):
    assert dedup_key(one) == dedup_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.test/a%2Fb", "http://a.test/a/b"),
        ("http://a.test/a%3Fb", "http://a.test/a?b"),
        ("http://a.test/a%2540", "http://a.test/a%40"),
        ("http://a.test/a%25", "http://a.test/a"),
        ("http://a.test/?a=%26b", "http://a.test/?a=&b"),
        ("http://a.test/?a=%2B", "http://a.test/?a=+"),
        ("http://a.test/?u=http://b", "http://a.test/?u=http:/b"),
        ("http://a.test/a/", "http://a.test/a"),
        ("http://a.test/A", "http://a.test/a"),
        ("http://a.test/", "https://a.test/"),
        ("http://a.test/?a&b", "http://a.test/?b&a"),
        ("http://a.test/x;y=1", "http://a.test/x;y=2"),
        ("http://a.test/?sid=1", "http://a.test/?sid=2"),
        (f"http://a.test/?side={'a' * 32}", "http://a.test/"),
        (f"http://a.test/?sid={'a' * 32}b", "http://a.test/"),
        ("http://a.test/f(S(x))/", "http://a.test/f/"),
    ],
)
def test_dedup_key_differs_for_distinct_urls(one, other):
    assert dedup_key(one) != dedup_key(other)


@given(CANONICAL_URLS)
@example("http://a.test/" + "x" * 600)
@example("http://a.test//" + "%7E" * 600)
@example("http://a.test/" + "x" * 480 + ";jsessionid=1/" + "y" * 600)
def test_dedup_key_of_a_key_is_the_key(url):
    key = dedup_key(url)

    assert dedup_key(key) == key
    assert key.startswith("http://a.test/")
    assert len(key) <= 600


def test_long_urls_are_compared_whole():
    long = "http://a.test/" + "x" * 600

    assert dedup_key(f"{long}//1?") == dedup_key(f"{long}/1")
    assert dedup_key(f"{long}/1") != dedup_key(f"{long}/2")


@pytest.mark.parametrize(
    ("origin", "host", "name", "is_local"),
    [
        ("http://a.test", "a.test", "a.test", False),
        ("https://a.test:8443", "a.test:8443", "a.test", False),
        ("http://localhost", "localhost", "localhost", True),
        ("http://localhost:8000", "localhost:8000", "localhost", True),
        ("http://127.0.0.1", "127.0.0.1", "127.0.0.1", True),
        ("http://127.9.9.9:1", "127.9.9.9:1", "127.9.9.9", True),
        ("http://[::1]", "[::1]", "[::1]", True),
        ("http://[::1]:8000", "[::1]:8000", "[::1]", True),
        ("http://127.0.0.1.a.test", "127.0.0.1.a.test", "127.0.0.1.a.test", False),
        ("http://localhost.test", "localhost.test", "localhost.test", False),
        ("http://a127.0.0.1", "a127.0.0.1", "a127.0.0.1", False),
        ("http://[::11]:8443", "[::11]:8443", "[::11]", False),
        ("http://8000", "8000", "8000", False),
    ],
)
@pytest.mark.parametrize("path", ["/", "/x//y?http://b.test/"])
def test_parts_of_a_url(origin, host, name, is_local, path):
    assert origin_of(origin + path) == origin
    assert host_of(origin + path) == host
    assert name_of(host) == name
    assert is_loopback(host) is is_local


@pytest.mark.parametrize(
    "text",
    [
        "https://a.test:84431",
        "https://a.test:8443@evil.test/",
        "https://a.test:8443.evil.test/",
        "https:/a.test:8443/",
        "https://",
        "",
    ],
)
def test_invalid_url_shares_no_origin(text):
    assert origin_of(text) not in ("https://a.test:8443", "https://a.test")


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/y", "http://a.test/y"),
        ("y#top", "http://a.test/docs/y"),
        ("https://b.test", "https://b.test/"),
        ("/caf\u00c3\u00a9", "http://a.test/caf%C3%A9"),
        ("/caf\u00e9 \u00c3\u00a9", "http://a.test/caf%E9%20%C3%A9"),
        ("?q", "http://a.test/docs/x?q"),
    ],
)
def test_redirect_target_is_its_location(location, target):
    assert redirect_target("http://a.test/docs/x", location) == target


@pytest.mark.parametrize(
    ("location", "reason", "text"),
    [
        ("", "no_location", "the redirect has no Location"),
        ("ftp://b.test/", "unsupported_scheme", "not an http"),
        ("http://b c/", "malformed", "is not a valid URL"),
    ],
)
def test_missing_and_invalid_redirect_targets_differ(location, reason, text):
    with pytest.raises(UrlError, match=text) as caught:
        redirect_target("http://a.test/", location)

    assert caught.value.reason == reason
