"""Reads the cookies that the user gives: a cookies.txt, or those of a browser.

The kind is recognized by the content: Netscape's cookies.txt, as wget, curl and yt-dlp read it; the
database of a Firefox or Chromium profile, or the directory of the profile; the storage state that
Playwright writes.

A browser may be running, so its database is copied with the journal beside it.  Chromium encrypts
values: `crawler_app.web.fetcher.chromium_values` decrypts them.

Rule: no error quotes a value, and a cookie that is left out is counted and named in a remark.
"""

import codecs
import json
import math
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import read_limited
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import error_words, number
from crawler_app.web.fetcher.chromium_values import ValueReader
from crawler_app.web.fetcher.cookies import FileCookie
from crawler_app.web.fetcher.set_cookie import NOT_SENT, Cookie

__all__ = ["CookieFile", "read_cookies"]

# Browsers keep at most 3300 cookies (Chromium), which is a file of 14 MB.
MAX_FILE_BYTES = 16 * 2**20
MAX_DATABASE_BYTES = 256 * 2**20

SQLITE_MAGIC = b"SQLite format 3\0"

# Where the database is in the directory of a profile; of Chromium also the one above it.
DATABASES = (
    "cookies.sqlite",
    "Network/Cookies",
    "Cookies",
    "Default/Network/Cookies",
    "Default/Cookies",
)

# Firefox 142 and newer store milliseconds; as seconds, that is the year 5138.
_FIREFOX = """
SELECT host, name, path, isSecure,
       CASE WHEN expiry >= 100000000000 THEN expiry / 1000.0 ELSE expiry END,
       originAttributes <> '', value, x''
FROM moz_cookies
"""
# Chromium counts microseconds from 1601.
_CHROMIUM = """
SELECT host_key, name, path, is_secure,
       CASE WHEN has_expires THEN expires_utc / 1e6 - 11644473600 ELSE 0 END,
       top_frame_site_key <> '', value, encrypted_value
FROM cookies
"""
_ANY_BYTES = ("utf-8", "surrogateescape")

MAX_NAMED = 5

_TIME = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?)?")
_BOOL_BY_WORD = {"TRUE": True, "FALSE": False}


@dataclass(slots=True)
class CookieFile:
    """What a file of cookies holds.

    Attributes:
        storage: The names and values in the localStorage of origins.
        remarks: What was left out, and why; a sentence each.
    """

    cookies: list[FileCookie] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    storage: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


def read_cookies(path: str | os.PathLike[str]) -> CookieFile:
    """Return the cookies in a file, or of a browser's profile.

    Raises:
        ConfigError: it cannot be read, has another format, or none of its values can be
            decrypted.

    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory, "state.json")
    ...     cookie = {"name": "id", "value": "7", "domain": ".a.test", "path": "/"}
    ...     _ = path.write_text(json.dumps({"cookies": [cookie]}))
    ...     [(each.domain, each.cookie.pair) for each in read_cookies(path).cookies]
    [('a.test', 'id=7')]
    """
    try:
        found = _database_in(Path(path))
        if found.is_file() and _begins_with(found, SQLITE_MAGIC):
            return _read_database(found)
        octets = read_limited(found, MAX_FILE_BYTES)
    except (OSError, ValueError) as exc:  # ValueError: a null byte in the path
        why = error_words(exc, path)
        raise ConfigError(f"cannot read the cookies in {path}: {why}") from None
    octets = octets.removeprefix(codecs.BOM_UTF8)
    if octets.lstrip()[:1] == b"{":
        return _read_state(path, octets)
    # A header is sent as latin-1, which preserves each byte of any charset.
    return _read_lines(path, octets.decode("latin-1"))


def _database_in(path: Path) -> Path:
    """Return the file to read: in the directory of a profile, its database."""
    if not path.is_dir():
        return path
    for name in DATABASES:
        if (path / name).is_file():
            return path / name
    raise ConfigError(
        f"{path} is no profile of Firefox or Chromium: it has neither cookies.sqlite nor Cookies"
    )


def _begins_with(path: Path, magic: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(magic)) == magic


def _read_lines(path: str | os.PathLike[str], text: str) -> CookieFile:
    read = CookieFile()
    for count, line in enumerate(text.split("\n"), 1):
        try:
            found = _read_line(line.rstrip("\r"))
        except ValueError as exc:
            raise ConfigError(
                f"{path}, line {count}: {exc}; it must be a cookies.txt in Netscape's format, "
                "as wget and curl write it, the database of Firefox or Chromium, or a storage "
                "state of Playwright"
            ) from None
        if found is not None:
            read.cookies.append(found)
    return read


