"""Every option of a crawl: its type, unit, default and help.

Rule: each option is defined here only.  Command-line options and keys of a file are made
from it (`crawler_app.commands.config_options`, `crawler_app.base.config.toml`), and a test
compares the tables in the documentation with it.

Inside: `option`, the metadata of one option; `units` of durations and sizes; `validators`;
`toml`, configuration files; `found_file`, the one in the working directory; `login_recipe`, how
to log in; `secret_values`, which files refer to by name.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from crawler_app import __version__
from crawler_app.base.config import validators
from crawler_app.base.config.option import REQUIRED, option, options_of
from crawler_app.base.config.toml import read_config_file
from crawler_app.base.config.units import BYTES, SECONDS
from crawler_app.base.config.validators import count, seconds, size
from crawler_app.base.errors import ConfigError
from crawler_app.base.http_headers import PRODUCT
from crawler_app.base.models import REACHES
from crawler_app.base.storage.objects import is_url
from crawler_app.base.urls import canonicalize

__all__ = [
    "ALWAYS",
    "ANY",
    "CLIENTS",
    "NEVER",
    "NONE",
    "OWN",
    "PUBLIC_HEADERS",
    "REQUESTS",
    "SCOPE",
    "CrawlConfig",
]

USER_AGENT = f"{PRODUCT}/{__version__}"

# Implementations of Tornado's AsyncHTTPClient, and the library requests.
REQUESTS = "requests"
OWN, ANY, NONE = ASSETS = ("own", "any", "none")
NEVER, ALWAYS = "never", "always"
RENDERS = (NEVER, "auto", ALWAYS)

CLIENTS = ("pooled", "simple", "curl", REQUESTS)

BILLION = 1_000_000_000

# A little below the largest integer of SQLite.
MOST = BILLION * BILLION - 1

# Groups of ``--help``; the options that every crawl needs come first, without a group.
LIMITS = "limits and speed"
SCOPE = "what to crawl"
POLITENESS = "politeness and safety"
FETCHING = "fetching"
STORAGE = "storage"

# Headers that are sent to every host, as browsers do.  Any other header may be a secret,
# and is sent to the origins of the start URLs only.  Referer is not here: the URL in it
# may be private.
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


def _path(help: str, metavar: str = "FILE", **more: Any) -> Any:
    """Return an option for a file of this machine; each run may name another."""
    return option(
        "",
        help,
        metavar=metavar,
        is_path=True,
        rule=validators.require_path,
        is_resumable=True,
        is_local=True,
        **more,
    )


@dataclass(frozen=True)
class CrawlConfig:
    """The configuration of a crawl.

    Raises:
        ConfigError: a value is not allowed.

    >>> CrawlConfig(seeds=("HTTP://a.test",)).seeds
    ('http://a.test/',)
    """

    seeds: tuple[str, ...] = option(
        REQUIRED,
        "start URL",
        flag="",
        metavar="URL",
        rule=validators.require_seeds,
        is_common=True,
    )

    # Not saved: directories may be moved.
    into: str = option(
        "",
        "directory of the crawl; if it already holds a crawl of the same URLs, fetch "
        "what has changed and compare; with --frontier also object storage, such as "
        "s3://BUCKET/PREFIX",
        metavar="DIR",
        is_path=True,
        rule=validators.require_place,
        is_saved=False,
        is_local=True,
        is_common=True,
    )

    # Each worker costs memory and wake-ups; more than a thousand do not help.
    # Precedent: Scrapy 16.
    concurrency: int = option(
        10,
        "maximum number of concurrent fetches",
        group=LIMITS,
        rule=count(1, 1000),
        is_resumable=True,
        is_local=True,
        is_common=True,
    )

    # Several share a frontier in PostgreSQL.
    processes: int = option(
        1,
        "number of worker processes; several need PostgreSQL",
        group=LIMITS,
        rule=count(1, 64),
        is_resumable=True,
        is_local=True,
    )

    # None for 2 (1 if concurrency is 1 or 2 and several hosts are in scope), or for no
    # limit if the only host is this machine.
    per_host: int | None = option(
        None,
        "maximum number of concurrent fetches from one host",
        group=LIMITS,
        shown_default="2, no limit on loopback",
        rule=count(1, 1000),
        is_resumable=True,
    )

    # Between the starts of two fetches; None for 1, or 0 on loopback.
    host_gap_s: float | None = option(
        None,
        "minimum time between two fetches from one host; grows if the host is slow",
        group=LIMITS,
        unit=SECONDS,
        shown_default="1s, on loopback 0",
        rule=seconds("a day", least_s=0.0),
        is_resumable=True,
        is_common=True,
    )

    # None for no limit.  max_pages counts fetched URLs with any outcome over all runs;
    # retries, robots.txt and what pages need are not counted.  max_bytes (of bodies after decompression)
    # and max_time_s are for one run.
    max_pages: int | None = option(
        None,
        "maximum number of fetched URLs, including those of earlier runs",
        group=LIMITS,
        rule=count(0, BILLION - 1),
        is_resumable=True,
        is_common=True,
    )
    max_bytes: int | None = option(
        None,
        "maximum total size of the bodies fetched in one run",
        group=LIMITS,
        unit=BYTES,
        rule=size(MOST),
        is_resumable=True,
    )
    max_time_s: float | None = option(
        None,
        "maximum duration of one run",
        group=LIMITS,
        unit=SECONDS,
        rule=seconds("a year"),
        is_resumable=True,
        is_local=True,
        is_common=True,
    )

    scope: str = option(
        "host",
        "crawl the hosts of the start URLs, their domains, the paths below them, or "
        "any host",
        group=SCOPE,
        choices=REACHES,
        is_common=True,
    )

    include: tuple[str, ...] = option(
        (),
        "crawl only URLs that match this regular expression; repeatable",
        group=SCOPE,
        metavar="RE",
        rule=validators.require_patterns,
        is_common=True,
    )
    exclude: tuple[str, ...] = option(
        (),
        "skip URLs that match this regular expression; repeatable",
        group=SCOPE,
        metavar="RE",
        rule=validators.require_patterns,
        is_common=True,
    )

    # None for OWN if there is an archive, in which a replay shows pages as they were, else
    # NONE.  Not counted as pages.
    assets: str | None = option(
        None,
        "fetch what pages need, such as images, style sheets, scripts, fonts and frames: from "
        "the crawled hosts, from any host, or none",
        group=SCOPE,
        choices=ASSETS,
        shown_default="own if there is an archive",
    )

    external: bool = option(
        False,
        "check that out-of-scope links exist, with one request each; do not crawl them",
        group=SCOPE,
        is_resumable=True,
        is_common=True,
    )
    # Precedent: lychee, a day.
    external_max_age_s: float = option(
        86400.0,
        "reuse the result of an external check for this long",
        group=SCOPE,
        unit=SECONDS,
        rule=seconds("a year", least_s=0.0),
        is_file_only=True,
    )

    # Precedents: lychee's retries take 7 s; many hosts ask for 60 s and more.
    max_external_wait_s: float = option(
        20.0,
        "wait no longer than this for an external host that fails or asks to come back later",
        group=SCOPE,
        unit=SECONDS,
        rule=seconds("a day", least_s=0.0),
        is_resumable=True,
    )

    # Not by default: no page links to such a URL, and some firewalls block those who try.
    soft_404: bool = option(
        False,
        "detect soft 404s: request one nonexistent URL per host after the crawl",
        group=SCOPE,
        is_resumable=True,
    )

    # A redirect does not count as a link.  None for no limit.
    max_depth: int | None = option(
        None,
        "maximum number of links from a start URL",
        group=SCOPE,
        rule=count(0, BILLION - 1),
        is_common=True,
    )

    # Precedents: wget 20, browsers 20, RFC 2068 5.
    max_redirects: int = option(
        10, "maximum number of redirects in a row", group=SCOPE, rule=count(0, 1000)
    )

    # Limits for crawler traps; None for no limit.  Real sites stay far below: in the
    # 44,000 pages of the documentation of Python, OpenJDK and Rust, no path is deeper
    # than 11 or repeats a segment more than twice.

    # Precedents: Internet Explorer 2083, sitemaps.org 2048.
    max_url_chars: int | None = option(
        2000,
        "maximum length of a URL",
        group=SCOPE,
        rule=count(1, 8000),
        is_file_only=True,
    )

    # Precedent: Heritrix's TooManyPathSegmentsDecideRule 20.
    max_path_segments: int | None = option(
        40,
        "maximum number of path segments in a URL",
        group=SCOPE,
        rule=count(1, 8000),
        is_file_only=True,
    )

    # Adjacent or not.  Precedents: Heritrix's PathologicalPathDecideRule 2 (adjacent),
    # Nutch 2, grab-site 2.
    max_segment_repeats: int | None = option(
        4,
        "skip URLs that repeat a path segment more than N times",
        group=SCOPE,
        rule=count(1, 8000),
        is_file_only=True,
    )
    max_queries_per_path: int | None = option(
        1000,
        "maximum number of different queries of one path",
        group=SCOPE,
        rule=count(1, BILLION - 1),
        is_file_only=True,
    )

    user_agent: str = option(
        USER_AGENT,
        "user agent, sent with each request and matched in robots.txt",
        group=POLITENESS,
        rule=validators.require_user_agent,
        is_resumable=True,
    )
    contact: str = option(
        "",
        "your e-mail address or a URL, sent with the user agent",
        group=POLITENESS,
        rule=validators.require_contact,
        is_resumable=True,
        is_common=True,
    )

    robots: bool = option(
        True,
        "obey robots.txt, robots meta tags and nofollow; turn it off for your own "
        "sites only",
        group=POLITENESS,
        is_common=True,
    )
    sitemaps: bool = option(
        True, "read the sitemaps that robots.txt lists", group=POLITENESS
    )

    # None for True if the start URLs are public: a page on the Internet must not make us
    # fetch from our own network.
    deny_private: bool | None = option(
        None,
        "connect to public addresses only, or to any address",
        named_off_flag="--allow-private",
        group=POLITENESS,
        shown_default="on if the start URLs are public",
        is_resumable=True,
    )

    # "pooled" is ours; "simple" and "curl" (needs pycurl) are Tornado's; "requests" runs
    # in threads.
    client: str = option("pooled", "HTTP client", group=FETCHING, choices=CLIENTS)

    # Headers other than PUBLIC_HEADERS, and the user and password, are sent to the
    # origins of the start URLs only.
    headers: tuple[str, ...] = option(
        (),
        "extra request header; only harmless ones are sent to other origins; "
        "repeatable",
        group=FETCHING,
        flag="--header",
        metavar="'NAME: VALUE'",
        rule=validators.require_headers,
        is_secret=True,
        is_local=True,
        is_common=True,
    )
    auth: str = option(
        "",
        "basic authentication for the origins of the start URLs; asks for a missing "
        "password",
        group=FETCHING,
        metavar="USER[:PASSWORD]",
        rule=validators.require_auth,
        is_secret=True,
        is_local=True,
        is_common=True,
    )
    proxy: str = option(
        "",
        "HTTP proxy; with socks5:// before it, a SOCKS5 proxy",
        group=FETCHING,
        metavar="[USER:PASSWORD@]HOST:PORT",
        rule=validators.require_proxy,
        is_resumable=True,
        is_secret=True,
        is_local=True,
    )

    # Besides those of the system: pages of an intranet link to the Internet too.
    ca_file: str = _path(
        "trust the certificate authorities in this file too, as for an intranet",
        group=FETCHING,
        flag="--ca",
    )
    client_cert: str = _path(
        "certificate that shows the origins of the start URLs who you are, with its chain",
        group=FETCHING,
    )
    client_key: str = _path(
        "private key of the certificate, if it is not in the same file",
        group=FETCHING,
    )

    # A signature says who asks; a site that has not asked for one has no use for it.
    sign_key: str = _path(
        "sign the requests to sites that ask for it, with this Ed25519 key (Web Bot Auth)",
        group=FETCHING,
        flag="--sign",
    )
    sign_agent: str = option(
        "",
        "where you publish the key directory, such as https://bot.example.org",
        group=FETCHING,
        metavar="ORIGIN",
        rule=validators.require_sign_agent,
        is_resumable=True,
        is_local=True,
    )
    sign_always: bool = option(
        False,
        "sign the requests to all sites",
        group=FETCHING,
        is_resumable=True,
        is_local=True,
    )

    # Chromium takes a hundred times as long as we do to read a page.
    render: str = option(
        NEVER,
        "run the scripts of pages in Chromium, to find what they make: never, on pages that "
        "need it, or always",
        group=FETCHING,
        choices=RENDERS,
        is_resumable=True,
        is_common=True,
    )
    scroll: bool = option(
        False,
        "scroll rendered pages to their end, to load what appears on the way",
        group=FETCHING,
        is_resumable=True,
    )
    screenshots: bool = option(
        False,
        "keep a picture of each rendered page, and a small one, in the archive",
        group=FETCHING,
        is_resumable=True,
    )
    # A request that is not GET may order, send or delete something.
    render_post: bool = option(
        False,
        "let the scripts of rendered pages send POST and other requests that may change "
        "something; for your own sites only",
        group=FETCHING,
        is_resumable=True,
    )
    browsers: int = option(
        1,
        "maximum number of browsers, each with a few pages at a time and 0.5 GB of memory",
        group=FETCHING,
        rule=count(1, 64),
        is_resumable=True,
        is_local=True,
    )

    cookie_file: str = _path(
        "read cookies from a cookies.txt, the profile of a browser or a Playwright state",
        group=FETCHING,
        flag="--cookies",
        metavar="PATH",
    )

    login_file: str = _path(
        "log in as this recipe says (a TOML file; its passwords come from the environment)",
        group=FETCHING,
        flag="--login",
    )

    # Each is sent to the origin that set it.  Without an "on" flag: --cookies is `cookie_file`.
    cookies: bool = option(
        True, "neither keep nor send cookies", flag="", group=FETCHING
    )

    # Precedents: Tornado 20 for each, Scrapy 180 for both together.
    connect_timeout_s: float = option(
        20.0,
        "connect timeout",
        group=FETCHING,
        unit=SECONDS,
        rule=seconds("a day"),
        is_resumable=True,
    )
    request_timeout_s: float = option(
        60.0,
        "timeout of a whole fetch",
        group=FETCHING,
        unit=SECONDS,
        rule=seconds("a day"),
        is_resumable=True,
    )

    # After decompression, so that a small response cannot fill the memory.
    max_body_bytes: int = option(
        16 * 1024 * 1024,
        "maximum size of a body after decompression",
        group=FETCHING,
        unit=BYTES,
        rule=size(4 * BILLION - 1),
    )

    # Only temporary failures are retried.  Precedent: Scrapy 3 (RETRY_TIMES 2).
    tries: int = option(
        3,
        "maximum number of fetches of a URL, including retries",
        group=FETCHING,
        rule=count(1, 100),
        is_resumable=True,
    )

    retry_pause_s: float = option(
        1.0,
        "pause before the first retry; later pauses are longer",
        group=FETCHING,
        unit=SECONDS,
        rule=seconds("a day", least_s=0.0),
        is_resumable=True,
    )

    archive: bool = option(True, "write WARC files", group=STORAGE)

    dedupe_against: str = _path(
        "do not archive again what another archive has: the directory of a crawl, a WACZ file "
        "or a CDXJ file; replay then needs both",
        group=STORAGE,
        metavar="PATH",
    )

    # Precedent: the WARC standard recommends 1 GB.
    max_archive_file_bytes: int = option(
        BILLION,
        "start a new WARC file at this size",
        group=STORAGE,
        unit=BYTES,
        rule=size(MOST),
        is_file_only=True,
    )
    index: bool = option(True, "build the full-text index", group=STORAGE)

    # A password is read from PGPASSWORD or ~/.pgpass: other users see arguments.
    frontier: str = option(
        "",
        "keep the frontier in PostgreSQL, where workers on many machines share it: "
        "postgresql://USER@HOST/DATABASE",
        group=STORAGE,
        metavar="URL",
        rule=validators.require_frontier,
        is_local=True,
    )
    crawl_name: str = option(
        validators.DEFAULT_CRAWL,
        "name of the crawl in PostgreSQL",
        group=STORAGE,
        flag="--crawl",
        metavar="NAME",
        is_local=True,
    )

    # Not saved, as `into`: the directory that it names knows the object storage.
    staging: str = option(
        "",
        "directory for what is waiting for upload to object storage",
        group=STORAGE,
        shown_default="one below ~/.cache/gencrawl",
        metavar="DIR",
        is_path=True,
        rule=validators.require_path,
        is_saved=False,
        is_local=True,
    )
    # Ten WARC files of the default size: hours in which object storage may be away.
    max_staging_bytes: int = option(
        10 * BILLION,
        "pause the crawl when this much is waiting for upload",
        group=STORAGE,
        unit=BYTES,
        rule=size(MOST),
        is_resumable=True,
        is_local=True,
    )

    def __post_init__(self) -> None:
        for each in options_of(type(self)):
            each.check(getattr(self, each.name), each.name)
        self._require_agreement()
        seeds = dict.fromkeys(map(canonicalize, self.seeds))
        object.__setattr__(self, "seeds", tuple(seeds))

    def _require_agreement(self) -> None:
        """Check what depends on several options."""
        if self.auth:
            if ":" not in self.auth:
                raise ConfigError("auth must be user:password, in one line")
            if any(name.lower() == "authorization" for name, _ in self.header_fields):
                raise ConfigError(
                    "auth and an Authorization header are both given; give one of them"
                )
        if self.processes > self.concurrency:
            raise ConfigError(
                f"concurrency is {self.concurrency}, and is shared out among the "
                f"processes; it must be at least their number, {self.processes}"
            )
        if not self.frontier and self.crawl_name != validators.DEFAULT_CRAWL:
            raise ConfigError(
                "--crawl is the name of a crawl in PostgreSQL; give its server with "
                "--frontier"
            )
        if not self.frontier and is_url(self.into):
            raise ConfigError(
                "a crawl into object storage needs a frontier in PostgreSQL; give "
                "--frontier, or a directory with --into"
            )

    @property
    def fetches_assets(self) -> bool:
        """Whether to fetch what pages need."""
        return self.archive if self.assets is None else self.assets != NONE

    @property
    def full_user_agent(self) -> str:
        """The user agent with the contact, as it is sent.

        >>> CrawlConfig(("http://a.test",), contact="me@a.test").full_user_agent
        ... # doctest: +ELLIPSIS
        'gencoro-crawler/... (+mailto:me@a.test)'
        """
        if not self.contact:
            return self.user_agent
        is_mail = "@" in self.contact and not urlsplit(self.contact).scheme
        scheme = "mailto:" if is_mail else ""
        return f"{self.user_agent} (+{scheme}{self.contact})"

    @property
    def has_secrets(self) -> bool:
        """Whether it contains secrets, so that only the owner may read its file."""
        names = {name.lower() for name, _ in self.header_fields}
        has_password = bool(self.auth) or "@" in self.proxy
        has_file = bool(self.cookie_file or self.login_file or self.client_cert)
        return has_password or has_file or not names <= PUBLIC_HEADERS

    @property
    def is_logged_in(self) -> bool:
        """Whether the site is shown as to a user of its own, whom a link could log out."""
        names = {name.lower() for name, _ in self.header_fields}
        own = self.auth or self.cookie_file or self.login_file
        return bool(own) or not names.isdisjoint(("cookie", "authorization"))

    @property
    def header_fields(self) -> list[tuple[str, str]]:
        """Names and values of the headers, in order."""
        return [validators.header_field(header) for header in self.headers]

    def to_json(self) -> str:
        """Return the configuration, without ``into``, as JSON for `from_json`."""
        saved = [each.name for each in options_of(type(self)) if each.is_saved]
        return json.dumps({name: getattr(self, name) for name in saved}, indent=2)

    def shared_json(self) -> str:
        """Return what all workers of a crawl have in common, for `from_json`.

        It holds no secret.
        """
        common = [each.name for each in options_of(type(self)) if not each.is_local]
        return json.dumps({name: getattr(self, name) for name in common})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a configuration that `to_json` wrote.

        Raises:
            ConfigError: the text is not a saved configuration.
        """
        try:
            values: Any = json.loads(text)
        except (ValueError, RecursionError):
            raise _not_saved("it is not valid JSON") from None
        if not isinstance(values, dict) or not isinstance(values.get("seeds"), list):
            raise _not_saved("it has no list of seeds")
        known = {each.name for each in options_of(cls)}
        if unknown := values.keys() - known:
            text = (
                f"it has the option {min(unknown)!r}, which only another gencrawl knows"
            )
            raise _not_saved(text)
        if isinstance(values.get("assets"), bool):  # in an older file
            values["assets"] = OWN if values["assets"] else NONE
        # An option that is missing in an older file gets its default.
        for name, value in values.items():
            if isinstance(value, list):
                values[name] = tuple(value)
        try:
            return cls(**values)
        except (TypeError, ValueError, LookupError, AttributeError):
            raise _not_saved("a value has the wrong type") from None

    @classmethod
    def from_toml(cls, path: Path | str) -> Self:
        """Read a configuration from a TOML file.

        Its keys are the names of the fields, or of the command-line options without their
        dashes.  Relative paths are relative to the directory of the file.

        Raises:
            ConfigError: the file cannot be read, or a key or a value is invalid.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     path = Path(directory, "site.toml")
        ...     _ = path.write_text('seeds = "http://a.test/"\\nmax-pages = 9')
        ...     CrawlConfig.from_toml(path).max_pages
        9
        """
        values = read_config_file(path, options_of(cls))
        try:
            return cls(**{"seeds": ()} | values)
        except ConfigError as exc:
            raise ConfigError(f"{path}: {exc}") from None


def _not_saved(why: str) -> ConfigError:
    return ConfigError(
        f"not a saved crawl configuration: {why}; restore it from a copy, or crawl into "
        "another directory"
    )
