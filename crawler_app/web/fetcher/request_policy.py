"""Request headers, credentials, cookies and the proxy.

No socket and no clock.  Rule: possible secrets (a user name and password, and every header
that is not one of `crawler_app.base.config.PUBLIC_HEADERS`) are sent only to the origins of the
seeds: not to another port of the same host, nor over http if the seed is https.  The user
name and password of a proxy are sent only to the proxy.
"""

from collections.abc import Collection, Mapping
from typing import Any, cast
from urllib.parse import unquote

from tornado.httputil import HTTPHeaders

from crawler_app.base.config import NEVER, PUBLIC_HEADERS, REQUESTS, CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.urls import host_of, origin_of
from crawler_app.web.fetcher.addresses import (
    is_private_host,
    require_public,
    require_public_host,
)
from crawler_app.web.fetcher.cookie_files import read_cookies
from crawler_app.web.fetcher.cookies import CookieStore, OnCookies
from crawler_app.web.httpclient.dialing import AddressCheck
from crawler_app.web.httpclient.request import Proxy, basic_authorization

__all__ = ["RequestPolicy", "denies_private", "proxy_of"]

ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"


class RequestPolicy:
    """Provides the request headers of a crawl, stores its cookies, and checks addresses.

    Args:
        accept_encoding: The content codings that the client can decode.
        on_cookies: As `CookieStore` has it.

    Raises:
        ConfigError: the client does not support an option, or the cookie file cannot be
            read.

    Attributes:
        proxy: None if there is none.
        own_hosts: Hosts with their ports that are allowed although they are private.
        cookies: What servers have set; None if cookies are not enabled.
        remarks: What the file of cookies has that is not used.
        storage: The names and values that it has for the localStorage of origins.
        check_address: Must be called with a host and each of its addresses before
            connecting; raises FetchError to refuse.  None if every address is allowed.

    >>> config = CrawlConfig(("http://a.test/",), headers=("X-Key: 7", "Accept: a/b"))
    >>> policy = RequestPolicy(config, "gzip")
    >>> policy.headers_for("http://a.test/page").get("X-Key")
    '7'
    >>> sorted(policy.headers_for("http://b.test/"))
    ['Accept', 'Accept-Encoding', 'User-Agent']
    """

    def __init__(
        self,
        config: CrawlConfig,
        accept_encoding: str,
        on_cookies: OnCookies | None = None,
    ) -> None:
        self.proxy = proxy_of(config.proxy)
        _refuse_unsupported(config, self.proxy)
        self._denies_private = denies_private(config)
        self.own_hosts: Collection[str] = ()
        # If a proxy resolves the names, checking the addresses is the proxy's task.
        is_checked = self._denies_private and self.proxy is None
        self.check_address: AddressCheck | None = (
            self._require_allowed if is_checked else None
        )
        defaults = {
            "User-Agent": config.full_user_agent,
            "Accept": ACCEPT,
            "Accept-Encoding": accept_encoding,
        }
        public = [field for field in config.header_fields if _is_public(field)]
        secret = [field for field in config.header_fields if not _is_public(field)]
        if config.auth:
            username, _, password = config.auth.partition(":")
            secret.append(("Authorization", basic_authorization(username, password)))
        self._public = _headers(defaults, public)
        self._own = _headers(defaults, public + secret)
        self._seed_origins = frozenset(map(origin_of, config.seeds))
        # Empty if all origins get the same headers, which saves a look-up per request.
        self._own_origins = self._seed_origins if secret else frozenset()
        self.cookies: CookieStore | None = None
        self.remarks: list[str] = []
        self.storage: dict[str, list[tuple[str, str]]] = {}
        if config.cookies:
            self.cookies = CookieStore(on_set=on_cookies)
            if config.cookie_file:
                read = read_cookies(config.cookie_file)
                self.cookies.add(read.cookies)
                self.remarks, self.storage = read.remarks, read.storage
                if read.storage and config.render == NEVER:
                    self.remarks.append(
                        f"the localStorage in {config.cookie_file} needs --render"
                    )

    def headers_for(
        self, url: str, extra: Mapping[str, str] | None = None
    ) -> HTTPHeaders:
        """Return the headers of one request.

        The object is shared between requests: do not modify it.

        Args:
            url: A canonical URL.
            extra: For this request only; they replace others of the same name, and so does each
                of its cookies.
        """
        headers = self._public
        if self._own_origins and origin_of(url) in self._own_origins:
            headers = self._own
        cookie = "" if self.cookies is None else self.cookies.header_for(url)
        if not cookie and not extra:
            return headers
        headers = headers.copy()
        if cookie:
            headers["Cookie"] = _joined_cookies(headers.get("Cookie", ""), cookie)
        for name, value in (extra or {}).items():
            if name == "Cookie":
                value = _joined_cookies(headers.get(name, ""), value)
            headers[name] = value
        return headers

    def cookies_for(self, url: str) -> str:
        """Return the Cookie header that a request for a URL would have now."""
        return self.headers_for(url).get("Cookie", "")

    def add_secret_header(self, name: str, value: str) -> None:
        """Send a header to the origins of the seeds from now on, in place of any before."""
        self._own = self._own.copy()
        self._own[name] = value
        self._own_origins = self._seed_origins

    def take_cookies(self, url: str, headers: Mapping[str, str]) -> None:
        """Store the cookies that a response has set, if cookies are enabled.

        Args:
            headers: As a client has received them: `tornado.httputil.HTTPHeaders`, which
                has each cookie.
        """
        if self.cookies is not None and "Set-Cookie" in headers:
            self.cookies.take(url, cast(HTTPHeaders, headers).get_list("Set-Cookie"))

    def require_public_host(self, url: str) -> None:
        """Raise FetchError if private hosts are denied and the URL's host is one by name.

        See `crawler_app.web.fetcher.addresses.require_public_host`; resolved addresses are
        checked by ``check_address``.

        Raises:
            FetchError: ``private_address``.
        """
        host = host_of(url)
        if self._denies_private and host not in self.own_hosts:
            require_public_host(host)

    def _require_allowed(self, host: str, sockaddr: Any) -> None:
        """Raise FetchError if an address is neither public nor one of our own."""
        port = sockaddr[1] if isinstance(sockaddr, tuple) else 0
        if f"{host}:{port}" not in self.own_hosts:
            require_public(host, sockaddr)


