"""Whether a value can be an option of a crawl, and what is said if it cannot.

Pure.  Rule: no error shows what may be a secret, and each begins with the name that it is
given, which is the user's own: of a field, of an option, or of a key in a file.  Used by
`crawler_app.config`, which has the options themselves, and what of each is allowed.
"""

import re
from collections.abc import Iterable

from crawler_app.config.option import Rule, require
from crawler_app.errors import ConfigError, UrlError
from crawler_app.urls import canonicalize

__all__ = [
    "count",
    "header_field",
    "is_line",
    "require_auth",
    "require_contact",
    "require_headers",
    "require_login",
    "require_path",
    "require_patterns",
    "require_proxy",
    "require_seeds",
    "require_user_agent",
    "seconds",
]

_A_DAY_S = 24 * 3600.0
SECONDS_BY_PERIOD = {"a day": _A_DAY_S, "a year": 365 * _A_DAY_S}

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


def count(least: int, most: int) -> Rule:
    """Make the rule of a whole number, from the least to the most.

    >>> count(1, 100)("tries", 3)
    """
    wanted = f"a whole number, at least {least} and at most {most}"
    return lambda name, value: require(name, value, least <= value <= most, wanted)


def seconds(longest: str, *, may_be_0: bool = False) -> Rule:
    """Make the rule of a duration.

    Args:
        longest: "a day" or "a year".

    >>> seconds("a day")("connect_timeout_s", 20)
    """
    longest_s = SECONDS_BY_PERIOD[longest]
    edge = ", 0 or more" if may_be_0 else " above 0"
    wanted = f"a number of seconds{edge}, at most {longest}"

    def require_seconds(name: str, value: float) -> None:
        is_above = value >= 0 if may_be_0 else value > 0
        require(name, value, is_above and value <= longest_s, wanted)

    return require_seconds


def require_seeds(name: str, seeds: Iterable[str]) -> None:
    """Refuse URLs from which no crawl can start.

    Raises:
        ConfigError: there are none, or one is no URL of a page.
    """
    if not seeds:
        raise ConfigError("a crawl needs a URL to start from")
    for seed in seeds:
        try:
            canonicalize(seed)
        except UrlError as exc:
            meant = re.sub("^https?:/*", "", seed)
            cure = "" if "://" in seed else f"; did you mean http://{meant} ?"
            raise ConfigError(f"cannot start from this URL: {exc}{cure}") from None


def require_patterns(name: str, patterns: Iterable[str]) -> None:
    """Refuse a text that is no regular expression.

    Raises:
        ConfigError: one of them is none.
    """
    for pattern in patterns:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as exc:
            raise ConfigError(
                f"{name} has {pattern!r}, which is no regular expression: {exc}"
            ) from None


def require_path(name: str, path: str) -> None:
    """Refuse what no file can be called.

    Raises:
        ConfigError: none can.
    """
    require(name, path, "\0" not in path, "a path")


def require_user_agent(name: str, user_agent: str) -> None:
    """Refuse what cannot stand in a header.

    Raises:
        ConfigError: it cannot.
    """
    require(name, user_agent, is_line(user_agent), "one line of ASCII")


def require_contact(name: str, contact: str) -> None:
    """Refuse what cannot stand in parentheses in a header.

    Args:
        contact: Nothing for none.

    Raises:
        ConfigError: it cannot.
    """
    is_plain = is_line(contact) and not set("()\\") & set(contact)
    require(name, contact, not contact or is_plain, "an e-mail address or a URL")


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


def require_headers(name: str, headers: Iterable[str]) -> None:
    """Refuse a header that cannot be sent, or that is the client's own.

    Raises:
        ConfigError: there is one; the text has its number, for its name may be part of a
            secret.
    """
    for number, header in enumerate(headers, 1):
        which = f"{name}, number {number}:"
        if not _HEADER.fullmatch(header):
            raise ConfigError(f"{which} it must be 'Name: value'")
        header_name, value = header_field(header)
        refusal = REFUSAL_BY_HEADER.get(header_name.lower())
        if refusal:
            raise ConfigError(f"{which} {header_name} cannot be set: {refusal}")
        if not value:
            # libcurl would leave it out, others send it.
            raise ConfigError(f"{which} {header_name} has no value")


def require_login(auth: str, headers: Iterable[str]) -> None:
    """Refuse a user without a password, or if another header has a password too.

    Args:
        auth: Nothing for none.
        headers: Each as "Name: value".

    Raises:
        ConfigError: it is so.
    """
    if not auth:
        return
    if ":" not in auth:
        raise ConfigError("auth must be user:password, in one line")
    names = [header_field(header)[0].lower() for header in headers]
    if "authorization" in names:
        raise ConfigError("auth and a header Authorization: only one of them can be")


def require_auth(name: str, auth: str) -> None:
    """Refuse a user and password that cannot be sent.

    Whether there is a password is not looked at: who asks for it does so later.

    Args:
        auth: Nothing for none.

    Raises:
        ConfigError: they cannot.
    """
    if auth and not auth.isprintable():
        raise ConfigError(f"{name} must be user:password, in one line")


def require_proxy(name: str, proxy: str) -> None:
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
        raise ConfigError(f"{name} must be host:port, or user:password@host:port")
    port = found["port"]
    if len(port) > len("65535") or not 0 < int(port) < 65536:
        raise ConfigError(f"{name}: its port is {port[:20]}; it must be 1 to 65535")
