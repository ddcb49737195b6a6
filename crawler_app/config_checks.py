"""Whether a value can be an option, and what is said if it cannot.

Pure.  Rule: no error shows what may be a secret.  Used by `crawler_app.config`, which
has the options themselves, and what of each is allowed.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, get_args

from crawler_app.errors import ConfigError

__all__ = [
    "header_field",
    "is_line",
    "require",
    "require_header",
    "require_login",
    "require_pattern",
    "require_proxy",
    "require_types",
]

# RFC 9110, 5.1 and 5.5: a token, and text without control characters.
_HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[ \t]*[\x20-\x7e\x80-\xff]*")
_PROXY = re.compile(
    r"(?:http://)?(?:[^/@\s]*@)?(?:[^/@:\s]+|\[[^/@\s]+\]):0*(?P<port>[0-9]+)/?"
)

# Headers that nobody may set, and why.
_OWN = "it is about the connection, which is the client's own"
_NO_BODY = "no request of a crawl has a body"
REFUSAL_BY_HEADER = {
    "host": "it is that of each URL",
    "content-length": _NO_BODY,
    "transfer-encoding": _NO_BODY,
    "trailer": _NO_BODY,
    "expect": _NO_BODY,
    "connection": _OWN,
    "keep-alive": _OWN,
    "proxy-connection": _OWN,
    "te": _OWN,
    "upgrade": _OWN,
}


def _is_texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) for text in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# What an annotation lets be, and how that is called.  To Python True is a whole number,
# but nobody means it; and a whole number is as good as another.
_KINDS: Mapping[Any, tuple[Callable[[Any], bool], str]] = {
    str: (lambda value: isinstance(value, str), "a string"),
    tuple[str, ...]: (_is_texts, "a tuple of strings"),
    bool: (lambda value: isinstance(value, bool), "True or False"),
    int: (
        lambda value: isinstance(value, int) and not isinstance(value, bool),
        "a whole number",
    ),
    float: (_is_number, "a number"),
    NoneType: (lambda value: value is None, "None"),
}


def require_types(options: Any, secret: Iterable[str]) -> None:
    """Refuse options that are not what they are annotated as.

    Args:
        options: An instance of a dataclass.
        secret: Names of fields whose values are not to be shown.

    Raises:
        ConfigError: one of them is not.
    """
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        is_union = isinstance(field.type, UnionType)
        kinds = get_args(field.type) if is_union else (field.type,)
        if any(_KINDS[kind][0](value) for kind in kinds):
            continue
        wanted = " or ".join(_KINDS[kind][1] for kind in kinds)
        if field.name in secret:
            kind = type(value).__name__
            raise ConfigError(f"{field.name} must be {wanted}, not of type {kind}")
        require(field.name, value, False, wanted)


def require(name: str, value: object, is_right: bool, wanted: str) -> None:
    """Refuse the value of an option unless it is right.

    Raises:
        ConfigError: it is not.

    >>> require("tries", 3, True, "a whole number")
    """
    if not is_right:
        raise ConfigError(f"{name} is {value!r}; it must be {wanted}")


def require_pattern(name: str, pattern: str) -> None:
    """Refuse a text that is no regular expression.

    Raises:
        ConfigError: it is none.
    """
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as exc:
        raise ConfigError(
            f"{name} has {pattern!r}, which is no regular expression: {exc}"
        ) from None


def is_line(text: str) -> bool:
    """Return whether a text can be the value of a header as it is.

    >>> is_line("bot/1.0"), is_line(""), is_line("caf\\u00e9")
    (True, False, False)
    """
    return text.isascii() and text.isprintable() and bool(text.strip())


def header_field(header: str) -> tuple[str, str]:
    """Return the name and the value of a "Name: value".

    >>> header_field("X-Team:  search ")
    ('X-Team', 'search')
    """
    name, _, value = header.partition(":")
    return name, value.strip(" \t")


def require_header(number: int, header: str) -> None:
    """Refuse a header that cannot be sent, or that is the client's own.

    Args:
        number: The how manyth it is, from 1: its name may be part of a secret.

    Raises:
        ConfigError: it is one.
    """
    if not _HEADER.fullmatch(header):
        raise ConfigError(f"headers, number {number}: it must be 'Name: value'")
    name, value = header_field(header)
    refusal = REFUSAL_BY_HEADER.get(name.lower())
    if refusal:
        raise ConfigError(f"the header {name} cannot be set: {refusal}")
    if not value:
        # libcurl would leave it out, others send it.
        raise ConfigError(f"the header {name} has no value")


def require_login(auth: str, headers: Iterable[str]) -> None:
    """Refuse a user and password that cannot be sent, or if another header has some.

    Args:
        auth: Nothing for none.
        headers: Each as "Name: value".

    Raises:
        ConfigError: they cannot.
    """
    if not auth:
        return
    if ":" not in auth or not auth.isprintable():
        raise ConfigError("auth must be user:password, in one line")
    names = [header_field(header)[0].lower() for header in headers]
    if "authorization" in names:
        raise ConfigError("auth and a header Authorization: only one of them can be")


def require_proxy(proxy: str) -> None:
    """Refuse a proxy that is none.

    Args:
        proxy: Nothing for none.

    Raises:
        ConfigError: it has another form, or no such port can be.
    """
    if not proxy:
        return
    found = _PROXY.fullmatch(proxy)
    if not found or not proxy.isprintable():
        raise ConfigError("proxy must be host:port, or user:password@host:port")
    port = found["port"]
    if len(port) > len("65535") or not 0 < int(port) < 65536:
        raise ConfigError(f"the proxy's port is {port[:20]}; it must be 1 to 65535")