def denies_private(config: CrawlConfig) -> bool:
    """Return whether addresses that are not public are refused.

    By default they are, unless a seed is a private host, which shows the user's intention.

    >>> denies_private(CrawlConfig(("http://a.test/",)))
    True
    >>> denies_private(CrawlConfig(("http://a.test/", "http://localhost:8000/")))
    False
    """
    if config.deny_private is not None:
        return config.deny_private
    return not any(is_private_host(host_of(seed)) for seed in config.seeds)


def proxy_of(text: str) -> Proxy | None:
    """Parse the proxy option of `CrawlConfig`; percent escapes are decoded.

    An IPv6 address keeps its brackets.

    >>> proxy_of("http://me:p%40ss@proxy.test:3128")
    Proxy(host='proxy.test', port=3128, username='me', password='p@ss', is_socks=False)
    >>> proxy_of("[::1]:8080").host
    '[::1]'
    """
    if not text:
        return None
    scheme, _, text = text.rstrip("/").rpartition("://")
    userinfo, _, address = text.rpartition("@")
    host, _, port = address.rpartition(":")
    username, _, password = userinfo.partition(":")
    return Proxy(
        host,
        int(port),
        unquote(username) or None,
        unquote(password),
        is_socks=scheme.startswith("socks5"),
    )


def _refuse_unsupported(config: CrawlConfig, proxy: Proxy | None) -> None:
    if config.client_key and not config.client_cert:
        raise ConfigError(
            "--client-key is the key of a certificate; give that with --client-cert"
        )
    unsupported = ""
    if config.client == "simple" and proxy is not None:
        unsupported = "proxies"
    elif config.client == REQUESTS and proxy is not None and proxy.is_socks:
        unsupported = "SOCKS"
    elif config.client not in ("pooled", "simple") and (
        config.ca_file or config.client_cert
    ):
        unsupported = "--ca and --client-cert"
    if unsupported:
        raise ConfigError(
            f"the client {config.client!r} does not support {unsupported}; 'pooled' does"
        )


def _is_public(field: tuple[str, str]) -> bool:
    return field[0].lower() in PUBLIC_HEADERS


def _headers(defaults: Mapping[str, str], given: list[tuple[str, str]]) -> HTTPHeaders:
    """Return the given headers, plus the defaults that they do not replace."""
    names = {name.lower() for name, _ in given}
    headers = HTTPHeaders()
    for name, value in defaults.items():
        if name.lower() not in names:
            headers.add(name, value)
    for name, value in given:
        headers.add(name, value)
    return headers


def _joined_cookies(before: str, after: str) -> str:
    """Return one Cookie header; the later cookies replace others of the same name."""
    if not before:
        return after
    names = {pair.partition("=")[0].strip() for pair in after.split(";")}
    kept = [
        pair.strip()
        for pair in before.split(";")
        if pair.partition("=")[0].strip() not in names
    ]
    return "; ".join([*kept, after])
