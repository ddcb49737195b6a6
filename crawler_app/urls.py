"""URL canonicalization, joining and comparison.

Pure.  `canonicalize` applies only what RFC 3986 (6.2.2, 6.2.3) calls safe, so that the
canonical URL always identifies the same resource.  `dedup_key` applies bolder equivalences;
its result is compared and never fetched.
"""

import functools
import ipaddress
import re
import string
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import idna

from crawler_app.errors import UrlError

__all__ = [
    "DEFAULT_PORT_BY_SCHEME",
    "canonicalize",
    "clean_reference",
    "dedup_key",
    "host_of",
    "is_loopback",
    "is_of_directory",
    "join",
    "join_or_nothing",
    "name_of",
    "origin_of",
    "redirect_target",
    "reference_in_header",
    "without_fragment",
]

DEFAULT_PORT_BY_SCHEME = {"http": 80, "https": 443}

# The longest URL that servers must be ready for (RFC 9110, 4.1: 8000 octets).
MAX_URL_CHARS = 8000

_SUB_DELIMS = "!$&'()*+,;="
_PATH_SAFE = "/:@" + _SUB_DELIMS
_QUERY_SAFE = _PATH_SAFE + "?"
_UNRESERVED = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
)

_CLEAN_PATH = re.compile(r"/[\w\-.~/:@!$&'()*+,;=]*", re.ASCII)
_CLEAN_QUERY = re.compile(r"[\w\-.~/:@!$&'()*+,;=?]*", re.ASCII)
_PLAIN_PATH = re.compile(r"(?!//)[\w\-.~/!$&'()*+,;=@]+", re.ASCII)
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_BARE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
# A reference without a path is relative to the page, not to its directory: "", "?q", and
# oddities that urljoin treats the same, such as "http:?q", "//?q" and ";".
_PAGE_RELATIVE = re.compile(
    r"(?:[A-Za-z][\w+.\-]*:)?(?:[/\\]{2})?;?(?:\?|\Z)", re.ASCII
)
_HOST_NAME = re.compile(r"[a-z0-9_.-]+")

# WHATWG URL, 4.4: removed from both ends, and from anywhere.
_EDGES = "".join(map(chr, range(33)))
_LINE_BREAKS = re.compile("[\t\n\r]")


def canonicalize(url: str) -> str:
    """Return the canonical form of an absolute URL, without its fragment.

    Normalizes the case of scheme and host, the default port, escapes, dot segments and an
    empty path; characters not allowed in a URL are escaped as UTF-8.

    Raises:
        UrlError: it is not http(s), has an invalid host or port, contains a user name, or
            is too long.

    Source: RFC 3986, 6.2.2 and 6.2.3; RFC 5891 for the host.

    >>> canonicalize("HTTP://Example.COM:80/%7Euser/../a b?q=%c3%a9#top")
    'http://example.com/a%20b?q=%C3%A9'
    """
    url = without_fragment(url)
    _check_length(url)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as exc:
        raise UrlError("malformed", f"{url!r} is not a URL: {exc}") from None
    scheme = parts.scheme
    if scheme not in DEFAULT_PORT_BY_SCHEME:
        raise UrlError("unsupported_scheme", f"{url!r} is not an http(s) URL")
    if not host:
        raise UrlError("bad_host", f"{url!r} has no host")
    if "@" in parts.netloc:
        raise UrlError("credentials", f"the URL for {host!r} contains a user name")
    netloc = _canonical_host(host)
    if port is not None and port != DEFAULT_PORT_BY_SCHEME[scheme]:
        netloc = f"{netloc}:{port}"
    path, query = parts.path or "/", parts.query
    if not _CLEAN_PATH.fullmatch(path):
        path = _canonical_escapes(path, _PATH_SAFE)
    if "/." in path:
        path = _without_dot_segments(path)
    if query and not _CLEAN_QUERY.fullmatch(query):
        query = _canonical_escapes(query, _QUERY_SAFE)
    canonical = urlunsplit((scheme, netloc, path, query, ""))
    _check_length(canonical)  # an escaped character is up to nine times as long
    return canonical


def without_fragment(reference: str) -> str:
    """Return a URL or a reference without its fragment, which is never sent.

    >>> without_fragment("a.html#top")
    'a.html'
    """
    return reference.partition("#")[0]


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
        return quote(octets, safe=string.punctuation)


