"""Every knob of a crawl, once: its type, its unit, its default and why."""

import dataclasses
import json
import math
import re
from dataclasses import dataclass
from typing import Any, Self

from crawler_app import __version__
from crawler_app.errors import ConfigError, UrlError
from crawler_app.urls import canonicalize

__all__ = ["CrawlConfig"]

USER_AGENT = f"gencoro-crawler/{__version__}"

CLIENTS = ("simple", "curl")


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

    # Tornado's AsyncHTTPClient: "simple", or "curl" where pycurl is installed.
    client: str = "simple"

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
        if not self.seeds:
            raise ConfigError("a crawl needs a URL to start from")
        try:
            seeds = tuple(map(canonicalize, self.seeds))
        except UrlError as exc:
            raise ConfigError(f"cannot start from this URL: {exc}") from None
        object.__setattr__(self, "seeds", tuple(dict.fromkeys(seeds)))
        for name in ("concurrency", "tries", "max_body_bytes"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        for name in ("max_pages", "max_depth", "max_redirects"):
            value = getattr(self, name)
            self._require(name, value is None or value >= 0, "0 or more")
        for name in ("host_gap_s", "retry_pause_s"):
            value = getattr(self, name)
            is_wait = value is None or (value >= 0 and math.isfinite(value))
            self._require(name, is_wait, "a number of seconds, 0 or more")
        for name in ("connect_timeout_s", "request_timeout_s"):
            value = getattr(self, name)
            is_time = value > 0 and math.isfinite(value)
            self._require(name, is_time, "a number of seconds above 0")
        self._require("client", self.client in CLIENTS, " or ".join(CLIENTS))
        is_header = self.user_agent.isascii() and self.user_agent.isprintable()
        is_header = is_header and bool(self.user_agent.strip())
        self._require("user_agent", is_header, "one line of ASCII")
        for name in ("include", "exclude"):
            for pattern in getattr(self, name):
                _require_pattern(name, pattern)

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
        except (ValueError, TypeError, KeyError, AttributeError) as exc:
            raise ConfigError(f"not a saved crawl configuration: {exc}") from None


def _require_pattern(name: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as exc:
        raise ConfigError(
            f"{name} has {pattern!r}, which is no regular expression: {exc}"
        ) from None
