"""The location of a crawl (servers, database, name), and of what a worker fetches.

Pure.  Rule: a URL of a server may hold a password, and so may what a driver says of it.  Errors
name the server by its address and database only.
"""

import re
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qs, unquote, urlencode, urlsplit

from crawler_app.base.errors import ConfigError

__all__ = ["INVALID", "SCHEMA_PREFIX", "CrawlLocation", "StoreLocation"]

SCHEMA_PREFIX = "gencrawl_"

INVALID = "is invalid; it looks like postgresql://USER@HOST:5432/DATABASE"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


class StoreLocation(NamedTuple):
    """Where a worker stores what it fetches.

    Attributes:
        key: A UUID that is written there too: two machines may have directories of the same
            name, and a directory may be moved.
        machine: The name of the machine whose directory it is.
        location: The directory; empty if nothing is kept.
    """

    key: str = "00000000-0000-0000-0000-000000000000"
    machine: str = ""
    location: str = ""


class CrawlLocation:
    """A server or several, of which one is the primary, and the name of a crawl.

    Args:
        url: As libpq takes it, ``postgresql://...``; options such as ``sslmode`` follow ``?``.

    Attributes:
        urls: One for each server, in the order in which they are tried.
        address: The server and the database, as they are shown.
        session_attrs: The default of ``target_session_attrs``: of several servers, one that
            can be written.

    Raises:
        ConfigError: the URL or the name is invalid.

    >>> CrawlLocation("postgresql://me:secret@db.test/crawls", "docs")
    CrawlLocation('docs at db.test/crawls')
    >>> CrawlLocation("postgresql://me@one.test,two.test:5433/crawls", "docs").urls
    ['postgresql://me@one.test/crawls', 'postgresql://me@two.test:5433/crawls']
    """

    def __init__(self, url: str, crawl: str = "default") -> None:
        if not _NAME.fullmatch(crawl):
            raise ConfigError(
                f"{crawl!r} is not the name of a crawl: up to 40 letters, digits, '_', "
                "'.' and '-', the first a letter or a digit"
            )
        parts = _split(url)
        self.url = url
        self.urls = _one_for_each_server(url, parts)
        self.crawl = crawl
        self.schema = f"{SCHEMA_PREFIX}{crawl}"
        options = parse_qs(parts.query)
        is_chosen = len(self.urls) == 1 or "target_session_attrs" in options
        self.session_attrs = None if is_chosen else "read-write"
        self.address = parts.netloc.rpartition("@")[2] + parts.path
        secrets = [*options.get("password", ()), *options.get("sslpassword", ())]
        if parts.password:
            secrets += parts.password, unquote(parts.password)
        self._secrets = secrets

    def __repr__(self) -> str:
        return f"CrawlLocation({str(self)!r})"

    def __str__(self) -> str:
        return f"{self.crawl} at {self.address}"

    @property
    def absence(self) -> str:
        """The error if the crawl is not there."""
        return (
            f"there is no crawl {self}, or this user has no right to it; `gencrawl "
            "postgres list` lists those that there are, and `gencrawl crawl --frontier` "
            "begins one"
        )

    def without_secrets(self, text: str) -> str:
        """Return a text of the driver without the password."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def _split(url: str) -> SplitResult:
    """Return the parts of a URL; no error shows it, because it may hold a password."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise ConfigError("the URL of a frontier begins with postgresql://")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ConfigError(f"the URL of the frontier {INVALID}") from None
    # Part of the password would be taken for a host or a database, and shown.
    if (
        "@" in f"{parts.path}{parts.query}{parts.fragment}"
        or parts.netloc.count("@") > 1
    ):
        raise ConfigError(
            "the URL of the frontier is invalid: write '@', '/', '?' and '#' in a user "
            "name or a password as %40, %2F, %3F and %23"
        )
    return parts


def _one_for_each_server(url: str, parts: SplitResult) -> list[str]:
    """Return the URL of each server.

    A driver that is given several waits for one that is silent until there is no time left
    for the others.
    """
    login, at, servers = parts.netloc.rpartition("@")
    if "," in servers:
        each = servers.split(",")
        return [parts._replace(netloc=f"{login}{at}{one}").geturl() for one in each]
    options = parse_qs(parts.query)
    hosts = options.get("host", [""])[-1].split(",")
    ports = options.get("port", [""])[-1].split(",")
    if servers or len(hosts) == 1:
        return [url]
    if len(ports) == 1:
        ports *= len(hosts)
    if len(ports) != len(hosts):
        raise ConfigError(
            f"the URL of the frontier has {len(hosts)} hosts and {len(ports)} ports"
        )
    urls = []
    for host, port in zip(hosts, ports, strict=True):
        own = options | {"host": [host]} | ({"port": [port]} if port else {})
        urls.append(parts._replace(query=urlencode(own, doseq=True)).geturl())
    return urls
