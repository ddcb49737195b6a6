"""Every knob of a crawl, once: its type, its unit, its default and why.

Rule: what is said of a knob elsewhere, by the command line or of a file, is made from here
(`crawler_app.commands.config_options`, `crawler_app.config.toml`) or compared with it by a test (the tables
in the documentation).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from crawler_app import __version__
from crawler_app.config import validators
from crawler_app.config.option import REQUIRED, knob, knobs_of
from crawler_app.config.toml import read_config_file
from crawler_app.config.validators import count, seconds
from crawler_app.errors import ConfigError
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

BILLION = 1_000_000_000

# Where the integers of SQLite end, or a little before.
MOST = BILLION * BILLION - 1

# Headings of ``--help``; what every crawl wants stands first and has none.
PACE = "how much, and how quickly"
REACH = "what is crawled"
MANNERS = "manners"
ACCESS = "how it is fetched"
STORAGE = "what is kept"

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


@dataclass(frozen=True)
class CrawlConfig:
    """What to crawl, and how.

    Raises:
        ConfigError: a value cannot be used; the text says which, and what can.

    >>> CrawlConfig(seeds=("HTTP://a.test",)).seeds
    ('http://a.test/',)
    """

    seeds: tuple[str, ...] = knob(
        REQUIRED,
        "where to begin",
        option="",
        metavar="URL",
        rule=validators.require_seeds,
    )

    # Not a fact about the crawl that is kept there: directories move.
    into: str = knob(
        "",
        "directory of the crawl; if it holds a crawl of the same URLs already, they are "
        "crawled again and compared",
        metavar="DIR",
        is_path=True,
        rule=validators.require_path,
        is_saved=False,
    )

    # Each worker costs memory and each waits to be woken, so that a thousand are the most
    # that help.  Precedent: Scrapy 16.
    concurrency: int = knob(
        10,
        "fetches under way at once",
        group=PACE,
        rule=count(1, 1000),
        is_resumable=True,
    )

    # None for 2 (1 if concurrency is 1 or 2 and several hosts are in reach), or for no
    # limit if the only host is this machine.
    per_host: int | None = knob(
        None,
        "of those, to one host",
        group=PACE,
        shown_default="2, or any on loopback alone",
        rule=count(1, 1000),
        is_resumable=True,
    )

    # Between the starts of two fetches; None for 1, or 0 on loopback.
    host_gap_s: float | None = knob(
        None,
        "least time between two fetches from a host, longer if it is slow",
        group=PACE,
        unit="seconds",
        shown_default="1, on loopback 0",
        rule=seconds("a day", may_be_0=True),
        is_resumable=True,
    )

    # Where the crawl ends early; None for no limit.  In all: URLs fetched, whatever they
    # end with (tries of one URL and robots.txt are not counted).  In one run: bytes of
    # bodies after decompression; seconds.
    max_pages: int | None = knob(
        None,
        "stop after so many fetched URLs, those of earlier runs included",
        group=PACE,
        rule=count(0, BILLION - 1),
        is_resumable=True,
    )
    max_bytes: int | None = knob(
        None,
        "stop a run after so many bytes",
        group=PACE,
        unit="bytes",
        rule=count(1, MOST),
        is_resumable=True,
    )
    max_time_s: float | None = knob(
        None,
        "stop a run after so long",
        group=PACE,
        unit="seconds",
        rule=seconds("a year"),
        is_resumable=True,
    )

    # The hosts of the seeds; all hosts of their domains; only what lies below the seeds'
    # directories; or any host.
    scope: str = knob(
        "host",
        "the hosts of the URLs, their domains, what lies below the URLs, or anything",
        group=REACH,
        choices=REACHES,
    )

    # Regular expressions searched in the URL.
    include: tuple[str, ...] = knob(
        (),
        "crawl only URLs in which this regular expression is found; repeatable",
        group=REACH,
        metavar="RE",
        rule=validators.require_patterns,
    )
    exclude: tuple[str, ...] = knob(
        (),
        "crawl no URLs in which this regular expression is found; repeatable",
        group=REACH,
        metavar="RE",
        rule=validators.require_patterns,
    )

    # A redirect is no link.  None for no limit.
    max_depth: int | None = knob(
        None,
        "most links from the start URL",
        group=REACH,
        rule=count(0, BILLION - 1),
    )

    # Precedents: wget 20, browsers 20, RFC 2068 5.
    max_redirects: int = knob(
        10, "most redirects in a row", group=REACH, rule=count(0, 1000)
    )

    # URLs without end: what goes beyond this is refused.  None for no limit.  Real trees
    # stay far below: in the 44,000 pages of the documentation of Python, OpenJDK and
    # Rust no path is deeper than 11 or has a segment more than twice.

    # Precedents: Internet Explorer 2083, sitemaps.org 2048.
    max_url_chars: int | None = knob(
        2000,
        "refuse URLs of more characters than N",
        group=REACH,
        rule=count(1, 8000),
    )

    # Precedent: Heritrix's TooManyPathSegmentsDecideRule 20.
    max_path_segments: int | None = knob(
        40,
        "refuse paths of more segments than N",
        group=REACH,
        rule=count(1, 8000),
    )

    # Side by side or not.  Precedents: Heritrix's PathologicalPathDecideRule 2 (side by
    # side), Nutch 2, grab-site 2.
    max_segment_repeats: int | None = knob(
        4,
        "refuse paths with one segment more than N times",
        group=REACH,
        rule=count(1, 8000),
    )
    max_queries_per_path: int | None = knob(
        1000,
        "refuse more queries of one path than N",
        group=REACH,
        rule=count(1, BILLION - 1),
    )

    # Who asks: the program, and how to reach whoever runs it.
    user_agent: str = knob(
        USER_AGENT,
        "what we say we are",
        group=MANNERS,
        rule=validators.require_user_agent,
        is_resumable=True,
    )
    contact: str = knob(
        "",
        "how to reach you: an e-mail address or a URL",
        group=MANNERS,
        rule=validators.require_contact,
        is_resumable=True,
    )

    robots: bool = knob(
        True,
        "ignore robots.txt, robots meta tags and nofollow, on a site of your own",
        group=MANNERS,
    )
    sitemaps: bool = knob(
        True, "do not read the sitemaps that robots.txt names", group=MANNERS
    )

    # None for whether the seeds are public: a page of the Internet has no business with
    # what is on our network.
    deny_private: bool | None = knob(
        None,
        "connect to public addresses only",
        group=MANNERS,
        shown_default="if the start URLs are public",
        opposite=("--allow-private", "connect to any address"),
        is_resumable=True,
    )

    # Our own keeps its connections; Tornado has "simple", and "curl" where pycurl is
    # installed; "requests" is no AsyncHTTPClient, and runs in threads.
    client: str = knob("pooled", "HTTP client", group=ACCESS, choices=CLIENTS)

    # All but PUBLIC_HEADERS, and the user and password, go to the origins of the seeds
    # only.
    headers: tuple[str, ...] = knob(
        (),
        "send this header too; secrets to the hosts of the URLs only; repeatable",
        group=ACCESS,
        option="--header",
        metavar="'NAME: VALUE'",
        rule=validators.require_headers,
        is_secret=True,
    )
    auth: str = knob(
        "",
        "basic authentication at the hosts of the URLs; asks for the password if it is "
        "not given",
        group=ACCESS,
        metavar="USER[:PASSWORD]",
        rule=validators.require_auth,
        is_secret=True,
    )
    proxy: str = knob(
        "",
        "fetch through this proxy",
        group=ACCESS,
        metavar="[USER:PASSWORD@]HOST:PORT",
        rule=validators.require_proxy,
        is_secret=True,
    )

    # In Netscape's format.
    cookie_file: str = knob(
        "",
        "begin with these cookies (cookies.txt, as of a browser or wget)",
        group=ACCESS,
        option="--cookies",
        metavar="FILE",
        is_path=True,
        rule=validators.require_path,
    )

    # Each is sent to the origin that set it.
    cookies: bool = knob(True, "keep no cookies", group=ACCESS)

    # Until the connection stands, and until the last byte is here.  Precedents: Tornado
    # 20 for each, Scrapy 180 for both.
    connect_timeout_s: float = knob(
        20.0,
        "give up a connection that does not stand after so long",
        group=ACCESS,
        unit="seconds",
        rule=seconds("a day"),
        is_resumable=True,
    )
    request_timeout_s: float = knob(
        60.0,
        "give up a fetch that takes longer",
        group=ACCESS,
        unit="seconds",
        rule=seconds("a day"),
        is_resumable=True,
    )

    # After decompression, so that a small answer cannot fill the memory.
    max_body_bytes: int = knob(
        16 * 1024 * 1024,
        "give up bodies that are longer",
        group=ACCESS,
        unit="bytes",
        rule=count(1, 4 * BILLION - 1),
    )

    # If the fault may pass.  Precedent: Scrapy 3 (RETRY_TIMES 2).
    tries: int = knob(
        3,
        "fetches of a URL before it counts as failed",
        group=ACCESS,
        rule=count(1, 100),
        is_resumable=True,
    )

    # Before the second of them; from it the later pauses grow.
    retry_pause_s: float = knob(
        1.0,
        "pause before the second of them; later ones are longer",
        group=ACCESS,
        unit="seconds",
        rule=seconds("a day", may_be_0=True),
        is_resumable=True,
    )

    # What is kept besides the frontier: every exchange, in files of about so many bytes;
    # and the words of every page.  Precedent of the size: the WARC standard advises 1 GB.
    archive: bool = knob(True, "keep no WARC files", group=STORAGE)
    max_archive_file_bytes: int = knob(
        BILLION,
        "begin another WARC file when one has so many",
        group=STORAGE,
        unit="bytes",
        rule=count(1, MOST),
    )
    index: bool = knob(True, "keep no full-text index", group=STORAGE)

    def __post_init__(self) -> None:
        for each in knobs_of(type(self)):
            each.check(getattr(self, each.name), each.name)
        validators.require_login(self.auth, self.headers)
        seeds = dict.fromkeys(map(canonicalize, self.seeds))
        object.__setattr__(self, "seeds", tuple(seeds))

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
        return [validators.header_field(header) for header in self.headers]

    def to_json(self) -> str:
        """Return the text from which `from_json` makes an equal configuration.

        The directory is not in it (``into``).
        """
        saved = [each.name for each in knobs_of(type(self)) if each.is_saved]
        return json.dumps({name: getattr(self, name) for name in saved}, indent=2)

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

    @classmethod
    def from_toml(cls, path: Path | str) -> Self:
        """Read a configuration that somebody wrote as a TOML file.

        Its keys are the names of the fields, or of the command's options without their
        dashes; relative paths in it begin at its directory.

        Raises:
            ConfigError: the file cannot be read, or says what cannot be.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     path = Path(directory, "site.toml")
        ...     _ = path.write_text('seeds = "http://a.test/"\\nmax-pages = 9')
        ...     CrawlConfig.from_toml(path).max_pages
        9
        """
        values = read_config_file(path, knobs_of(cls))
        try:
            return cls(**{"seeds": ()} | values)
        except ConfigError as exc:
            raise ConfigError(f"{path}: {exc}") from None


def _is_mail_address(contact: str) -> bool:
    return "@" in contact and not urlsplit(contact).scheme
