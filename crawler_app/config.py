"""Every knob of a crawl, once: its type, its unit, its default and why."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from crawler_app import __version__, config_checks
from crawler_app.errors import ConfigError, UrlError
from crawler_app.models import REACHES
from crawler_app.urls import canonicalize

__all__ = ["CLIENTS", "PRODUCT", "PUBLIC_HEADERS", "REQUESTS", "CrawlConfig"]

# Our name, by which robots.txt and pages may address us.
PRODUCT = "gencoro-crawler"

USER_AGENT = f"{PRODUCT}/{__version__}"

# Implementations of Tornado's AsyncHTTPClient, and one that is none, but a library of
# its own.
REQUESTS = "requests"
CLIENTS = ("pooled", "simple", "curl", REQUESTS)

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
    "max_path_segments": range(1, 8001),
    "max_segment_repeats": range(1, 8001),
    "max_queries_per_path": range(1, BILLION),
    "max_archive_file_bytes": range(1, BILLION * BILLION),
}
A_DAY_S = 24 * 3600.0
A_YEAR_S = 365 * A_DAY_S

# Headers that every host may get, as it does from any browser: what is wanted, in which
# language, how fresh, and who asks.  Whatever else a user sets may be a key, and only
# the sites that the crawl begins with are known to be meant.  Referer is not here: what
# it names may be nobody else's business.
PUBLIC_HEADERS = frozenset(
    (
        "accept",
        "accept-charset",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "dnt",
        "from",
        "pragma",
        "sec-gpc",
        "upgrade-insecure-requests",
        "user-agent",
    )
)

# Options that no error shows.
SECRETS = ("auth", "headers", "proxy")


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

    # Where the crawl ends early.  In all: URLs fetched, whatever they end with (tries of
    # one URL and robots.txt are not counted).  In one run: bytes of bodies after
    # decompression; seconds.  None for no limit.
    max_pages: int | None = None
    max_bytes: int | None = None
    max_time_s: float | None = None

    # URLs without end: what goes beyond this is refused.  None for no limit.  Real trees
    # stay far below: in the 44,000 pages of the documentation of Python, OpenJDK and
    # Rust no path is deeper than 11 or has a segment more than twice.

    # Characters.  Precedents: Internet Explorer 2083, sitemaps.org 2048.
    max_url_chars: int | None = 2000

    # Segments of a path.  Precedent: Heritrix's TooManyPathSegmentsDecideRule 20.
    max_path_segments: int | None = 40

    # Times that one segment is in a path, side by side or not.  Precedents: Heritrix's
    # PathologicalPathDecideRule 2 (side by side), Nutch 2, grab-site 2.
    max_segment_repeats: int | None = 4

    # Different queries of one path.
    max_queries_per_path: int | None = 1000

    # Whether robots.txt, robots meta tags and rel=nofollow are obeyed, and whether the
    # sitemaps that robots.txt names are read.
    robots: bool = True
    sitemaps: bool = True

    # Fetches under way at once.  Precedent: Scrapy 16.
    concurrency: int = 10

    # Of those, to one host; None for 2 (1 if concurrency is 1 or 2 and several hosts are
    # in reach), or for no limit if the only host is this machine.
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

    # Headers of every request, as "Name: value".  All but PUBLIC_HEADERS, and the user
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
    # and the words of every page.
    archive: bool = True
    max_archive_file_bytes: int = BILLION
    index: bool = True

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
        config_checks.require_types(self, secret=SECRETS)
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
        for name in ("include", "exclude"):
            for pattern in getattr(self, name):
                config_checks.require_pattern(name, pattern)
        self._require("client", self.client in CLIENTS, " or ".join(CLIENTS))
        self._require("scope", self.scope in REACHES, " or ".join(REACHES))
        is_agent = config_checks.is_line(self.user_agent)
        self._require("user_agent", is_agent, "one line of ASCII")
        is_contact = not self.contact or (
            config_checks.is_line(self.contact) and not set("()\\") & set(self.contact)
        )
        self._require("contact", is_contact, "an e-mail address or a URL")

    def _check_access(self) -> None:
        for number, header in enumerate(self.headers, 1):
            config_checks.require_header(number, header)
        config_checks.require_login(self.auth, self.headers)
        config_checks.require_proxy(self.proxy)

    def _check_numbers(self) -> None:
        for name, counts in RANGE_BY_COUNT.items():
            value = getattr(self, name)
            wanted = f"a whole number, at least {counts[0]} and at most {counts[-1]}"
            self._require(name, value is None or value in counts, wanted)
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
        """Whether only the owner should be able to read it, and what was sent by it."""
        names = {name.lower() for name, _ in self.header_fields}
        has_password = bool(self.auth) or "@" in self.proxy
        return has_password or bool(self.cookie_file) or not names <= PUBLIC_HEADERS

    @property
    def header_fields(self) -> list[tuple[str, str]]:
        """Names and values of the headers, in order."""
        return [config_checks.header_field(header) for header in self.headers]

    def _require(self, name: str, is_right: bool, wanted: str) -> None:
        config_checks.require(name, getattr(self, name), is_right, wanted)

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
            if not isinstance(values["seeds"], list):
                raise TypeError("its seeds are no list")
            # An option that is younger than the file has its default.
            for name, value in values.items():
                if isinstance(value, list):
                    values[name] = tuple(value)
            return cls(**values)
        except (
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            RecursionError,
        ) as exc:
            raise ConfigError(f"not a saved crawl configuration: {exc!r}") from None


def _is_mail_address(contact: str) -> bool:
    return "@" in contact and not urlsplit(contact).scheme
