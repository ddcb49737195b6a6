"""Joins URLs as browsers do, and compares them.

Pure.  `join` follows the WHATWG URL standard, so that a site gets the
requests that a browser would send.  `dedup_key` normalizes more; its result is compared and never fetched.
"""

import functools
import hashlib
import ipaddress
import re
from urllib.parse import quote

import ada_url

from crawler_app.base.errors import UrlError

__all__ = [
    "DEFAULT_PORT_BY_SCHEME",
    "MAX_KEY_CHARS",
    "bare_path",
    "canonicalize",
    "dedup_key",
    "directory_of",
    "has_query",
    "host_of",
    "is_loopback",
    "is_mixed_content",
    "is_of_directory",
    "join",
    "join_or_nothing",
    "name_of",
    "origin_of",
    "place_of",
    "redirect_target",
    "reference_in_header",
    "target_of",
    "with_normal_escapes",
    "without_fragment",
    "written_above",
]

DEFAULT_PORT_BY_SCHEME = {"http": 80, "https": 443}

# The longest URL that servers must be ready for (RFC 9110, 4.1: 8000 octets).
MAX_URL_CHARS = 8000

# A longer key is cut there, and ends with a digest of the whole.
MAX_KEY_CHARS = 500

# No canonical URL contains it.
_CUT = "\N{HORIZONTAL ELLIPSIS}"

# Mapping a host to ASCII takes quadratic time, 5 ms for 1000 characters; DNS allows 253.
MAX_HOST_CHARS = 255

_SUB_DELIMS = "!$&'()*+,;="
_ALLOWED = "/:@?" + _SUB_DELIMS
# As in Heritrix: the IDs of Java, PHP and ASP.NET, and under names with other uses too, IDs of
# the lengths that PHP generates.
_SESSION = re.compile(
    r";jsessionid=[^/?;&]*"
    r"|/\((?:[AFSX]\([^()/?]+\))+\)(?=/)"
    r"|(?<=[?&])(?:(?:jsessionid|phpsessid|aspsessionid[a-z]*)=[^&]*"
    r"|(?:sid|oscsid|session_?id)=(?:[0-9a-z]{26}|[0-9a-z]{32})(?![^&]))(?:&|\Z)",
    re.IGNORECASE,
)
_UNRESERVED = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
)

# Not longer, because dot segments are resolved before the length of the URL is checked.
_PLAIN_PATH = re.compile(r"(?!//)[\w\-.~/!$&'()*+,;=@]{1,2000}", re.ASCII)
# Most URLs: what is escaped stays so.
# A possessive group ends in "|(?!)": before Python 3.11.5 the rest of the pattern starts
# where its last try failed (python/cpython#106052).
_NORMAL = re.compile(
    r"(?:[\w\-.~/:@!$&'()*+,;=?]++|%(?:[89A-F][0-9A-F]|2[0235F])|(?!))*+", re.ASCII
)
# Most of those, and without a query or anything else that `dedup_key` changes.
_PLAIN_KEY = re.compile(
    r"https?://[^/%?]++(?:/[\w\-.~:@!$&'*+,;]++|(?!))*+/?", re.ASCII
)
# Not after a percent sign that begins no escape: in "%2%35" nothing is decoded, or it
# would become "%25".
_NO_PERCENT = "(?<!%)(?<!%[0-9A-Fa-f])"
# Escapes that normalization changes: of unreserved characters, and with lower-case letters.
_ODD_ESCAPE = re.compile(
    _NO_PERCENT + "%(2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe]"
    "|[0-9A-Fa-f][a-f]|[a-f][0-9A-F])"
)
# Sub-delimiters, ":" and "@", in upper case.
_DELIMITER_ESCAPE = re.compile(_NO_PERCENT + "%(2[146-9ABC]|3[A-B]|3D|40)")
# Characters that a canonical URL may contain although RFC 3986 requires escapes.
_ESCAPE_BY_CHAR = {
    char: f"%{char:02X}"
    for char in range(128)
    if chr(char) not in _UNRESERVED and chr(char) not in _ALLOWED + "%"
}
_HTTP = re.compile("https?:", re.IGNORECASE)
_HOSTED = ("https://", "http://")
_AUTHORITY = re.compile(r"(?:https?:[/\\]*|[/\\]{2,})([^/\\?#]*)", re.IGNORECASE)
# A reference without a path is relative to the page, not to its directory.
_PAGE_RELATIVE = re.compile(r"(?:[A-Za-z][\w+.\-]*:)?(?:[?#]|\Z)", re.ASCII)

