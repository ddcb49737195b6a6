"""Every knob of a crawl, once: its type, its unit, its default and why."""

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Any, Self

from crawler_app import __version__
from crawler_app.errors import ConfigError, UrlError
from crawler_app.urls import canonicalize

__all__ = ["CrawlConfig"]

USER_AGENT = f"gencoro-crawler/{__version__}"

# Implementations of Tornado's AsyncHTTPClient, by the names that people give.
CLASS_BY_CLIENT = {
    "pooled": "crawler_app.httpclient.PooledAsyncHTTPClient",
    "simple": "tornado.simple_httpclient.SimpleAsyncHTTPClient",
    "curl": "tornado.curl_httpclient.CurlAsyncHTTPClient",
}
CLIENTS = tuple(CLASS_BY_CLIENT)

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
}
A_DAY_S = 24 * 3600.0
UNLIMITED = ("max_pages", "max_depth")


@dataclass(frozen=True)
class CrawlConfig:
    """What to crawl, and how.

    Raises:
        ConfigError: a value cannot be used; the text says which, and what can.

    >>> CrawlConfig(seeds=("HTTP://a.test",)).seeds
    ('http://a.test/',)
    """

    # Where to begin; their hosts are the scope.
    seeds: tuple[str, ...]

    # Fetches under way at once.  Ten is what browsers and Scrapy (16) are near to.
    concurrency: int = 10

    # Fetches in all, whatever they end with; None for no limit.
    max_pages: int | None = None

    # Links from a seed; a redirect is none.  None for no limit.
    max_depth: int | None = None

    # Redirects one after the other.  Precedents: wget 20, browsers 20, RFC 2068 5.
    max_redirects: int = 10

    # Seconds between the starts of two fetches from one host; None for 1, or 0 on
    # loopback.
    host_gap_s: float | None = None

    # Regular expressions searched in the URL.
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    # An AsyncHTTPClient: our own, which keeps its connections, or Tornado's "simple", or
    # "curl" where pycurl is installed.
    client: str = "pooled"

    # Seconds until a connection stands, and until the last byte is here.
    connect_timeout_s: float = 20.0
    request_timeout_s: float = 60.0

    # Bytes of a body after decompression; longer ones are given up.
    max_body_bytes: int = 16 * 1024 * 1024

    # Fetches of one URL before it counts as failed, if the fault may pass; and seconds
    # before the second of them, from which the later pauses grow.
    tries: int = 3
    retry_pause_s: float = 1.0

    user_agent: str = USER_AGENT

    def __post_init__(self) -> None:
        self._check_texts()
        self._check_numbers()
        if not self.seeds:
            raise ConfigError("a crawl needs a URL to start from")
        try:
            seeds = dict.fromkeys(map(canonicalize, self.seeds))
        except UrlError as exc:
            raise ConfigError(f"cannot start from this URL: {exc}") from None
        object.__setattr__(self, "seeds", tuple(seeds))

    def _check_texts(self) -> None:
        for name in ("seeds", "include", "exclude"):
            value = getattr(self, name)
            is_tuple = isinstance(value, tuple) and all(
                isinstance(text, str) for text in value
            )
            self._require(name, is_tuple, "a tuple of strings")
        for name in ("include", "exclude"):
            for pattern in getattr(self, name):
                _require_pattern(name, pattern)
        self._require("client", self.client in CLIENTS, " or ".join(CLIENTS))
        agent = self.user_agent
        is_header = agent.isascii() and agent.isprintable() and bool(agent.strip())
        self._require("user_agent", is_header, "one line of ASCII")

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
            for name in ("seeds", "include", "exclude"):
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
