"""The robots.txt parser (RFC 9309).  Pure.

Protego matches the paths.  The group that applies is selected here, because protego deviates
from the RFC: it takes the rules for "gen" as rules for "gencoro", and it ends a group at an
unknown line.
"""

import codecs
import contextlib
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

from protego import Protego

from crawler_app.base.errors import FetchError, UrlError
from crawler_app.base.urls import join, origin_of, reference_in_header
from crawler_app.web import politeness

__all__ = ["Rules", "parse_rules", "product_token"]

# The rest need not be read (RFC 9309, 2.5).  Precedent: Google.
MAX_BYTES = 500 * 1024

# Each is compared with each URL, which takes up to twenty microseconds for a long one.
MAX_PATTERNS = 1_000

# Sites list a handful; those that have more list an index of them.
MAX_SITEMAPS = 500

# RFC 9309, 2.2, and common misspellings.  Precedents: Google's parser, protego.
_FIELD = re.compile(
    rb"\s*(?:(?P<agent>user[ -]?agent)|(?P<allow>allow)"
    rb"|(?P<disallow>diss?all?ow|diasllow|disallaw)"
    rb"|(?P<delay>crawl[ -]delay)|(?P<sitemap>site-?maps?)"
    rb"|(?P<signal>content-signal)|(?P<usage>content-usage))(?:\s*:|\s)",
    re.IGNORECASE,
)
_USAGE_BY_NAME = {"signal": "Content-Signal", "usage": "Content-Usage"}

# Far more than there are uses.
MAX_USAGE, MAX_USAGE_BYTES = 20, 200

