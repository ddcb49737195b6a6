"""Encodes the query of a link in the charset of its page, as browsers do.  Pure."""

import re
from urllib.parse import quote

import webencodings

__all__ = ["as_sent"]

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# The second byte of a character may be ASCII; in a query, browsers escape only a few of
# those (WHATWG URL, 1.3).  Without "&" and ";", of "&#8364;" for what a charset lacks.
_SAFE_IN_QUERY = "!$%()*+,/:=?@[\\]^`{|}"


def as_sent(links: list[str], charset: str) -> list[str]:
    """Return links as a browser sends them from a page in this charset.

    >>> as_sent(["/\u00fc?\u00fc"], "windows-1252")
    ['/\u00fc?%FC']
    """
    # The output encoding of UTF-16 is UTF-8 too (WHATWG Encoding, 4.3).
    if charset.startswith("utf-"):
        return links
    return [_query_in_charset(link, charset) for link in links]


def _query_in_charset(link: str, charset: str) -> str:
    """Escape a link's query in the page's charset; paths are always UTF-8.

    Source: WHATWG URL, 4.4 (query state, "encoding override").
    """
    if link.isascii() or "?" not in link:
        return link
    path, mark, query = link.partition("?")
    query, hash_mark, fragment = query.partition("#")
    if "#" in path:
        return link

    def escape(match: re.Match[str]) -> str:
        octets = webencodings.encode(match[0], charset, "xmlcharrefreplace")
        return quote(octets, _SAFE_IN_QUERY)

    # ASCII is left to `join`; only other characters depend on the charset.
    query = _NOT_ASCII.sub(escape, query)
    return path + mark + query + hash_mark + fragment
