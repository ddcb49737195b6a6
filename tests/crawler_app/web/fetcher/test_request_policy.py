"""Headers, cookies, secrets and addresses of requests, without sockets."""

import contextlib

import pytest
from tornado.httputil import HTTPHeaders

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import FetchError
from crawler_app.web.fetcher.request_policy import (
    RequestPolicy,
    denies_private,
    proxy_of,
)
from crawler_app.web.httpclient.request import Proxy

SEED = "https://a.test:8443/docs/"


def policy(*, seeds=(SEED,), **options):
    return RequestPolicy(CrawlConfig(seeds, **options), "gzip")


def test_ordinary_requests_share_their_headers():
    plain = policy(headers=("Cookie: id=7", "X-A: 1", "Accept-Language: de"))

    first = plain.headers_for("http://b.test/1")

    assert plain.headers_for("http://c.test/2") is first
    assert dict(first) == {
        "User-Agent": CrawlConfig((SEED,)).full_user_agent,
        "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
        "Accept-Encoding": "gzip",
        "Accept-Language": "de",
    }


def test_contact_is_sent():
    plain = policy(user_agent="me/1.0", contact="me@a.test")

    assert plain.headers_for(SEED)["User-Agent"] == "me/1.0 (+mailto:me@a.test)"


def test_several_headers_of_one_name_are_sent():
    plain = policy(headers=("X-A: 1", "Accept: a/b", "x-a:2", "accept: c/d"))

    assert plain.headers_for(SEED).get_list("X-A") == ["1", "2"]
    for url in (SEED, "http://b.test/"):
        assert plain.headers_for(url).get_list("Accept") == ["a/b", "c/d"]


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test:8443/docs/",
        "https://a.test/docs/",
        "https://a.test:84430/docs/",
        "https://b.a.test:8443/",
        "https://a.test:8443.evil.test/",
        "https://a.test:8443@evil.test/",
        "https://a.test:8443\\@evil.test/",
        "https://evil.test/https://a.test:8443/",
        "https://evil.test#https://a.test:8443/",
        "https://A.test:8443/",  # not canonical
        "https://a.test:84431",
        "https:/a.test:8443/",
        "",
    ],
)
@pytest.mark.parametrize("auth", ["", "user:password"])
def test_secret_is_sent_only_to_the_exact_origin_of_a_seed(url, auth):
    names = ("Cookie", "Proxy-Authorization", "X-Api-Key", "Referer")
    names += () if auth else ("Authorization",)
    some = policy(headers=tuple(f"{name.upper()}: x" for name in names), auth=auth)

    for name in (*names, "Authorization"):
        assert name in some.headers_for(SEED)
        assert name not in some.headers_for(url)


def test_secret_is_sent_to_every_seed():
    some = policy(seeds=("http://b.test", SEED), auth="a:b")

    assert "Authorization" in some.headers_for("http://b.test/x")
    assert "Authorization" in some.headers_for("https://a.test:8443/elsewhere")


def test_headers_of_one_request_are_not_kept():
    plain = policy(auth="a:b")

    first = plain.headers_for(SEED, {"if-none-match": '"x"', "ACCEPT": "a/b"})

    assert (first["If-None-Match"], first.get_list("Accept")) == ('"x"', ["a/b"])
    assert "Authorization" in first
    assert "If-None-Match" not in plain.headers_for(SEED)
    assert plain.headers_for(SEED)["Accept"] != "a/b"


# Cookies.


def responded(*set_cookies):
    headers = HTTPHeaders()
    for set_cookie in set_cookies:
        headers.add("Set-Cookie", set_cookie)
    return headers


def test_all_cookies_of_a_response_are_kept():
    some = policy()

    some.take_cookies(SEED, responded("a=1; Path=/", "b=2; Path=/"))

    assert some.headers_for("https://a.test:8443/x")["Cookie"] == "a=1; b=2"
    assert "Cookie" not in some.headers_for("https://a.test/x")


def test_cookie_set_by_the_site_replaces_the_given_one():
    some = policy(headers=("Cookie: sid=old; lang=de",))

    some.take_cookies(SEED, responded("sid=new; Path=/"))

    assert some.headers_for(SEED)["Cookie"] == "lang=de; sid=new"
    assert some.headers_for(SEED, {"Cookie": "sid=own"})["Cookie"] == "lang=de; sid=own"


def test_given_cookie_is_not_joined_with_another_origins():
    some = policy(headers=("Cookie: sid=old",))

    some.take_cookies("http://b.test/", responded("x=1"))

    assert some.headers_for("http://b.test/")["Cookie"] == "x=1"


# Proxies.


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("", None),
        ("a.test:80", Proxy("a.test", 80)),
        ("http://a.test:3128/", Proxy("a.test", 3128)),
        ("me:pa:ss@a.test:80", Proxy("a.test", 80, "me", "pa:ss")),
        ("me%3A:%E2%82%AC%@[::1]:80", Proxy("[::1]", 80, "me:", "\u20ac%")),
        ("token@a.test:80", Proxy("a.test", 80, "token", "")),
    ],
)
def test_proxy_is_parsed(text, proxy):
    assert proxy_of(CrawlConfig((SEED,), proxy=text).proxy) == proxy


# Private addresses.


@pytest.mark.parametrize(
    ("seeds", "option", "denies"),
    [
        (("http://a.test/",), None, True),
        (("http://a.test/", "http://192.168.1.1/"), None, False),
        (("http://localhost/",), None, False),
        (("http://[::1]:8000/",), None, False),
        (("http://8.8.8.8/",), None, True),
        (("http://localhost/",), True, True),
        (("http://a.test/",), False, False),
    ],
)
def test_private_addresses_are_denied_unless_a_seed_is_private(seeds, option, denies):
    assert denies_private(CrawlConfig(seeds, deny_private=option)) is denies


@pytest.mark.parametrize(
    ("host", "address", "is_allowed"),
    [
        ("127.0.0.1", ("127.0.0.1", 8000), True),
        ("127.0.0.1", ("127.0.0.1", 8001), False),
        ("a.test", ("127.0.0.1", 8000), False),
        ("b.test", ("93.184.216.34", 80), True),
    ],
)
def test_own_host_is_the_only_private_one(host, address, is_allowed):
    own = policy(seeds=("http://127.0.0.1:8000/",), deny_private=True)
    own.own_hosts = ["127.0.0.1:8000"]

    own.require_public_host("http://127.0.0.1:8000/x")
    with contextlib.nullcontext() if is_allowed else pytest.raises(FetchError):
        own.check_address(host, address)


@pytest.mark.parametrize(
    ("options", "is_checked"),
    [
        ({}, True),
        ({"deny_private": False}, False),
        ({"seeds": ("http://localhost/",)}, False),
        ({"proxy": "proxy.test:3128"}, False),
    ],
)
def test_addresses_are_checked_unless_a_proxy_resolves(options, is_checked):
    check_address = policy(**options).check_address

    assert (check_address is not None) is is_checked


def test_other_host_is_left_to_the_resolver():
    policy().require_public_host("http://a.test/")
    policy(deny_private=False).require_public_host("http://10.0.0.1/")