# WHATWG URL, 4.4: removed from both ends, and from anywhere.
_EDGES = "".join(map(chr, range(33)))
_LINE_BREAKS = re.compile("[\t\n\r]")


def canonicalize(url: str) -> str:
    """Return an absolute URL as a browser sends it, without its fragment.

    Raises:
        UrlError: it is not http(s), is invalid, contains a user name, or is too long.

    >>> canonicalize("HTTP://Example.COM:80/~user/../a b?q=\u00e9#top")
    'http://example.com/a%20b?q=%C3%A9'
    """
    return join("", url)


def without_fragment(reference: str) -> str:
    """Return a URL or a reference without its fragment, which is never sent.

    After white space the "#" stays, because browsers ignore white space only at the end.

    >>> without_fragment("a.html#top"), without_fragment("a.html #top")
    ('a.html', 'a.html #')
    """
    rest, mark, _ = reference.partition("#")
    return rest + mark if rest and rest[-1] <= " " else rest


def reference_in_header(value: str) -> str:
    """Return the reference in a header such as Location, in any charset.

    Args:
        value: Decoded as latin-1, which preserves each byte, as Tornado does.

    >>> reference_in_header("/caf\u00c3\u00a9"), reference_in_header("/caf\u00e9")
    ('/café', '/caf%E9')
    """
    octets = value.encode("latin-1", "replace")
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        # The charset is unknown, so each byte must be preserved.
        return quote(octets, safe=bytes(range(128)))


def dedup_key(url: str) -> str:
    """Return the key by which canonical URLs are compared.

    Equal for URLs that servers treat as equal: with the escapes normalized, sub-delimiters
    and ``:@`` in the path unescaped (although RFC 3986 allows a difference), without an
    empty query, and with single slashes; and without a session ID, which identifies the
    visitor and not the page.  The key of a key is the key itself.

    >>> dedup_key("http://a.test/f%28x%29//b?") == dedup_key("http://a.test/f(x)/b")
    True
    >>> dedup_key("http://a.test/x;jsessionid=8A1C?y=1&PHPSESSID=e4b7")
    'http://a.test/x?y=1'
    """
    if _CUT in url:
        return url
    key = url if _PLAIN_KEY.fullmatch(url) else _normal(url)
    if len(key) <= MAX_KEY_CHARS:
        return key
    digest = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
    return f"{key[:MAX_KEY_CHARS]}{_CUT}{digest}"


def has_query(url: str) -> bool:
    """Return whether a canonical URL has a query, or a path with parameters."""
    return "?" in url or ";" in url


def bare_path(url: str) -> str:
    """Return a URL up to its query, or up to the parameters of its last segment.

    >>> bare_path("http://a.test/x;y/z;v=1?q")
    'http://a.test/x;y/z'
    """
    path = url.partition("?")[0]
    at = path.find(";", path.rfind("/"))
    return path if at < 0 else path[:at]


def _normal(url: str) -> str:
    """Return a URL normalized for `dedup_key`."""
    if (
        url.rfind("//") >= len("https://")
        or url[-1:] == "?"
        or not _NORMAL.fullmatch(url)
    ):
        scheme, _, rest = with_normal_escapes(url).partition("://")
        path, _, query = rest.partition("?")
        path = re.sub("//+", "/", _DELIMITER_ESCAPE.sub(_decoded, path))
        url = f"{scheme}://{path}?{query}" if query else f"{scheme}://{path}"
    without = _without_session(url) if "=" in url or "/(" in url else url
    return url if without == url else _normal(without)


def _without_session(url: str) -> str:
    lowered = url.lower()
    if "sess" not in lowered and "sid=" not in lowered and "/(" not in url:
        return url  # the most frequent case
    without = _SESSION.sub("", url)
    return url if without == url else without.rstrip("?&")


