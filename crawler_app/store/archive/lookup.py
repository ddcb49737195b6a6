"""The URLs by which replay tools look up responses to requests with a body, such as a POST.

Pure.  The method and the body become arguments of the URL; the table of captures and the index
have these URLs, the records have the real ones.

Source: https://specs.webrecorder.net/request-body-canonicalization/latest/, and pywb where
that leaves something open.
"""

import base64
import json
import re
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser, Parser
from typing import Any
from urllib.parse import unquote_plus, urlencode

__all__ = ["has_method", "lookup_url", "split_lookup_url"]

# As pywb cuts it.
MAX_QUERY_CHARS = 4096

_LOOKUP_URL = re.compile(r"(.*?)[?&]__wb_method=([A-Z]+)(?:&(.*))?", re.DOTALL)


def has_method(head: bytes) -> bool:
    """Return whether the head of a request has another method than GET."""
    return bool(head) and not head.startswith(b"GET ")


def lookup_url(url: str, head: bytes, body: bytes) -> str:
    r"""Return the URL by which the response to a request is looked up.

    Args:
        head: Of the request.

    >>> head = b"POST /q HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"
    >>> lookup_url("http://a.test/q", head, b'{"id": 7, "tags": ["x", "y"]}')
    'http://a.test/q?__wb_method=POST&id=7&tags=x&tags.2_=y'
    """
    if not has_method(head):
        return url
    line, _, fields = head.decode("latin-1").partition("\r\n")
    headers = Parser().parsestr(fields, headersonly=True)
    query = _query_of(headers, body)[:MAX_QUERY_CHARS] if body else ""
    method = f"__wb_method={line.partition(' ')[0]}"
    return f"{url}{'&' if '?' in url else '?'}{method}{'&' * bool(query)}{query}"


def split_lookup_url(url: str) -> tuple[str, str, str]:
    """Return the real URL, the method (empty for GET) and the body as arguments.

    >>> split_lookup_url("http://a.test/q?__wb_method=POST&id=7")
    ('http://a.test/q', 'POST', 'id=7')
    >>> split_lookup_url("http://a.test/q?id=7")
    ('http://a.test/q?id=7', '', '')
    """
    found = _LOOKUP_URL.fullmatch(url)
    return (found[1], found[2], found[3] or "") if found else (url, "", "")


def _query_of(headers: "Message[str, str]", body: bytes) -> str:
    """Return a body as arguments."""
    kind = headers.get_content_type() if "Content-Type" in headers else ""
    try:
        if kind == "application/x-www-form-urlencoded":
            return unquote_plus(body.decode())
        if kind in ("application/json", "text/plain"):
            return urlencode(_json_arguments(json.loads(body)))
        if kind == "multipart/form-data":
            return urlencode(list(_form_fields(headers["Content-Type"], body)))
    except (RecursionError, ValueError):  # not what its type says
        if kind == "application/json":
            return ""
    return f"__wb_post_data={base64.b64encode(body).decode()}"


def _json_arguments(value: Any) -> dict[str, str]:
    """Return the innermost values by name; a name that is repeated gets a number."""
    found: dict[str, str] = {}
    repeats: dict[str, int] = {}
    # A stack, since JSON may be nested more deeply than Python's own.
    waiting = [("", value)]
    while waiting:
        name, each = waiting.pop()
        if isinstance(each, dict):
            waiting += reversed(each.items())
        elif isinstance(each, list):
            waiting += [(name, item) for item in reversed(each)]
        elif name:
            key = name
            if name in found:
                repeats[name] = repeats.get(name, 1) + 1
                key = f"{name}.{repeats[name]}_"
            found[key] = _as_in_javascript(each)
    return found


def _as_in_javascript(value: Any) -> str:
    """Return a value as JavaScript would write it.

    >>> [_as_in_javascript(each) for each in (True, None, 2.0, 0.5, "x")]
    ['true', 'null', '2', '0.5', 'x']
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)


def _form_fields(content_type: str, body: bytes) -> Iterator[tuple[str, bytes]]:
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1", "replace")
    for part in BytesParser().parsebytes(head + body).walk():
        name = part.get_param("name", header="Content-Disposition")
        if name:
            content = part.get_payload(decode=True)
            yield str(name), content if isinstance(content, bytes) else b""