_AGENT = re.compile(rb"\*(?!\S)|[A-Za-z_-]+")
_COMPATIBLE = re.compile(r"[^(]*\(compatible;\s*([A-Za-z_-]+)", re.IGNORECASE)
_NOT_ASCII = re.compile("%([89A-Fa-f][0-9A-Fa-f])")
_SLASH = re.compile("%2f", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one origin for our crawler.

    Attributes:
        crawl_delay_s: Time between two fetches, capped at the maximum that is honored;
            None if not specified.
        sitemaps: Canonical URLs, in order.
        is_unreachable: The rules could not be fetched, so nothing is allowed.
        retry_at: When to fetch them again in that case, in seconds since the epoch; None
            if there is no further try.
        error: Why they could not be fetched, if there was no response at all.
        size: The number of rules and sitemaps, plus one for the origin; limits the cache.
        usage: What the site says of the use of its pages, as written, without duplicates:
            ``Content-Signal`` and ``Content-Usage``.  A crawl does not obey it, but passes it
            on.
    """

    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()
    is_unreachable: bool = False
    retry_at: float | None = None
    error: FetchError | None = None
    size: int = field(default=1, repr=False)
    usage: tuple[str, ...] = ()
    _paths: Protego | None = field(default=None, repr=False)

    def allows(self, url: str) -> bool:
        """Return whether a canonical URL of the origin may be fetched.

        The longest matching rule decides; if two are equally long, Allow wins.

        Source: RFC 9309, 2.2.2 and 2.2.3.  In addition, protego counts ``?``, ``&``,
        ``:`` and the like with the length of their escapes, and ``Allow: /index.html``
        allows ``/`` too, as Google does.

        >>> rules = parse_rules(b"User-agent: *\\nDisallow: /*.pdf$", "bot", "")
        >>> rules.allows("http://a.test/a.pdf"), rules.allows("http://a.test/a.pdf?b")
        (False, True)
        """
        if self._paths is None:
            return not self.is_unreachable or _is_robots_txt(url)
        if "%" in url:
            url = _comparable(url)
        return self._paths.can_fetch(url, "*")


def parse_rules(body: bytes, user_agent: str, origin: str) -> Rules:
    """Return the rules of a robots.txt for us.  Any body is accepted; HTML has no rules.

    Our rules are those of all groups for our product token, else those for ``*``.

    Args:
        user_agent: Our User-Agent header.
        origin: The base for sitemap URLs, which should be absolute but may be relative.

    Source: RFC 9309, 2.2.1, which does not define Crawl-delay.  Here it counts as a rule,
    so a user agent line after it begins a new group: that is what authors mean, and what
    parsers that honor it do.  Google ignores it and does not count it as a rule
    (google/robotstxt #51).

    >>> robots = b"User-agent: bot\\nDisallow: /a\\nCrawl-delay: 2"
    >>> rules = parse_rules(robots, "Bot/1.0", "http://a.test")
    >>> rules.allows("http://a.test/ab"), rules.crawl_delay_s
    (False, 2.0)
    """
    token = product_token(user_agent) or "*"
    group_by_agent: dict[str, _Group] = {}
    current: list[_Group] = []
    sitemaps: list[bytes] = []
    usage: dict[str, None] = {}
    has_rules = has_agents = False
    for name, value in _records(body):
        if name == "sitemap":
            sitemaps.append(value)
        elif name in _USAGE_BY_NAME and not has_agents:  # for everybody
            usage[_as_usage(name, value)] = None
        elif name == "agent":
            if has_rules:
                current, has_rules = [], False
            has_agents = True
            agent = _agent(value)
            if agent in (token, "*"):
                current.append(group_by_agent.setdefault(agent, _Group()))
        else:
            has_rules = True
            for group in current:
                group.add(name, value)
    ours = group_by_agent.get(token) or group_by_agent.get("*") or _Group()
    ours.usage = usage | ours.usage
    return ours.rules(_sitemaps(sitemaps, origin))


def product_token(user_agent: str) -> str:
    """Return the product token of a user agent in lower case; empty if it has none.

    Source: RFC 9309, 2.2.1: letters, underscores and hyphens.

    >>> product_token("gencoro-crawler/0.1 (+mailto:me@a.test)")
    'gencoro-crawler'
    >>> product_token("Mozilla/5.0 (compatible; Bot/1.0; +http://a.test)")
    'bot'
    """
    compatible = _COMPATIBLE.match(user_agent)
    if compatible:
        return compatible[1].lower()
    return _agent(user_agent.encode()).strip("*")


@dataclass(slots=True)
class _Group:
    """The rules for one user agent, from all its groups in the file."""

    lines: list[str] = field(default_factory=list)
    crawl_delay_s: float | None = None
    usage: dict[str, None] = field(default_factory=dict)

    def add(self, name: str, value: bytes) -> None:
        """Add a rule; an empty one matches nothing (RFC 9309, 2.2: ``empty-pattern``)."""
        if name == "delay":
            delay_s = politeness.crawl_delay_s(value)
            # An invalid number leaves the previous value.
            self.crawl_delay_s = self.crawl_delay_s if delay_s is None else delay_s
        elif name in _USAGE_BY_NAME:
            self.usage[_as_usage(name, value)] = None
        elif value:
            # Escaped like a URL, which needs no charset.
            path = quote(value, safe=string.punctuation)
            self.lines.append(f"{name}: {_comparable(path)}")

    def rules(self, sitemaps: tuple[str, ...]) -> Rules:
        paths = None
        if self.lines:
            lines = _with_few_patterns(self.lines)
            paths = Protego.parse("\n".join(["User-agent: *", *lines]))
        size = 1 + len(self.lines) + len(sitemaps)
        usage = tuple(self.usage)[:MAX_USAGE]
        return Rules(self.crawl_delay_s, sitemaps, size=size, usage=usage, _paths=paths)


def _as_usage(name: str, value: bytes) -> str:
    return f"{_USAGE_BY_NAME[name]}: {value[:MAX_USAGE_BYTES].decode(errors='replace')}"


def _with_few_patterns(lines: list[str]) -> Iterator[str]:
    """Yield rules, of which only the first `MAX_PATTERNS` have wildcards.

    Of the others, those that allow are left out, and those that disallow become their
    prefix, so that more is forbidden and never less.
    """
    patterns = 0
    for line in lines:
        prefix, *rest = re.split(r"[*$]", line, maxsplit=1)
        patterns += bool(rest)
        if not rest or patterns <= MAX_PATTERNS:
            yield line
        elif line.startswith("disallow"):
            yield prefix


def _records(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the known lines, as the name of a `_FIELD` and a value."""
    body = body.removeprefix(codecs.BOM_UTF8)
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    for line in body.splitlines():
        match = _FIELD.match(line)
        if match and match.lastgroup:
            yield match.lastgroup, line[match.end() :].partition(b"#")[0].strip()


def _agent(value: bytes) -> str:
    match = _AGENT.match(value)
    return match[0].decode().lower() if match else ""


def _sitemaps(values: list[bytes], origin: str) -> tuple[str, ...]:
    urls: dict[str, None] = {}
    for value in values:
        if len(urls) == MAX_SITEMAPS:
            break
        reference = reference_in_header(value.decode("latin-1"))
        with contextlib.suppress(UrlError):
            urls.setdefault(join(f"{origin}/", reference))
    return tuple(urls)


def _comparable(url: str) -> str:
    """Rewrite the escapes of a URL, or of a rule's path, so that protego compares correctly.

    Protego treats all bytes that are not UTF-8 as equal, so they must not look like escapes
    to it.  In a query, an escaped slash equals a slash, as in the table of RFC 9309, 2.2.2;
    in a path the two differ.
    """
    path, mark, query = url.partition("?")
    return _NOT_ASCII.sub(_as_text, path + mark + _SLASH.sub("/", query))


def _as_text(escape: re.Match[str]) -> str:
    return f"%25{escape[1].upper()}"


def _is_robots_txt(url: str) -> bool:
    """Return whether a URL is that of robots.txt, which is always allowed (2.2.2)."""
    return url.partition("?")[0] == f"{origin_of(url)}/robots.txt"
