"""Every knob of a crawl, once: its type, its unit, its default and why."""

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from crawler_app import __version__
from crawler_app.errors import ConfigError, UrlError
from crawler_app.models import REACHES
from crawler_app.urls import canonicalize

__all__ = ["PRODUCT", "CrawlConfig"]

# Our name, by which robots.txt and pages may address us.
PRODUCT = "gencoro-crawler"

USER_AGENT = f"{PRODUCT}/{__version__}"

# Implementations of Tornado's AsyncHTTPClient, by the names that people give.
CLASS_BY_CLIENT = {
    "pooled": "crawler_app.httpclient.PooledAsyncHTTPClient",
    "simple": "tornado.simple_httpclient.SimpleAsyncHTTPClient",
    "curl": "tornado.curl_httpclient.CurlAsyncHTTPClient",
}
# And one that is none of those, but a library of its own.
REQUESTS = "requests"
CLIENTS = (*CLASS_BY_CLIENT, REQUESTS)

# What a count may be.  Each worker costs memory and each waits to be woken, so that a
# thousand are the most that help; the others end where SQLite's integers do, or before.
BILLION = 1_000_000_000
RANGE_BY_COUNT = {
    "concurrency": range(1, 1001),
    "tries": range(1, 101),
    "max_body_bytes": range(1, 4 * BILLION),
    "max_redirects": range(1001),
    "max_pages": range(BILLION),
    "max_depth": range(BILLION),
    "max_bytes": range(1, BILLION * BILLION),
    "per_host": range(1, 1001),
    "max_url_chars": range(1, 8001),
    "max_path_repeats": range(1, BILLION),
    "max_queries": range(BILLION),
    "max_archive_file_bytes": range(1, BILLION * BILLION),
}
A_DAY_S = 24 * 3600.0
A_YEAR_S = 365 * A_DAY_S
UNLIMITED = (
    "max_pages",
    "max_depth",
    "max_bytes",
    "per_host",
    "max_url_chars",
    "max_path_repeats",
    "max_queries",
)
LISTS = ("seeds", "include", "exclude", "headers")

# RFC 9110, 5.1 and 5.5: a token, and text without control characters.
_HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[ \t]*[\x20-\x7e\x80-\xff]*")
_PROXY = re.compile(r"(?:http://)?(?:[^/@\s]*@)?(?:[^/@:\s]+|\[[^/@\s]+\]):\d+/?")

# Headers that only a site's owner should get.
SECRET_HEADERS = ("authorization", "cookie", "proxy-authorization")


