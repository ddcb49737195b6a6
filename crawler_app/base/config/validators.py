"""Validators of option values.

Pure.  Rule: no error shows a value that may be a secret, and each begins with the name
that the user gave: a field, a flag, or a key in a file.  Used by `crawler_app.base.config`,
which defines the options.
"""

import re
import shlex
from collections.abc import Iterable
from urllib.parse import parse_qs, urlsplit

from crawler_app.base.config.option import Rule, require
from crawler_app.base.config.units import BYTES, SECONDS
from crawler_app.base.errors import ConfigError, UrlError
from crawler_app.base.patterns import any_of
from crawler_app.base.storage.objects import is_url, require_url
from crawler_app.base.urls import canonicalize

__all__ = [
    "DEFAULT_CRAWL",
    "FRONTIER_EXAMPLE",
    "FRONTIER_SCHEMES",
    "count",
    "header_field",
    "is_line",
    "require_auth",
    "require_contact",
    "require_frontier",
    "require_headers",
    "require_path",
    "require_patterns",
    "require_place",
    "require_proxy",
    "require_seeds",
    "require_sign_agent",
    "require_user_agent",
    "seconds",
    "size",
]

_A_DAY_S = 24 * 3600.0
SECONDS_BY_PERIOD = {"a day": _A_DAY_S, "a year": 365 * _A_DAY_S}

# RFC 9110, 5.1 and 5.5: a token, and text without control characters.
_HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[ \t]*[\x20-\x7e\x80-\xff]*")
_PROXY = re.compile(
    r"(?:(?:http|socks5h?)://)?(?:[^/@\s]*@)?(?:[^/@:\s]+|\[[^/@\s]+\]):0*(?P<port>[0-9]+)/?"
)

FRONTIER_SCHEMES = ("postgresql://", "postgres://")
FRONTIER_EXAMPLE = "postgresql://USER@HOST/DATABASE"

# The name of a crawl in PostgreSQL that was given none.
DEFAULT_CRAWL = "default"

