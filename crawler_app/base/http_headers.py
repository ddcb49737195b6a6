"""Parses HTTP headers: dates, Retry-After, content types, and repeated fields.

Pure; imports nothing of the crawler.  Times are seconds since the epoch.
"""

import datetime
import functools
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime

__all__ = [
    "MAX_RETRY_AFTER_S",
    "PRODUCT",
    "UNKNOWN_TYPES",
    "canonical_link",
    "decoded_fields",
    "different_values",
    "extracted_type",
    "http_date_at",
    "is_html",
    "links_in",
    "media_type",
    "retry_after_s",
]

# The first word of our User-Agent, by which robots.txt and pages may address this crawler.
PRODUCT = "gencoro-crawler"

# Like no Content-Type at all, in the MIME Sniffing standard.
UNKNOWN_TYPES = ("", "unknown/unknown", "application/unknown")

HTML_TYPES = ("text/html", "application/xhtml+xml")

# The longest wait that is honored.  A server that asks for more has a wrong clock, or means
# "never".
MAX_RETRY_AFTER_S = 24 * 3600.0

# True only of the message on the wire, or added by Tornado's clients.
WIRE_FIELDS = (
    *("connection", "content-encoding", "content-length", "keep-alive"),
    *("transfer-encoding", "x-consumed-content-encoding"),
)

# Of Link headers; a canonical one is rarely behind many.
MAX_LINK_CHARS = 8192

_SPACE = "[ \\t\\r\\n]*"
_TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED = r'"(?:[^"\\]|\\.)*"?'
_VALUE = re.compile(f'(?:[^",]|{_QUOTED})+', re.DOTALL)
_TYPE = re.compile(f"{_SPACE}({_TOKEN}/{_TOKEN}){_SPACE}(?:;|$)")
_LINK = re.compile(f'<([^<>]*)>((?:{_SPACE};(?:[^",;<]|{_QUOTED})*)*)', re.DOTALL)
_PARAMETER = re.compile(f';{_SPACE}({_TOKEN}){_SPACE}={_SPACE}(?:"([^"]*)"?|([^;,]*))')
_CHARSET = re.compile(
    f";{_SPACE}charset=(?:({_QUOTED})|([^;]+))|;{_SPACE}[^;=]*(?:=(?:{_QUOTED}|[^;]))?",
    re.DOTALL | re.IGNORECASE,
)


def retry_after_s(header: str | None, now: float) -> float | None:
    """Return the wait that a Retry-After header asks for, in seconds; None if none.

    Source: RFC 9110, 10.2.3: seconds, or a date.

    >>> retry_after_s("120", now=0.0)
    120.0
    >>> retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", now=50.0)
    10.0
    """
    header = (header or "").strip()
    if header.isdecimal() and header.isascii():
        wait = float(header.lstrip("0")[:10] or 0)
    else:
        at = http_date_at(header)
        if at is None:
            return None
        wait = at - now
    return min(max(wait, 0.0), MAX_RETRY_AFTER_S)


def http_date_at(text: str) -> float | None:
    """Return the time of a date in a header; None if it is not a date.

    Source: RFC 9110, 5.6.7.

    >>> http_date_at("Thu, 01 Jan 1970 00:01:00 GMT"), http_date_at("tomorrow")
    (60.0, None)
    """
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if at.tzinfo is None:  # the format of C's asctime() has no time zone
        at = at.replace(tzinfo=datetime.UTC)
    return at.timestamp()


@functools.lru_cache(maxsize=64)  # asked several times of each response
def media_type(content_type: str) -> str:
    """Return the type that a Content-Type header names, without its parameters.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return content_type.partition(";")[0].strip().lower()


def is_html(content_type: str) -> bool:
    """Return whether a Content-Type header means an HTML page.

    >>> is_html("Text/HTML; charset=utf-8"), is_html("application/xhtml+xml")
    (True, True)
    >>> is_html("image/png; a=text/html"), is_html("text/htmlx"), is_html("")
    (False, False, False)
    """
    return media_type(content_type) in HTML_TYPES


@functools.lru_cache(maxsize=64)
def extracted_type(content_type: str) -> str:
    """Return the MIME type that a Content-Type means, with its charset; empty if none.

    Args:
        content_type: The header's value; of repeated fields, all values joined by commas.

    Source: WHATWG Fetch, "extract a MIME type": the last valid one counts.

    >>> extracted_type("text/html;charset=gbk, Text/HTML"), extracted_type("html")
    ('text/html;charset=gbk', '')
    """
    essence = charset = ""
    for value in _VALUE.findall(content_type):
        found = _TYPE.match(value)
        if found is None or found[1] == "*/*":
            continue
        declared = _charset_parameter(value[found.end(1) :])
        if found[1].lower() != essence:
            essence, charset = found[1].lower(), declared
        else:
            charset = declared or charset
    return f"{essence};charset={charset}" if charset else essence


def _charset_parameter(parameters: str) -> str:
    for quoted, plain in _CHARSET.findall(parameters):
        if quoted or plain:
            return str(quoted.strip('"') or plain.strip())
    return ""


def canonical_link(headers: Mapping[str, str]) -> str:
    """Return the target of a Link header with the relation "canonical"; empty if none.

    Source: RFC 8288, 3; RFC 6596.

    >>> canonical_link({"Link": '</a>; rel=next, </b>;title="c"; rel="x canonical"'})
    '/b'
    """
    if "Link" not in headers:  # nearly all responses
        return ""
    found = (target for target, rels in links_in(headers) if "canonical" in rels)
    return next(found, "")


def links_in(headers: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the targets of Link headers, and their relations in lower case.

    >>> list(links_in({"Link": "</a.css>; rel=Preload; as=style"}))
    [('/a.css', ['preload'])]
    """
    links = ",".join(different_values(headers, "Link"))[:MAX_LINK_CHARS]
    for target, parameters in _LINK.findall(links):
        for name, quoted, plain in _PARAMETER.findall(parameters):
            if name.lower() == "rel":  # the first one counts
                yield str(target.strip()), (quoted or plain).lower().split()
                break


def decoded_fields(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a response, repeated ones too, that are true of its decoded body.

    >>> list(decoded_fields({"Content-Type": "text/html", "Content-Encoding": "gzip"}))
    [('Content-Type', 'text/html')]
    """
    # Tornado's HTTPHeaders keep repeated fields apart.
    get_all = getattr(headers, "get_all", headers.items)
    for name, value in get_all():
        if name.lower() not in WIRE_FIELDS:
            yield name, value


def different_values(headers: Mapping[str, str], name: str) -> list[str]:
    """Return the values of a field that may be repeated, without duplicates.

    >>> different_values({"location": "/a"}, "location")
    ['/a']
    """
    # Tornado's HTTPHeaders keep repeated fields apart.
    get_list = getattr(headers, "get_list", None)
    values = [headers[name]] if get_list is None and name in headers else []
    if get_list is not None:
        values = get_list(name)
    return list(dict.fromkeys(values))
