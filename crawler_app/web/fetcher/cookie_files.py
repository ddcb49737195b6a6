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
from crawler_app.web.fetcher.cookies import NOT_SENT, Cookie, FileCookie

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
FIRST_MILLISECONDS = 100_000_000_000
# Chromium counts microseconds from 1601.
EPOCH_1601_S = 11_644_473_600

MAX_NAMED = 5

_TIME = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?)?")
_BOOL_BY_WORD = {"TRUE": True, "FALSE": False}


@dataclass(slots=True)
class CookieFile:
    """What a file of cookies holds.

    Attributes:
        remarks: What was left out, and why; a sentence each.
    """

    cookies: list[FileCookie] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


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
        stored = [each["origin"] for each in state.get("origins", ())]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ConfigError(
            f"{path} is not a storage state as Playwright writes it: a JSON object with a list "
            "of cookies, each with name, value, domain and path"
        ) from None
    if stored:
        read.remarks.append(
            f"the localStorage in {path} ({_named(stored)}) is not used; the cookies are"
        )
    return read


def _cookie_of_state(found: dict[str, Any]) -> FileCookie:
    expires = float(found.get("expires", -1))
    return _file_cookie(
        str(found["domain"]),
        str(found["name"]),
        str(found["value"]),
        str(found["path"]),
        is_secure=bool(found.get("secure")),
        expires_at=expires if expires > 0 else math.inf,
    )


def _read_database(path: Path) -> CookieFile:
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
                names = {row[0] for row in database.execute(_TABLES)}
                if "moz_cookies" in names:
                    return _read_firefox(path, database)
                if {"cookies", "meta"} <= names:
                    return _read_chromium(path, database)
        except sqlite3.Error as exc:
            raise ConfigError(f"cannot read the cookies in {path}: {exc}") from None
    raise ConfigError(f"{path} is a database, but not of the cookies of a browser")


_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def _read_firefox(path: Path, database: sqlite3.Connection) -> CookieFile:
    read, aside = CookieFile(), []
    rows = database.execute(
        "SELECT host, name, value, path, isSecure, expiry, originAttributes FROM moz_cookies"
    )
    for host, name, value, place, is_secure, expiry, attributes in rows:
        if attributes:
            aside.append(f"{name} of {host}")
            continue
        expires_at = expiry / 1000 if expiry >= FIRST_MILLISECONDS else float(expiry)
        read.cookies.append(
            _file_cookie(
                host,
                name,
                value,
                place,
                is_secure=bool(is_secure),
                expires_at=expires_at or math.inf,
            )
        )
    if aside:
        read.remarks.append(
            f"{number(len(aside), 'cookie')} of containers, private windows and other sites' "
            f"frames in {path} left out: {_named(aside)}"
        )
    return read


def _read_chromium(path: Path, database: sqlite3.Connection) -> CookieFile:
    read, aside = CookieFile(), []
    columns = {row[1] for row in database.execute("PRAGMA table_info(cookies)")}
    partition = "top_frame_site_key" if "top_frame_site_key" in columns else "''"
    version = database.execute(
        "SELECT value FROM meta WHERE key = 'version'"
    ).fetchone()
    values = ValueReader(int(version[0]) if version else 0)
    rows = database.execute(
        "SELECT host_key, name, value, encrypted_value, path, is_secure, expires_utc, "
        f"has_expires, {partition} FROM cookies"
    )
    for (
        host,
        name,
        plain,
        encrypted,
        place,
        is_secure,
        expires,
        has_expires,
        key,
    ) in rows:
        if key:
            aside.append(f"{name} of {host}")
            continue
        value = values.read(host, name, plain, encrypted)
        if value is None:
            continue
        read.cookies.append(
            _file_cookie(
                host,
                name,
                value,
                place,
                is_secure=bool(is_secure),
                expires_at=expires / 1e6 - EPOCH_1601_S if has_expires else math.inf,
            )
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
            f"{number(len(aside), 'cookie')} of other sites' frames in {path} left out: "
            f"{_named(aside)}"
        )
    return read


def _named(names: Iterable[str]) -> str:
    """Return a few names, and how many more there are."""
    listed = sorted(set(map(printable, names)))
    more = f" and {len(listed) - MAX_NAMED:,} more" if len(listed) > MAX_NAMED else ""
    return ", ".join(listed[:MAX_NAMED]) + more


def _file_cookie(
    domain: str,
    name: str,
    value: str,
    path: str,
    *,
    is_secure: bool,
    expires_at: float,
) -> FileCookie:
    # A header is sent as latin-1; browsers store text, and send UTF-8.
    name, value = (text.encode().decode("latin-1") for text in (name, value))
    if NOT_SENT.search(name + value):
        name, value, expires_at = "", "", -math.inf  # which no browser sends
    cookie = Cookie(name, value, path or "/", is_secure, expires_at)
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
    return _cookie_of(*fields)


def _cookie_of(
    domain: str,
    has_subdomains: str,
    path: str,
    is_secure: str,
    expires: str,
    name: str,
    value: str,
) -> FileCookie:
    # No error quotes a field: if a tab is missing, it may be a secret.
    for word in (has_subdomains, is_secure):
        if word.upper() not in _BOOL_BY_WORD:
            raise ValueError("neither TRUE nor FALSE in field 2 or 4")
    if not path.startswith("/"):
        raise ValueError("no path in field 3")
    if not _TIME.fullmatch(expires):
        raise ValueError("no time in field 5")
    if not name:
        raise ValueError("no name in field 6")
    cookie = Cookie(
        name,
        value,
        path,
        _BOOL_BY_WORD[is_secure.upper()],
        # Session cookies are written with 0.
        expires_at=float(expires or 0) or math.inf,
    )
    domain = domain.lower().removeprefix(".")
    return FileCookie(domain, _BOOL_BY_WORD[has_subdomains.upper()], cookie)