def with_normal_escapes(url: str) -> str:
    """Return a canonical URL with its escapes normalized, for comparison.

    A browser sends ``/%7Eme``, ``/~me``, ``/%c3%a9`` and ``?a[]`` as they are written.

    Source: RFC 3986, 6.2.2.1 and 6.2.2.2.  A percent sign that begins no escape stays:
    many servers refuse it, but not ``%25``.

    >>> with_normal_escapes("http://a.test/%7Eme?a[]=%c3%a9")
    'http://a.test/~me?a%5B%5D=%C3%A9'
    """
    if _NORMAL.fullmatch(url):
        return url
    target = target_of(url).translate(_ESCAPE_BY_CHAR)
    return origin_of(url) + _ODD_ESCAPE.sub(_normal_escape, target)


def host_of(url: str) -> str:
    """Return the host of a canonical URL, and its port unless it is the default.

    >>> host_of("https://a.test/x"), host_of("http://a.test:8000/x")
    ('a.test', 'a.test:8000')
    """
    return url.split("/", 3)[2]


def name_of(host: str) -> str:
    """Return a host, as returned by `host_of`, without its port: a name or an address.

    >>> name_of("a.test:8000"), name_of("a.test"), name_of("[::1]:80"), name_of("[::1]")
    ('a.test', 'a.test', '[::1]', '[::1]')
    """
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def origin_of(url: str) -> str:
    """Return the origin of a canonical URL: scheme, host, and port unless it is the default.

    A URL that is not canonical never gets the origin of another host.

    >>> origin_of("https://a.test/x?y"), origin_of("http://a.test:8000/x")
    ('https://a.test', 'http://a.test:8000')
    """
    end = url.find("/", len("https://"))
    return url if end < 0 else url[:end]


def target_of(url: str) -> str:
    """Return the path and query of a canonical URL, which are sent to its origin.

    >>> target_of("https://a.test/x?q")
    '/x?q'
    """
    return url[len(origin_of(url)) :]


@functools.lru_cache(maxsize=1024)  # called for every claim
def is_loopback(host: str) -> bool:
    """Return whether a host, as returned by `host_of`, is this machine.

    >>> is_loopback("127.0.0.1:8000"), is_loopback("[::1]"), is_loopback("a.test")
    (True, True, False)
    """
    name = name_of(host).strip("[].")
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def is_mixed_content(page: str, target: str) -> bool:
    """Return whether a resource is mixed content, which browsers block.

    Source: W3C, Mixed Content, and Secure Contexts, 3.1, for loopback.

    >>> is_mixed_content("https://a.test/", "http://a.test/x.js")
    True
    """
    is_mixed = page.startswith("https:") and target.startswith("http:")
    return is_mixed and not is_loopback(host_of(target))


def join(base: str, reference: str) -> str:
    """Return the URL of a reference, as a browser sends it, without its fragment.

    Args:
        base: A canonical URL; empty if the reference is an absolute URL.
        reference: As written in a page.

    Raises:
        UrlError: it is not a URL that can be fetched.

    Source: WHATWG URL, 4.4.

    >>> join("http://a.test/docs/index.html", "../b.html#top")
    'http://a.test/b.html'
    """
    if base and _PLAIN_PATH.fullmatch(reference):  # the most frequent case
        return _join_plain_path(base, reference)
    _check_length(reference.partition("#")[0])
    if "%" in reference or not reference.isascii():
        reference = _scalar_values(reference)
        _check_host(reference)
    try:
        url = ada_url.join_url(base, reference) if base else ada_url.URL(reference).href
    except ValueError:
        raise _invalid(base, reference) from None
    url = url.partition("#")[0]
    _check_fetchable(url)
    return url


def join_or_nothing(base: str, reference: str) -> str:
    """Join like `join`, but return "" if the reference is empty or invalid.

    >>> join_or_nothing("http://a.test/", "b"), join_or_nothing("http://a.test/", "tel:1")
    ('http://a.test/b', '')
    """
    try:
        return join(base, reference) if reference else ""
    except UrlError:
        return ""


def redirect_target(url: str, location: str) -> str:
    """Return the canonical URL of a redirect's target.

    Args:
        url: The canonical URL that was fetched.
        location: The value of the Location header; empty if there is none.

    Raises:
        UrlError: there is none (``no_location``), or it cannot be fetched.

    >>> redirect_target("http://a.test/docs/x", "../y#top")
    'http://a.test/y'
    """
    if not location:
        raise UrlError("no_location", "the redirect has no Location")
    return join(url, reference_in_header(location))


def directory_of(base: str) -> str:
    """Return a canonical URL up to the last slash of its path.

    >>> directory_of("http://a.test/docs/x?y=/z")
    'http://a.test/docs/'
    """
    return "".join(_split(base))