def dedup_key(url: str) -> str:
    """Return the key by which canonical URLs are compared.

    Servers do not distinguish an escaped sub-delimiter or ``:@`` in a path from a plain one,
    although RFC 3986 allows it; nearly all treat a double slash as one.

    >>> dedup_key("http://a.test/f%28x%29//b") == dedup_key("http://a.test/f(x)/b")
    True
    """
    if "%" not in url and url.rfind("//") < len("https://"):
        return url
    scheme, _, rest = url.partition("://")
    path, mark, query = rest.partition("?")
    path = _ESCAPE.sub(_decode_path_delimiter, path)
    return f"{scheme}://{re.sub('//+', '/', path)}{mark}{query}"


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


def join(base: str, reference: str) -> str:
    """Return the canonical URL of a reference as written in a page.

    Args:
        base: A canonical URL; empty if the reference is an absolute URL.

    Raises:
        UrlError: it is not a URL that can be fetched.

    >>> join("http://a.test/docs/index.html", "../b.html#top")
    'http://a.test/b.html'
    """
    if base and _PLAIN_PATH.fullmatch(reference):  # the most frequent case
        return _join_plain_path(base, reference)
    reference = clean_reference(reference)
    if not base:
        return canonicalize(reference)
    if not reference:
        return base
    if "\\" in reference:
        reference = _with_slashes(reference)
    if _is_a_path(reference):
        return _join_path(base, reference)
    try:
        return canonicalize(urljoin(base, reference))
    except ValueError as exc:
        raise UrlError("malformed", f"{reference!r} is not a URL: {exc}") from None


def join_or_nothing(base: str, reference: str) -> str:
    """Do the same as `join`, but return "" if the reference is empty or invalid.

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


def is_of_directory(reference: str) -> bool:
    """Return whether a reference has the same target on all pages of a directory.

    A reference without a path is relative to the page itself.

    >>> is_of_directory("b.html"), is_of_directory("?page=2"), is_of_directory("")
    (True, False, False)
    """
    return not _PAGE_RELATIVE.match(clean_reference(reference))


def clean_reference(reference: str) -> str:
    """Return a reference without its fragment and the white space that browsers ignore.

    >>> clean_reference(" a.html#top ")
    'a.html'
    """
    reference = reference.partition("#")[0].strip(_EDGES)
    if not reference.isprintable():
        reference = _LINE_BREAKS.sub("", reference)
    return reference


def _is_a_path(reference: str) -> bool:
    return not (
        reference[0] == "?" or reference.startswith("//") or _SCHEME.match(reference)
    )


def _with_slashes(reference: str) -> str:
    """Replace backslashes with slashes, except in the query, as browsers do.

    Source: WHATWG URL, 4.4.
    """
    path, mark, query = reference.partition("?")
    if _SCHEME.match(path) and not path.lower().startswith("http"):
        return reference
    return path.replace("\\", "/") + mark + query


def _join_path(base: str, reference: str) -> str:
    """Join a path and its query to a canonical base.

    Not `urljoin`, which drops empty segments (RFC 3986, 5.2 and browsers keep them) and
    takes three times as long.
    """
    if _PLAIN_PATH.fullmatch(reference):
        return _join_plain_path(base, reference)
    origin, directory = _split(base)
    if reference[0] == "/":
        return canonicalize(origin + reference)
    return canonicalize(origin + directory + reference)


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


def _check_length(url: str) -> None:
    if len(url) > MAX_URL_CHARS:
        raise UrlError("too_long", f"a URL of {len(url)} characters: {url[:60]!r}...")


def _canonical_host(host: str) -> str:
    if ":" in host:  # an IPv6 address, checked by urlsplit, without its brackets
        try:
            address = ipaddress.IPv6Address(host)
        except ValueError:
            address = None
        if address is None or address.scope_id:
            # An IPvFuture address, or one with a zone, which is only valid locally.
            raise UrlError("bad_host", f"{host!r} is not a usable address")
        return f"[{address.compressed}]"
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError as exc:
            raise UrlError("bad_host", f"{host!r} is not a host name: {exc}") from None
    if not _HOST_NAME.fullmatch(host):
        raise UrlError("bad_host", f"{host!r} is not a host name")
    return host


def _canonical_escapes(text: str, safe: str) -> str:
    text = _BARE_PERCENT.sub("%25", text)
    text = quote(text, safe=safe + "%", errors="surrogatepass")
    return _ESCAPE.sub(_canonical_escape, text)


def _canonical_escape(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if char in _UNRESERVED else match[0].upper()


def _decode_path_delimiter(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if char in _SUB_DELIMS or char in ":@" else match[0]


def _without_dot_segments(path: str) -> str:
    """Resolve "." and ".." in an absolute path.  Source: RFC 3986, 5.2.4."""
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
