"""Finds what is wrong with a reference as written.

Pure.  Browsers repair much of it, some differently than the author meant.
"""

import difflib
import re
from urllib.parse import unquote

from crawler_app.base.errors import UrlError
from crawler_app.base.urls import host_of, join
from crawler_app.web.documents.references import LOADED_USES, Use
from crawler_app.web.fetcher.addresses import is_private_host

__all__ = ["REPAIRED", "is_missing", "problem_in"]

_BLANK = "a blank in the URL; write %20"
_LINE_BREAK = "a line break or a tab in the URL"
_BACKSLASH = "a backslash in the URL; write /"

# Problems that every browser repairs as the author meant it, so that visitors see nothing.
REPAIRED = frozenset((_BLANK, _LINE_BREAK, _BACKSLASH))

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*)\s*:")
_WEB = ("http", "https")
_EDGES = "".join(map(chr, range(33)))
_HOST_AS_PATH = re.compile(r"www\.[\w\-]+\.[a-z]{2,}(?:[/?#]|\Z)", re.IGNORECASE)

# RFC 3966, 3, and what phones skip; in a vanity number letters stand for digits.
_PHONE = re.compile(r"(?=\D*\d)[+\d()*#./\- A-Z]+")

_MAIL_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")

# Elements that show nothing without their reference; elsewhere, "" is the page itself.
_NEEDED = frozenset(
    ("audio", "embed", "iframe", "img", "input", "link", "script", "source", "video")
)


def problem_in(base: str, value: str) -> str:
    """Return what is wrong with a reference, for people; empty if nothing is.

    Args:
        base: The URL that it is relative to.

    >>> problem_in("http://a.test/", "htp://b.test/")
    'unknown scheme "htp"; did you mean "http"?'
    >>> problem_in("http://a.test/", "mailto:me@a.test")
    ''
    """
    text = value.strip(_EDGES)
    scheme = _SCHEME.match(text)
    name = scheme[1].lower() if scheme else ""
    if name == "mailto":
        return _of_mail(text[len(name) + 1 :])
    if name == "tel":
        number = unquote(text[len(name) + 1 :]).partition(";")[0]
        return "" if _PHONE.fullmatch(number) else f'"{number}" is not a phone number'
    if name == "file" or len(name) == 1:  # such as C:\
        return "a path of one computer does not work on any other"
    if name and name not in _WEB:
        return _of_scheme(name, text)
    return _of_web_url(base, text, has_scheme=bool(name))


def is_missing(value: str, use: Use, element: str) -> bool:
    """Return whether a reference is empty where nothing can be loaded without it.

    Elsewhere, an empty one is the page itself.

    >>> is_missing(" ", Use.ASSET, "img"), is_missing("", Use.LINK, "a")
    (True, False)
    """
    return use in LOADED_USES and element in _NEEDED and not value.strip(_EDGES)


def _of_scheme(name: str, text: str) -> str:
    near = difflib.get_close_matches(name, _WEB, n=1, cutoff=0.7)
    is_web = near and text[len(name) :].lstrip().startswith((":/", ":\\"))
    return f'unknown scheme "{name}"; did you mean "{near[0]}"?' if is_web else ""


def _of_mail(text: str) -> str:
    """Return what is wrong with the addresses of a ``mailto:`` URL; it may have none.

    Source: RFC 6068, 2.
    """
    for each in text.partition("?")[0].split(","):
        address = unquote(each).strip()
        if address and '"' not in address and not _MAIL_ADDRESS.fullmatch(address):
            return f'"{address}" is not a mail address'
    return ""


def _of_web_url(base: str, text: str, *, has_scheme: bool) -> str:
    if has_scheme and not re.match(r"https?://", text, re.IGNORECASE):
        return 'there is no "//" after the scheme'
    if not text:
        return ""
    try:
        url = join(base, text)
    except UrlError as exc:
        return "not a valid URL" if exc.reason == "malformed" else ""
    path = text.partition("#")[0]
    if re.search(r"[\t\n\r]", path):
        return _LINE_BREAK
    if " " in path:
        return _BLANK
    if "\\" in path.partition("?")[0]:
        return _BACKSLASH
    if is_private_host(host_of(url)) and not is_private_host(host_of(base)):
        return "visitors cannot reach a private address"
    if not has_scheme and _HOST_AS_PATH.match(text):
        return "a host without a scheme is a path; write https://"
    return ""