def place_of(base: str, reference: str) -> str | None:
    """Return the part of a canonical URL that decides where a reference leads from it.

    Nothing if the reference names its host; otherwise the origin or the directory, or None if
    all of the URL decides.

    >>> [place_of("http://a.test/b/c", each) for each in ("http://d.test/", "/d", "d", "?d")]
    ['', 'http://a.test', 'http://a.test/b/', None]
    """
    if reference.startswith(_HOSTED):
        return ""
    if not is_of_directory(reference):
        return None
    origin, directory = _split(base)
    return origin if reference[0] == "/" else origin + directory


def written_above(base: str, reference: str) -> tuple[str, str] | None:
    """Return a directory above that of a canonical URL, and how its pages write a reference.

    None if the reference does not lead there in the plain way.

    >>> written_above("http://a.test/b/c/d", "../e")
    ('http://a.test/b/', 'e')
    >>> written_above("http://a.test/b", "../e")
    """
    origin, directory = _split(base)
    rest = reference
    while rest.startswith("../") and len(directory) > 1:
        directory = directory[: directory.rfind("/", 0, -1) + 1]
        rest = rest[len("../") :]
    # A rest such as "/x" or "http://d.test/" would lead elsewhere on its own.
    if rest == reference or rest[:1] == "/" or not _PLAIN_PATH.fullmatch(rest):
        return None
    return origin + directory, rest


def is_of_directory(reference: str) -> bool:
    """Return whether a reference has the same target on all pages of a directory.

    A reference without a path is relative to the page itself.

    >>> is_of_directory("b.html"), is_of_directory("?page=2"), is_of_directory("")
    (True, False, False)
    """
    if _PLAIN_PATH.fullmatch(reference):  # the most frequent case
        return True
    return not _PAGE_RELATIVE.match(_stripped(reference))


def _stripped(reference: str) -> str:
    """Return a reference without the white space that browsers ignore."""
    return _LINE_BREAKS.sub("", reference.strip(_EDGES))


def _join_plain_path(base: str, reference: str) -> str:
    """Join a path that is canonical except for its dot segments."""
    origin, directory = _split(base)
    path = reference if reference[0] == "/" else directory + reference
    if reference[0] == "." or "/." in reference:
        path = _without_dot_segments(path)
    url = origin + path
    _check_length(url)
    return url


@functools.lru_cache(maxsize=64)  # the links of a page have the same base
def _split(base: str) -> tuple[str, str]:
    """Return the origin of a canonical URL, and the directory of its path."""
    origin = origin_of(base)
    page = base.partition("?")[0]
    return origin, page[len(origin) : page.rfind("/") + 1]


def _scalar_values(text: str) -> str:
    """Replace lone surrogates.  Source: Web IDL, USVString."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _check_host(reference: str) -> None:
    authority = _AUTHORITY.match(_stripped(reference))
    if authority is not None and len(authority[1]) > MAX_HOST_CHARS:
        raise UrlError("malformed", f"a host of {len(authority[1])} characters")


def _check_fetchable(url: str) -> None:
    if not url.startswith(("http://", "https://")):
        raise UrlError("unsupported_scheme", f"{url!r} is not an http(s) URL")
    if "@" in url:
        _, at, host = host_of(url).rpartition("@")
        if at:
            raise UrlError("credentials", f"the URL for {host!r} contains a user name")
    _check_length(url)  # an escaped character is up to nine times as long
    host = name_of(host_of(url))
    if len(host) > MAX_HOST_CHARS:
        raise UrlError("malformed", f"a host of {len(host)} characters")


def _check_length(url: str) -> None:
    if len(url) > MAX_URL_CHARS:
        raise UrlError("too_long", f"a URL of {len(url)} characters: {url[:60]!r}...")


def _invalid(base: str, reference: str) -> UrlError:
    if not base and not _HTTP.match(_stripped(reference)):
        return UrlError("unsupported_scheme", f"{reference!r} is not an http(s) URL")
    return UrlError("malformed", f"{reference!r} is not a valid URL")


def _normal_escape(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if char in _UNRESERVED else match[0].upper()


def _decoded(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _without_dot_segments(path: str) -> str:
    """Resolve "." and ".." in an absolute path, in half the time of the parser."""
    segments = path.split("/")
    kept: list[str] = []
    for segment in segments[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)