@dataclass(frozen=True)
class CrawlConfig:
    """What to crawl, and how.

    Raises:
        ConfigError: a value cannot be used; the text says which, and what can.

    >>> CrawlConfig(seeds=("HTTP://a.test",)).seeds
    ('http://a.test/',)
    """

    # Where to begin.
    seeds: tuple[str, ...]

    # How far to go: the hosts of the seeds; all hosts of their domains; only what lies
    # below the seeds' directories; or any host.
    scope: str = "host"

    # Regular expressions searched in the URL.
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    # Links from a seed; a redirect is none.  None for no limit.
    max_depth: int | None = None

    # Where the crawl ends early: fetches in all, whatever they end with; bytes of bodies
    # after decompression; seconds of one run.  None for no limit.
    max_pages: int | None = None
    max_bytes: int | None = None
    max_time_s: float | None = None

    # URLs without end: longer ones, the same segment more often in a path, and more
    # different queries of one path are refused.  None for no limit.
    max_url_chars: int | None = 2000
    max_path_repeats: int | None = 4
    max_queries: int | None = 1000

    # Whether robots.txt, robots meta tags and rel=nofollow are obeyed, and whether the
    # sitemaps that robots.txt names are read.
    robots: bool = True
    sitemaps: bool = True

    # Fetches under way at once.  Ten is what browsers and Scrapy (16) are near to.
    concurrency: int = 10

    # Of those, to one host; None for 2, or as many as there are on loopback alone.
    per_host: int | None = None

    # Seconds between the starts of two fetches from one host; None for 1, or 0 on
    # loopback.
    host_gap_s: float | None = None

    # Redirects one after the other.  Precedents: wget 20, browsers 20, RFC 2068 5.
    max_redirects: int = 10

    # Who asks: the program, and how to reach whoever runs it (an address or a URL).
    user_agent: str = USER_AGENT
    contact: str = ""

    # An AsyncHTTPClient: our own, which keeps its connections, or Tornado's "simple", or
    # "curl" where pycurl is installed; or "requests", which is none, in threads.
    client: str = "pooled"

    # Whether addresses that are not public are refused; None for whether the seeds are
    # public.
    deny_private: bool | None = None

    # Headers of every request, as "Name: value".  Those that are secrets, and the user
    # and password ("user:password"), go to the origins of the seeds only.
    headers: tuple[str, ...] = ()
    auth: str = ""

    # host:port of a forward proxy; with user:password@ before it, if it wants that.
    proxy: str = ""

    # Whether cookies are kept and sent, each to the origin that set it; and a file of
    # them to begin with, in Netscape's format.
    cookies: bool = True
    cookie_file: str = ""

    # What is kept besides the frontier: every exchange, in files of about so many bytes;
    # and the words of every page, on request those of scripts without spaces too.
    archive: bool = True
    max_archive_file_bytes: int = BILLION
    index: bool = True
    trigram: bool = False

    # Seconds until a connection stands, and until the last byte is here.
    connect_timeout_s: float = 20.0
    request_timeout_s: float = 60.0

    # Bytes of a body after decompression; longer ones are given up.
    max_body_bytes: int = 16 * 1024 * 1024

    # Fetches of one URL before it counts as failed, if the fault may pass; and seconds
    # before the second of them, from which the later pauses grow.
    tries: int = 3
    retry_pause_s: float = 1.0

    def __post_init__(self) -> None:
        self._check_texts()
        self._check_access()
        self._check_numbers()
        if not self.seeds:
            raise ConfigError("a crawl needs a URL to start from")
        try:
            seeds = dict.fromkeys(map(canonicalize, self.seeds))
        except UrlError as exc:
            raise ConfigError(f"cannot start from this URL: {exc}") from None
        object.__setattr__(self, "seeds", tuple(seeds))

    def _check_texts(self) -> None:
        for name in LISTS:
            value = getattr(self, name)
            is_tuple = isinstance(value, tuple) and all(
                isinstance(text, str) for text in value
            )
            self._require(name, is_tuple, "a tuple of strings")
        for name in ("include", "exclude"):
            for pattern in getattr(self, name):
                _require_pattern(name, pattern)
        self._require("client", self.client in CLIENTS, " or ".join(CLIENTS))
        self._require("scope", self.scope in REACHES, " or ".join(REACHES))
        self._require("user_agent", _is_line(self.user_agent), "one line of ASCII")
        is_contact = not self.contact or (
            _is_line(self.contact) and not set("()\\") & set(self.contact)
        )
        self._require("contact", is_contact, "an e-mail address or a URL")
        for header in self.headers:
            if not _HEADER.fullmatch(header):
                raise ConfigError(f"headers has {header!r}; it must be 'Name: value'")

    def _check_access(self) -> None:
        is_auth = not self.auth or (":" in self.auth and self.auth.isprintable())
        # Not the value: it is a secret.
        if not is_auth:
            raise ConfigError("auth must be user:password, in one line")
        if self.proxy and not _PROXY.fullmatch(self.proxy):
            raise ConfigError("proxy must be host:port, or user:password@host:port")
        for name in ("robots", "sitemaps", "cookies", "archive", "index", "trigram"):
            value = getattr(self, name)
            self._require(name, isinstance(value, bool), "True or False")
        is_choice = self.deny_private in (None, True, False)
        self._require("deny_private", is_choice, "True, False or None")

    def _check_numbers(self) -> None:
        for name, counts in RANGE_BY_COUNT.items():
            value = getattr(self, name)
            is_count = isinstance(value, int) and value in counts
            is_count = is_count or (value is None and name in UNLIMITED)
            wanted = f"a whole number, at least {counts[0]} and at most {counts[-1]}"
            self._require(name, is_count, wanted)
        for name in ("host_gap_s", "retry_pause_s"):
            value = getattr(self, name)
            is_wait = value is None or 0 <= value <= A_DAY_S
            self._require(
                name, is_wait, "a number of seconds, 0 or more, at most a day"
            )
        for name in ("connect_timeout_s", "request_timeout_s"):
            value = getattr(self, name)
            is_time = 0 < value <= A_DAY_S
            self._require(name, is_time, "a number of seconds above 0, at most a day")
        is_time = self.max_time_s is None or 0 < self.max_time_s <= A_YEAR_S
        self._require("max_time_s", is_time, "seconds above 0, at most a year")

    @property
    def full_user_agent(self) -> str:
        """What we say we are, and how to reach whoever runs us.

        >>> CrawlConfig(("http://a.test",), contact="me@a.test").full_user_agent
        ... # doctest: +ELLIPSIS
        'gencoro-crawler/... (+mailto:me@a.test)'
        """
        if not self.contact:
            return self.user_agent
        scheme = "mailto:" if _is_mail_address(self.contact) else ""
        return f"{self.user_agent} (+{scheme}{self.contact})"

    @property
    def has_secrets(self) -> bool:
        """Whether only the owner should be able to read it."""
        names = (header.partition(":")[0].lower() for header in self.headers)
        has_password = "@" in self.proxy or bool(self.auth)
        return has_password or any(name in SECRET_HEADERS for name in names)

    def _require(self, name: str, is_right: bool, wanted: str) -> None:
        if not is_right:
            raise ConfigError(f"{name} is {getattr(self, name)!r}; it must be {wanted}")

    def to_json(self) -> str:
        """Return the text from which `from_json` makes an equal configuration."""
        return json.dumps(dataclasses.asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a configuration that `to_json` wrote.

        Raises:
            ConfigError: the text is something else.
        """
        try:
            values: dict[str, Any] = json.loads(text)
            for name in LISTS:
                # An option that is younger than the file has its default.
                if name in values or name == "seeds":
                    values[name] = tuple(values[name])
            return cls(**values)
        except (
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            RecursionError,
        ) as exc:
            raise ConfigError(f"not a saved crawl configuration: {exc!r}") from None


def _require_pattern(name: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as exc:
        raise ConfigError(
            f"{name} has {pattern!r}, which is no regular expression: {exc}"
        ) from None


def _is_line(text: str) -> bool:
    return text.isascii() and text.isprintable() and bool(text.strip())


def _is_mail_address(contact: str) -> bool:
    return "@" in contact and not urlsplit(contact).scheme
