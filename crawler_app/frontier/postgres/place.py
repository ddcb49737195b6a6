"""Names a crawl on a server, and where a worker keeps what it fetches.

Pure.  Rule: a URL of a server may hold a password, and so may what a driver says of it.  Errors
name the server by its address and database only.
"""

import re
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from crawler_app.errors import ConfigError

__all__ = ["INVALID", "SCHEMA_PREFIX", "Place", "Store"]

SCHEMA_PREFIX = "gencrawl_"

INVALID = "is invalid; it looks like postgresql://USER@HOST:5432/DATABASE"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


class Store(NamedTuple):
    """Where a worker keeps what it fetches.

    Attributes:
        key: A UUID that is written there too: two machines may have directories of the same
            name, and a directory may be moved.
        machine: The name of the machine whose directory it is.
        location: The directory; empty if nothing is kept.
    """

    key: str = "00000000-0000-0000-0000-000000000000"
    machine: str = ""
    location: str = ""


class Place:
    """Where a crawl is: a server, and the name of the crawl.

    Args:
        url: As libpq takes it, ``postgresql://...``; options such as ``sslmode`` follow ``?``.

    Raises:
        ConfigError: the URL or the name is invalid.

    >>> Place("postgresql://me:secret@db.test/crawls", "docs")
    Place('docs at db.test/crawls')
    """

    def __init__(self, url: str, crawl: str = "default") -> None:
        if not _NAME.fullmatch(crawl):
            raise ConfigError(
                f"{crawl!r} is not the name of a crawl: up to 40 letters, digits, '_', "
                "'.' and '-', the first a letter or a digit"
            )
        if not url.startswith(("postgresql://", "postgres://")):
            raise ConfigError("the URL of a frontier begins with postgresql://")
        try:
            parts = urlsplit(url)
        except ValueError:  # its text may show the password
            raise ConfigError(f"the URL of the frontier {INVALID}") from None
        self.url = url
        self.crawl = crawl
        self.schema = f"{SCHEMA_PREFIX}{crawl}"
        self._address = parts.netloc.rpartition("@")[2] + parts.path
        self._secrets = {
            *(parts.password or "", unquote(parts.password or "")),
            *parse_qs(parts.query).get("password", ()),
        } - {""}

    def __repr__(self) -> str:
        return f"Place({str(self)!r})"

    def __str__(self) -> str:
        return f"{self.crawl} at {self._address}"

    def without_secrets(self, text: str) -> str:
        """Return a text of the driver without the password."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