# Headers that cannot be set, and why.
_OWN = "the client manages the connection"
_NO_BODY = "requests of a crawl have no body"
REFUSAL_BY_HEADER = {
    "host": "it is set for each URL",
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
    """Make a rule for a whole number.

    >>> count(1, 100)("tries", 3)
    """
    wanted = f"a whole number, at least {least} and at most {most}"
    return lambda name, value: require(name, value, least <= value <= most, wanted)


def seconds(longest: str, *, least_s: float | None = None) -> Rule:
    """Make a rule for a duration.

    Args:
        longest: "a day" or "a year".
        least_s: None for anything above 0.

    >>> seconds("a day")("connect_timeout_s", 20)
    """
    longest_s = SECONDS_BY_PERIOD[longest]
    edge = "above 0" if least_s is None else f"{SECONDS.render(least_s)} or more"
    wanted = f"{SECONDS.noun}, {edge}, at most {longest}"

    def require_seconds(name: str, value: float) -> None:
        is_above = value > 0 if least_s is None else value >= least_s
        is_right = is_above and value <= longest_s
        require(name, value, is_right, wanted, SECONDS.render)

    return require_seconds


def size(most_bytes: int) -> Rule:
    """Make a rule for a size.

    >>> size(1000)("max_bytes", 20)
    """
    wanted = f"{BYTES.noun}, at least 1 and at most {most_bytes} bytes"
    return lambda name, value: require(
        name, value, 1 <= value <= most_bytes, wanted, BYTES.render
    )


def require_seeds(name: str, seeds: Iterable[str]) -> None:
    """Check the start URLs.

    Raises:
        ConfigError: there are none, or one is invalid.
    """
    if not seeds:
        raise ConfigError("a crawl needs a URL to start from")
    for seed in seeds:
        try:
            canonicalize(seed)
        except UrlError as exc:
            cure = _cure_of(seed, exc)
            raise ConfigError(f"cannot start from this URL: {exc}{cure}") from None


def _cure_of(seed: str, exc: UrlError) -> str:
    """Return what to write instead of an invalid start URL; empty if it is unknown."""
    if exc.reason == "credentials":
        return "; give it with --auth USER:PASSWORD"
    path = seed.removeprefix("file://")
    if path.startswith(("/", "./", "../", "~")):
        return f"; for files, use `gencrawl check {shlex.quote(path)}`"
    meant = re.sub("^https?:/*", "", seed)
    return "" if "://" in seed or not meant else f"; did you mean http://{meant} ?"


def require_patterns(name: str, patterns: Iterable[str]) -> None:
    """Check regular expressions.

    Raises:
        ConfigError: one is invalid.
    """
    for pattern in patterns:
        try:
            any_of([pattern])
        except ConfigError as exc:
            raise ConfigError(
                f"{name} has {pattern!r}, which is not a valid regular expression: {exc}"
            ) from None


def require_path(name: str, path: str) -> None:
    """Check a path.

    Raises:
        ConfigError: it contains a null character.
    """
    require(name, path, "\0" not in path, "a path without null characters")


def require_place(name: str, place: str) -> None:
    """Check a path, or a URL of object storage.

    Raises:
        ConfigError: it contains a null character, or the URL cannot be used.
    """
    require_path(name, place)
    if is_url(place):
        require_url(place)


def require_user_agent(name: str, user_agent: str) -> None:
    """Check a user agent.

    Raises:
        ConfigError: it is empty, or not one line of printable ASCII.
    """
    require(name, user_agent, is_line(user_agent), "one line of ASCII")


def require_contact(name: str, contact: str) -> None:
    """Check a contact, which is sent in parentheses in a header.

    Args:
        contact: Empty for none.

    Raises:
        ConfigError: it is not one line of printable ASCII, or contains ``(``, ``)`` or a
            backslash.
    """
    is_plain = is_line(contact) and not set("()\\") & set(contact)
    require(name, contact, not contact or is_plain, "an e-mail address or a URL")


def is_line(text: str) -> bool:
    """Return whether a text can be used as a header value.

    >>> is_line("bot/1.0"), is_line(""), is_line("caf\\u00e9")
    (True, False, False)
    """
    return text.isascii() and text.isprintable() and bool(text.strip())


def header_field(header: str) -> tuple[str, str]:
    """Split "Name: value" into name and value.

    >>> header_field("X-Team:  search ")
    ('X-Team', 'search')
    """
    name, _, value = header.partition(":")
    return name, value.strip(" \t")


def require_headers(name: str, headers: Iterable[str]) -> None:
    """Check headers.

    Raises:
        ConfigError: one is malformed, empty, or managed by the client.  The error gives
            its number, because its name may be part of a secret.
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
            # libcurl would omit it, the other clients send it.
            raise ConfigError(f"{which} {header_name} has no value")


def require_sign_agent(name: str, agent: str) -> None:
    """Check the origin of a key directory.

    Raises:
        ConfigError: it is not the origin of an https URL.
    """
    wanted = "an https origin without a path, such as https://bot.example.org"
    try:
        is_origin = not agent or canonicalize(agent) == f"{agent.rstrip('/')}/"
    except UrlError:
        is_origin = False
    is_https = not agent or (agent.startswith("https://") and "@" not in agent)
    require(name, agent, is_origin and is_https, wanted)


def require_auth(name: str, auth: str) -> None:
    """Check a user and password.

    The password may still be missing: the command line asks for it later.

    Args:
        auth: Empty for none.

    Raises:
        ConfigError: they contain unprintable characters.
    """
    if auth and not auth.isprintable():
        raise ConfigError(f"{name} must be user:password, in one line")


# Options of such a URL.
SECRETS = ("password", "sslpassword")


def require_frontier(name: str, url: str) -> None:
    """Check the URL of a frontier on a server.

    Args:
        url: Empty for none.

    Raises:
        ConfigError: it is not one of PostgreSQL, or has a password.
    """
    if not url:
        return
    if not url.startswith(FRONTIER_SCHEMES):
        raise ConfigError(f"{name} must look like {FRONTIER_EXAMPLE}")
    try:
        parts = urlsplit(url)
        options = parse_qs(parts.query).keys()
        has_password = bool(parts.password) or not options.isdisjoint(SECRETS)
    except ValueError:
        has_password = "@" in url  # an error would show the URL
    if has_password:
        raise ConfigError(
            f"{name} has a password, which other users of this machine can see; leave it "
            "out, and set PGPASSWORD or write it to ~/.pgpass"
        )


def require_proxy(name: str, proxy: str) -> None:
    """Check a proxy.

    Args:
        proxy: Empty for none.

    Raises:
        ConfigError: it is not host:port, or the port is out of range.
    """
    if not proxy:
        return
    found = _PROXY.fullmatch(proxy)
    if not found or not proxy.isprintable():
        raise ConfigError(
            f"{name} must be host:port, or user:password@host:port, with socks5:// before "
            "it for SOCKS"
        )
    port = found["port"]
    if len(port) > len("65535") or not 0 < int(port) < 65536:
        raise ConfigError(f"{name}: the port is {port[:20]}; it must be 1 to 65535")