def _read_state(path: str | os.PathLike[str], octets: bytes) -> CookieFile:
    """Read a storage state of Playwright."""
    try:
        state = json.loads(octets)
        read = CookieFile([_cookie_of_state(each) for each in state["cookies"]])
        read.storage = {
            str(each["origin"]): [
                (str(item["name"]), str(item["value"]))
                for item in each.get("localStorage", ())
            ]
            for each in state.get("origins", ())
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ConfigError(
            f"{path} is not a storage state as Playwright writes it: a JSON object with a list "
            "of cookies, each with name, value, domain and path"
        ) from None
    return read


def _cookie_of_state(found: dict[str, Any]) -> FileCookie:
    domain, name, value, path = (
        str(found[key]) for key in ("domain", "name", "value", "path")
    )
    expires_at = max(0.0, float(found.get("expires", 0)))
    return _file_cookie(
        domain, name, value, path, bool(found.get("secure")), expires_at
    )


def _read_database(path: Path) -> CookieFile:
    """Read a copy of the database of a browser, which may be writing."""
    with tempfile.TemporaryDirectory(prefix="gencrawl-") as directory:
        copy = Path(directory, "cookies")
        for suffix in ("", "-wal", "-journal"):
            beside = path.with_name(path.name + suffix)
            if not beside.is_file():
                continue
            if beside.stat().st_size > MAX_DATABASE_BYTES:
                raise ConfigError(f"{beside} is too large for a file of cookies")
            shutil.copyfile(beside, f"{copy}{suffix}")
        try:
            with closing(sqlite3.connect(copy)) as database:
                # A value need not be text, and the error of a failed conversion quotes it.
                database.text_factory = lambda octets: octets.decode(*_ANY_BYTES)
                return _read_rows(path, database)
        except sqlite3.Error as exc:
            raise ConfigError(f"cannot read the cookies in {path}: {exc}") from None
        except (TypeError, ValueError, AttributeError):
            raise ConfigError(f"{path} is not as a browser writes it") from None


def _query_of(path: Path, database: sqlite3.Connection) -> tuple[str, int]:
    """Return what to ask a database for, and its version if it is one of Chromium."""
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if "moz_cookies" in tables:
        return _FIREFOX, 0
    if not {"cookies", "meta"} <= tables:
        raise ConfigError(f"{path} is a database, but not of the cookies of a browser")
    query = _CHROMIUM
    columns = {row[1] for row in database.execute("PRAGMA table_info(cookies)")}
    if "top_frame_site_key" not in columns:  # before Chromium 94
        query = query.replace("top_frame_site_key", "''")
    found = database.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    return query, int(found[0]) if found else 0


def _read_rows(path: Path, database: sqlite3.Connection) -> CookieFile:
    query, version = _query_of(path, database)
    read, aside, values = CookieFile(), [], ValueReader(version)
    for row in database.execute(query):
        host, name, place, is_secure, expires_at, is_apart, *stored = row
        if is_apart:
            aside.append(f"{name} of {host}")
        elif (value := values.read(host, name, *stored)) is not None:
            read.cookies.append(
                _file_cookie(host, name, value, place, bool(is_secure), expires_at)
            )
    if values.unread:
        text = (
            f"{number(len(values.unread), 'cookie')} in {path} cannot be decrypted: "
            f"{_named(values.unread)}: {values.cause}"
        )
        if not read.cookies:
            raise ConfigError(text)
        read.remarks.append(text)
    if aside:
        read.remarks.append(
            f"{number(len(aside), 'cookie')} of containers, private windows or other sites' "
            f"frames in {path} left out: {_named(aside)}"
        )
    return read


def _named(names: Iterable[str]) -> str:
    """Return a few names, and how many more there are."""
    listed = sorted(set(map(printable, names)))
    more = f" and {len(listed) - MAX_NAMED:,} more" if len(listed) > MAX_NAMED else ""
    return ", ".join(listed[:MAX_NAMED]) + more


def _file_cookie(
    domain: str, name: str, value: str, path: str, is_secure: bool, expires_at: float
) -> FileCookie:
    """Return a cookie.

    Args:
        domain: With a dot before it if subdomains get the cookie too.
        expires_at: 0 for a session cookie.
    """
    # A header is sent as latin-1; browsers store text, and send UTF-8.
    name, value = (text.encode(*_ANY_BYTES).decode("latin-1") for text in (name, value))
    if NOT_SENT.search(name + value):
        name, value, expires_at = "", "", -math.inf  # which no browser sends
    cookie = Cookie(name, value, path or "/", is_secure, expires_at or math.inf)
    domain = domain.lower()
    return FileCookie(domain.removeprefix("."), domain.startswith("."), cookie)


def _read_line(line: str) -> FileCookie | None:
    """Parse a line of a cookies.txt; None if it has no cookie.

    Raises:
        ValueError: the line has another format.
    """
    line = line.removeprefix("#HttpOnly_")
    if not line.strip() or line.startswith("#"):
        return None
    if NOT_SENT.search(line):
        raise ValueError("a control character")
    fields = line.split("\t")
    if len(fields) == 6:  # an editor has stripped the tab before an empty value
        fields.append("")
    if len(fields) != 7:
        raise ValueError(f"{len(fields)} fields separated by tabs, not 7")
    domain, has_subdomains, path, is_secure, expires, name, value = fields
    # No error quotes a field: if a tab is missing, it may be a secret.
    if not {has_subdomains.upper(), is_secure.upper()} <= _BOOL_BY_WORD.keys():
        raise ValueError("neither TRUE nor FALSE in field 2 or 4")
    if not path.startswith("/"):
        raise ValueError("no path in field 3")
    if not _TIME.fullmatch(expires):
        raise ValueError("no time in field 5")
    if not name:
        raise ValueError("no name in field 6")
    # Session cookies are written with 0.
    expires_at = float(expires or 0) or math.inf
    cookie = Cookie(name, value, path, _BOOL_BY_WORD[is_secure.upper()], expires_at)
    domain = domain.lower().removeprefix(".")
    return FileCookie(domain, _BOOL_BY_WORD[has_subdomains.upper()], cookie)
