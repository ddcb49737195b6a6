"""Cookies are sent to the origin that set them, to the hosts of a file, and nowhere else."""

import email.message
import http.cookiejar
import tracemalloc
import urllib.request

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crawler_app.base.errors import ConfigError
from crawler_app.web.fetcher.cookie_files import read_cookies
from crawler_app.web.fetcher.cookies import (
    MAX_COOKIES_OF_ORIGIN,
    MAX_KEPT_BYTES,
    MAX_ORIGINS,
    CookieStore,
)
from crawler_app.web.fetcher.set_cookie import MAX_COOKIE_BYTES

HERE = "http://a.test/docs/page?x=/y/z"


@pytest.fixture
def clock(clock):
    clock.now = 1_000_000_000.0
    return clock


@pytest.fixture
def cookies(clock):
    return CookieStore(clock)


@pytest.fixture
def load(cookies, tmp_path):
    """Load lines of a file; spaces in them are tabs."""

    def load(*lines):
        path = tmp_path / "cookies.txt"
        path.write_bytes("\n".join(lines).replace(" ", "\t").encode())
        cookies.add(read_cookies(path).cookies)

    return load


@pytest.mark.parametrize("attributes", ["", "; Domain=test", "; Domain=a.test"])
@pytest.mark.parametrize(
    "other",
    [
        "https://a.test/",
        "http://a.test:8000/",
        "http://www.a.test/",
        "http://test/",
        "http://b.test/",
    ],
)
def test_cookie_is_sent_only_to_its_origin(cookies, attributes, other):
    cookies.take(HERE, ["id=7; Path=/" + attributes])

    assert cookies.header_for("http://a.test/") == "id=7"
    assert cookies.header_for(other) == ""


@pytest.mark.parametrize(
    ("path", "url", "is_sent"),
    [
        ("; Path=/docs", "http://a.test/docs?x", True),
        ("; Path=/docs", "http://a.test/Docs", False),
        ("; Path=/docs", "http://a.test/?/docs", False),
        ("; Path=/docs/", "http://a.test/docs", False),
        ("; path=/", "http://a.test/", True),
        ("; Path=/elsewhere", "http://a.test/elsewhere/", True),
        ("", "http://a.test/docs", True),
        ("; Path", "http://a.test/", False),
        ("; Path=docs", "http://a.test/", False),
        ("; Path=/x; Path=/", "http://a.test/", True),
    ],
)
def test_cookie_is_for_a_path(cookies, path, url, is_sent):
    cookies.take(HERE, ["id=7" + path])

    assert cookies.header_for(url) == ("id=7" if is_sent else "")


