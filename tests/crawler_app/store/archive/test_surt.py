"""The sort key: what the `surt` package makes of a canonical URL."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler_app.base.errors import UrlError
from crawler_app.base.urls import canonicalize
from crawler_app.store.archive.surt import surt

# As surt 0.3.1 has them.
KEYS = {
    "http://example.com/": "com,example)/",
    "https://www.example.com/A/B.html": "com,example)/a/b.html",
    "http://www2.example.co.uk/": "uk,co,example)/",
    "http://a.www.test/": "test,www,a)/",
    "http://example.com:8080/": "com,example:8080)/",
    "https://example.com:80/": "com,example:80)/",
    "http://127.0.0.1/": "1,0,0,127)/",
    "http://127.0.0.1:8080/a": "1,0,0,127:8080)/a",
    "http://[::1]:81/": "::1:81)/",
    "http://a.test/dir/": "test,a)/dir",
    "http://a.test//x//y": "test,a)/x/y",
    "http://a.test/%7Euser/%C3%89": "test,a)/~user/%c3%89",
    "http://a.test/?": "test,a)/",
    "http://a.test/?b=2&a=1&B=1&a": "test,a)/?a&a=1&b=1&b=2",
    "http://a.test/?q=%26%2541": "test,a)/?a&q=",
    "http://a.test/?PHPSESSID=0123456789abcdef0123456789abcdef&a=1": "test,a)/?a=1",
    "urn:view:http://a.test/B?c": "urn:view:http://a.test/b?c",
    "http://a.test/(S(4hqa0555fwsecu455xqckv45))/x.aspx": "test,a)/x.aspx",
}

URLS = st.builds(
    lambda host, path, query: f"http://{host}/{path}{query and '?' + query}",
    st.sampled_from(["a.test", "www.a.test", "10.0.0.1", "WWW3.x", "[::1]:8"]),
    st.text("aB/.%2541~;=+é", max_size=20),
    st.text("aB&=%2541?+é", max_size=20),
)


@pytest.mark.parametrize("url", KEYS)
def test_a_key_is_that_of_the_archives(url):
    assert surt(url) == KEYS[url]


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("surt", reason="needs the package surt")


@given(url=URLS)
@example(url="http://a.test/%")
def test_a_key_is_that_of_the_surt_package(theirs, url):
    try:
        url = canonicalize(url)
    except UrlError:
        return

    assert surt(url) == theirs.surt(url)


@given(URLS)
@example("http://a.test/B/..")
@example("HTTP://www.A.test:080/B/")
def test_a_plain_url_has_the_key_that_it_has_with_an_empty_query(url):
    if "?" not in url:
        assert surt(url) == surt(f"{url}?")


@given(st.text())
@example("http://[/")
def test_any_text_has_a_key(text):
    assert isinstance(surt(text), str)