@pytest.mark.parametrize(
    ("attributes", "lasts_s"),
    [
        ("; Max-Age=60", 60),
        ("; max-age = 60", 60),
        ("; Expires=Sun, 09 Sep 2001 01:47:40 GMT", 60),
        ("; Expires=Sunday, 09-Sep-01 01:47:40 GMT", 60),
        ("; Expires=Sun, 09-Sep-2001 01:47:40 GMT", 60),
        ("; Expires=Sun Sep  9 01:47:40 2001", 60),
        ("; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 60),
        ("; Max-Age=soon; Expires=Sun, 09 Sep 2001 01:47:40 GMT", 60),
    ],
)
def test_cookie_ends_when_it_expires(cookies, clock, attributes, lasts_s):
    start = clock.now
    cookies.take(HERE, ["id=7" + attributes])

    clock.now = start + lasts_s - 1
    assert cookies.header_for(HERE) == "id=7"
    clock.now = start + lasts_s
    assert cookies.header_for(HERE) == ""


@pytest.mark.parametrize(
    "attributes",
    [
        "",
        "; Expires=",
        "; Expires=soon",
        "; Expires=Sun, 99 Sep 2001 01:47:40 GMT",
        "; Expires=Sun, 09 Sep 20010 01:47:40 GMT",
        "; Max-Age=",
        "; Max-Age=" + "9" * 1000,
    ],
)
def test_cookie_with_an_invalid_expiry_lasts(cookies, clock, attributes):
    cookies.take(HERE, ["id=7" + attributes])
    clock.now *= 100

    assert cookies.header_for(HERE) == "id=7"


def test_cookie_is_replaced_by_its_name_and_path(cookies):
    cookies.take(HERE, ["id=1; Path=/", "n=1; Path=/", "id=2; Path=/docs"])
    cookies.take(HERE, ["id=3; Path=/"])

    assert cookies.header_for(HERE) == "id=2; id=3; n=1"


@pytest.mark.parametrize(
    "header",
    ["", ";", "=", "; Path=/", "a\0=b", "a=b\r\nX: y", "a=\u20ac"],
)
def test_broken_header_is_ignored(cookies, header):
    cookies.take(HERE, [header, "n=1"])

    assert cookies.header_for(HERE) == "n=1"


@pytest.mark.parametrize(
    ("header", "sent"),
    [
        ("id=", "id="),
        (' id = "a b" ', 'id="a b"'),
        ("id=a=b", "id=a=b"),
        ("id=a,b", "id=a,b"),
        ("id", "id"),
        ("=7; Path=/", "7"),
        (" =a=b", "a=b"),
        ("id=voil\u00c3\u00a0", "id=voil\u00c3\u00a0"),
        ("id=caf\u00c3\u00a9; HttpOnly; SameSite=Lax; Odd", "id=caf\u00c3\u00a9"),
    ],
)
def test_value_is_sent_unchanged(cookies, header, sent):
    cookies.take(HERE, [header])

    assert cookies.header_for(HERE) == sent


@pytest.mark.parametrize(
    ("cookie", "is_kept"),
    [
        ("__Host-id=7; Secure; Path=/", True),
        ("__host-id=7; Path=/; secure; Domain=", True),
        ("__Host-id=7; Secure; Path=/; Domain=a.test", False),
        ("__Host-id=7; Secure", False),
        ("__Host-id=7; Path=/", False),
        ("__Secure-id=7; Secure; Domain=a.test", True),
        ("__SECURE-id=7", False),
        ("=__Secure-id=7; Secure", False),
        ("__Host-id; Secure; Path=/", False),
    ],
)
def test_prefix_of_a_name_demands_attributes(cookies, cookie, is_kept):
    cookies.take("https://a.test/", [cookie])

    assert bool(cookies.header_for("https://a.test/")) is is_kept


def test_prefix_demands_https(cookies):
    cookies.take(HERE, ["__Host-id=7; Secure; Path=/", "__Secure-id=7; Secure"])

    assert cookies.header_for(HERE.replace("http:", "https:")) == ""


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:81"])
def test_loopback_is_as_secure_as_https(cookies, host):
    cookies.take(f"http://{host}/in", ["__Host-id=7; Secure; Path=/", "n=8; Secure"])

    assert cookies.header_for(f"http://{host}/") == "__Host-id=7; n=8"


def test_overlong_cookie_is_ignored(cookies):
    cookies.take(HERE, ["a=" + "x" * (MAX_COOKIE_BYTES - 2)])
    cookies.take(HERE, ["b=" + "x" * (MAX_COOKIE_BYTES - 1)])

    assert cookies.header_for(HERE).startswith("a=x")
    assert "b=" not in cookies.header_for(HERE)


def test_oldest_surplus_cookie_is_dropped(cookies):
    cookies.take(HERE, [f"n{i}=1" for i in range(MAX_COOKIES_OF_ORIGIN + 1)])

    names = cookies.header_for(HERE).replace("=1", "").split("; ")

    assert names == [f"n{i}" for i in range(1, MAX_COOKIES_OF_ORIGIN + 1)]


def test_expired_cookies_are_dropped_first(cookies):
    cookies.take(HERE, [f"n{i}=1" for i in range(MAX_COOKIES_OF_ORIGIN - 1)])
    cookies.take(HERE, ["n5=; Max-Age=0", "last=1", "n5=2; Path=/"])

    assert cookies.header_for(HERE).count("=") == MAX_COOKIES_OF_ORIGIN
    assert cookies.header_for(HERE).startswith("n0=1")


def test_origin_without_recent_cookies_is_dropped_first(cookies):
    for i in range(MAX_ORIGINS):
        cookies.take(f"http://{i}.test/", ["n=1"])
    cookies.take("http://0.test/", ["n=2"])
    cookies.take("http://new.test/", ["n=1"])

    assert cookies.header_for("http://0.test/") == "n=2"
    assert cookies.header_for("http://1.test/") == ""
    assert cookies.header_for("http://2.test/") == "n=1"


def test_memory_of_all_cookies_is_bounded(cookies):
    tracemalloc.start()
    for i in range(120):
        large = "x" * (MAX_COOKIE_BYTES - 20)
        cookies.take(f"http://{i}.test/", [f"{n}={large}" for n in range(50)])
        cookies.take(f"http://small{i}.test/", [f"{n}=1" for n in range(50)])

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * MAX_KEPT_BYTES
    assert cookies.header_for("http://119.test/").count("=x") == 50
    assert cookies.header_for("http://0.test/") == ""


@given(st.lists(st.text(st.sampled_from('ab=;, ,"/\0\n\u20ac')) | st.text()))
def test_any_set_cookie_gives_a_valid_cookie_header(headers):
    cookies = CookieStore(lambda: 0.0)

    cookies.take(HERE, headers)

    assert "\n" not in cookies.header_for(HERE)
    cookies.header_for(HERE).encode("latin-1")


@given(st.text(st.characters(exclude_characters="\0\r\n", max_codepoint=255)))
def test_any_date_is_read(text):
    cookies = CookieStore(lambda: 0.0)

    cookies.take(HERE, [f"id=7; Expires={text}"])

    assert cookies.header_for(HERE) in ("", "id=7")


class Response:
    """A response with the interface that `http.cookiejar` needs."""

    def __init__(self, header):
        self._headers = email.message.Message()
        self._headers["Set-Cookie"] = header

    def info(self):
        return self._headers


def sent_by_the_standard_library(headers, first, second):
    """Return the Cookie header of `http.cookiejar` after a response for each header."""
    jar = http.cookiejar.CookieJar()
    for header in headers:
        jar.extract_cookies(Response(header), urllib.request.Request(first))
    request = urllib.request.Request(second)
    jar.add_cookie_header(request)
    return request.get_header("Cookie", "")


PATHS = st.sampled_from(["/", "/a", "/a/", "/a/b", "/ab", "/a/b/c"])
ATTRIBUTES = st.lists(
    st.one_of(
        PATHS.map("Path={}".format),
        st.sampled_from([-1, 0, 1000]).map("Max-Age={}".format),
        st.sampled_from([1990, 2090]).map("Expires=Sun, 09 Sep {} 01:46:40 GMT".format),
        st.sampled_from(["Secure", "HttpOnly", "SameSite=Lax"]),
    ),
    max_size=3,
    unique_by=lambda attribute: attribute.partition("=")[0],
)
HEADERS = st.lists(
    st.tuples(st.sampled_from(["n=1", "n=2", "m=3"]), ATTRIBUTES).map(
        lambda parts: "; ".join([parts[0], *parts[1]])
    ),
    max_size=4,
)


@given(HEADERS, st.sampled_from(["http", "https"]), PATHS, PATHS)
def test_cookies_agree_with_the_standard_library(headers, scheme, first, second):
    # It takes the last of both.
    assume(not any("Max-Age" in header and "Expires" in header for header in headers))
    first, second = f"{scheme}://a.test{first}", f"{scheme}://a.test{second}"
    cookies = CookieStore()

    cookies.take(first, headers)

    expected = sent_by_the_standard_library(headers, first, second)
    assert sorted(cookies.header_for(second).split("; ")) == sorted(
        expected.split("; ")
    )


@pytest.mark.parametrize(
    ("line", "url", "is_sent"),
    [
        ("a.test FALSE / FALSE 0 id 7", "http://a.test/", True),
        ("a.test FALSE / FALSE 0 id 7", "https://a.test:8000/x", True),
        ("a.test FALSE / FALSE 0 id 7", "http://www.a.test/", False),
        (".a.test TRUE / FALSE 0 id 7", "http://www.a.test/", True),
        ("a.test TRUE / FALSE 0 id 7", "http://www.a.test/", True),
        (".A.Test TRUE / FALSE 0 id 7", "http://a.test./", True),
        (".a.test FALSE / FALSE 0 id 7", "http://a.test/", True),
        (".a.test FALSE / FALSE 0 id 7", "http://www.a.test/", False),
        (".a.test TRUE / FALSE 0 id 7", "http://xa.test/", False),
        (".a.test TRUE / FALSE 0 id 7", "http://a.test.b.test/", False),
        ("a.test FALSE /docs FALSE 0 id 7", "http://a.test/", False),
        ("a.test FALSE /docs FALSE 0 id 7", "http://a.test/docs/x", True),
        ("a.test FALSE / TRUE 0 id 7", "http://a.test/", False),
        ("a.test FALSE / TRUE 0 id 7", "https://a.test/", True),
        ("a.test false / true 0 id 7", "https://a.test/", True),
        ("#HttpOnly_a.test FALSE / FALSE 0 id 7", "http://a.test/", True),
        ("a.test FALSE / FALSE  id 7", "http://a.test/", True),
        ("a.test FALSE / FALSE 1000000001.5 id 7", "http://a.test/", True),
        ("a.test FALSE / FALSE 999999999 id 7", "http://a.test/", False),
        ("a.test FALSE / FALSE 0 id 7\r", "http://a.test/", True),
        ("127.0.0.1 FALSE / FALSE 0 id 7", "http://127.0.0.1:8000/", True),
        ("0.0.1 TRUE / FALSE 0 id 7", "http://127.0.0.1/", False),
        ("[::1] FALSE / FALSE 0 id 7", "http://[::1]:8000/", True),
    ],
)
def test_cookie_of_a_file_goes_to_the_hosts_of_its_domain(
    cookies, load, line, url, is_sent
):
    load("# Netscape HTTP Cookie File", "", "# a comment", line, "")

    assert cookies.header_for(url) == ("id=7" if is_sent else "")


def test_cookie_of_the_origin_replaces_that_of_the_file(cookies, load):
    load(".a.test TRUE / FALSE 0 id 7", ".a.test TRUE / FALSE 0 n 1")

    cookies.take("http://a.test/", ["id=8; Path=/"])

    assert cookies.header_for("http://a.test/") == "id=8; n=1"
    assert cookies.header_for("http://www.a.test/") == "id=7; n=1"


def test_cookie_of_a_file_is_deleted_by_the_origin(cookies, load):
    load(".a.test TRUE / FALSE 0 id 7")

    cookies.take("http://a.test/", ["id=; Max-Age=0; Path=/"])

    assert cookies.header_for("http://a.test/") == ""
    assert cookies.header_for("http://www.a.test/") == "id=7"


def test_narrower_domain_of_a_file_has_precedence(cookies, load):
    load("www.a.test FALSE / FALSE 0 id near", ".a.test TRUE / FALSE 0 id wide")

    assert cookies.header_for("http://www.a.test/") == "id=near"
    assert cookies.header_for("http://a.test/") == "id=wide"


def test_file_in_any_charset_is_sent_byte_by_byte(cookies, load):
    load(
        "\ufeff# Netscape HTTP Cookie File", "a.test FALSE / FALSE 0 id caf\u00e9\u0085"
    )

    header = cookies.header_for("http://a.test/")

    assert header.encode("latin-1").decode() == "id=caf\u00e9\u0085"


def test_value_of_a_file_may_be_empty(cookies, load):
    load("a.test FALSE / FALSE 0 id ", "a.test FALSE / FALSE 0 n")

    assert cookies.header_for("http://a.test/") == "id=; n="


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("<!DOCTYPE html>", "2 fields separated by tabs, not 7"),
        ('[{"name":"id"}]', "1 fields"),
        ("a.test FALSE / FALSE 0 id 7 8", "8 fields"),
        ("a.test yes / FALSE 0 id secret", "neither TRUE nor FALSE"),
        ("a.test FALSE / secret 0 id secret", "neither TRUE nor FALSE"),
        ("a.test FALSE secret FALSE 0 id 7", "no path"),
        ("a.test FALSE / FALSE secret id 7", "no time"),
        ("a.test FALSE / FALSE nan id 7", "no time"),
        ("a.test FALSE / FALSE 0  secret", "no name"),
        ("a.test FALSE / FALSE 0 id 7\0", "a control character"),
    ],
)
def test_other_file_is_refused(load, line, fault):
    with pytest.raises(ConfigError, match=f"cookies.txt, line 2: {fault}") as caught:
        load("# Netscape HTTP Cookie File", line)

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["none.txt", "no\0file", "/dev/zero"])
def test_unreadable_file_is_refused(cookies, tmp_path, name):
    with pytest.raises(
        ConfigError, match=r"cannot read the cookies in .*(?:\Sno|/dev/zero: )"
    ):
        cookies.add(read_cookies(tmp_path / name).cookies)


@given(st.binary() | st.text(st.sampled_from("a./\t\n0#TRUEFALS")).map(str.encode))
def test_any_file_is_read_or_refused(tmp_path_factory, octets):
    path = tmp_path_factory.getbasetemp() / "any-cookies.txt"
    path.write_bytes(octets)

    try:
        read_cookies(path)
    except ConfigError as exc:
        assert str(path) in str(exc)
