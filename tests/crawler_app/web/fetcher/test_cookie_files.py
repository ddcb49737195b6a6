"""Cookies of browsers: of their databases, also while they are written, and of a storage state."""

import hashlib
import json
import math
import sqlite3
from contextlib import closing

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.web.fetcher import chromium_values
from crawler_app.web.fetcher.cookie_files import read_cookies
from crawler_app.web.fetcher.request_policy import RequestPolicy

MOZ = "CREATE TABLE moz_cookies (host, name, value, path, isSecure, expiry, originAttributes)"
CHROMIUM = """
CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('version', '24');
CREATE TABLE cookies (host_key, name, value, encrypted_value, path, is_secure, expires_utc,
has_expires, top_frame_site_key);
"""
DIGEST = hashlib.sha256(b".a.test").digest()


def encrypted(text, password=b"peanuts", version=b"v10"):
    key = hashlib.pbkdf2_hmac("sha1", password, b"saltysalt", 1, 16)
    padding = 16 - len(text) % 16
    encryptor = Cipher(algorithms.AES(key), modes.CBC(b" " * 16)).encryptor()
    return version + encryptor.update(text + bytes([padding]) * padding)


@pytest.fixture
def chromium(tmp_path):
    """Return a function that writes the encrypted values of a profile; returns its directory."""

    def write(*values):
        (tmp_path / "Default/Network").mkdir(parents=True)
        path = tmp_path / "Default/Network/Cookies"
        with closing(sqlite3.connect(path)) as database:
            database.executescript(CHROMIUM)
            for number, value in enumerate(values):
                row = (".a.test", f"n{number}", "", value, "/", 1, 0, 0, "")
                database.execute("INSERT INTO cookies VALUES (?,?,?,?,?,?,?,?,?)", row)
            database.commit()
        return tmp_path

    return write


@pytest.mark.parametrize("expiry", [2_000_000_000, 2_000_000_000_000])
def test_firefox_is_read_while_it_writes(tmp_path, expiry):
    path = tmp_path / "cookies.sqlite"
    with closing(sqlite3.connect(path)) as browser:
        browser.execute("PRAGMA journal_mode = WAL")
        browser.execute(MOZ)
        row = (".a.test", "id", "7", "/", 1, expiry)
        browser.execute("INSERT INTO moz_cookies VALUES (?,?,?,?,?,?,'')", row)
        contained = "INSERT INTO moz_cookies VALUES (?,?,?,?,?,?,'^userContextId=2')"
        browser.execute(contained, ("b.test", "work", "s3cret", "/", 0, expiry))
        browser.commit()  # to the log beside it only
        browser.execute("BEGIN EXCLUSIVE")

        read = read_cookies(tmp_path)

    (found,) = read.cookies
    assert (found.domain, found.has_subdomains, found.cookie.pair) == (
        "a.test",
        True,
        "id=7",
    )
    assert found.cookie.expires_at == 2_000_000_000
    assert found.cookie.is_secure
    (remark,) = read.remarks
    assert "1 cookie of containers" in remark and "work of b.test" in remark
    assert "s3cret" not in remark


def test_values_of_chromium_are_decrypted_or_named(chromium):
    profile = chromium(
        encrypted(DIGEST + "Käse".encode()), encrypted(DIGEST + b"x", b"else"), b"v99x"
    )

    read = read_cookies(profile)

    assert [each.cookie.pair for each in read.cookies] == [
        "n0=" + "Käse".encode().decode("latin-1")
    ]
    assert read.cookies[0].cookie.expires_at == math.inf
    (remark,) = read.remarks
    assert "2 cookies in" in remark and "n1 of .a.test, n2 of .a.test" in remark


def test_values_are_sent_as_stored_also_if_they_are_not_utf_8(chromium, tmp_path):
    firefox = tmp_path / "cookies.sqlite"
    with closing(sqlite3.connect(firefox)) as database:
        database.execute(MOZ)
        database.execute(
            "INSERT INTO moz_cookies "
            "VALUES ('.a.test', 'n0', CAST(x'6bfc' AS TEXT), '/', 1, 0, '')"
        )
        database.commit()

    of_chromium = read_cookies(chromium(encrypted(DIGEST + b"k\xfc")) / "Default")

    assert of_chromium.cookies == read_cookies(firefox).cookies
    assert of_chromium.cookies[0].cookie.pair == "n0=k\xfc"


@pytest.mark.parametrize("row", ["NULL, 'n', 's3cret'", "'a.test', 7, x'00'"])
def test_database_with_other_values_is_refused(tmp_path, row):
    path = tmp_path / "cookies.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute(MOZ)
        database.execute(f"INSERT INTO moz_cookies VALUES ({row}, '/', 1, 0, '')")
        database.commit()

    with pytest.raises(ConfigError, match="is not as a browser writes it") as caught:
        read_cookies(path)

    assert "s3cret" not in str(caught.value)


def test_value_of_another_host_is_not_taken(chromium):
    with pytest.raises(ConfigError, match=r"1 cookie in .* cannot be decrypted"):
        read_cookies(chromium(encrypted(hashlib.sha256(b"b.test").digest() + b"7")))


def test_password_of_the_keyring_is_asked_for(chromium, tmp_path, monkeypatch):
    program = tmp_path / "secret-tool"
    program.write_text('#!/bin/sh\n[ "$3" = chrome ] && printf "pass word"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    chromium_values._keyring_passwords.cache_clear()

    (found,) = read_cookies(
        chromium(encrypted(DIGEST + b"7", b"pass word", b"v11"))
    ).cookies

    chromium_values._keyring_passwords.cache_clear()
    assert found.cookie.pair == "n0=7"


def test_missing_package_is_named(chromium, monkeypatch):
    monkeypatch.setattr(chromium_values, "_ciphers", lambda: None)

    with pytest.raises(ConfigError, match=r"pip install 'gencoro\[browser-cookies\]'"):
        read_cookies(chromium(encrypted(DIGEST + b"7")))


def test_storage_state_is_read(tmp_path):
    path = tmp_path / "state.json"
    cookie = {"name": "id", "value": "7", "path": "/x", "secure": True, "expires": 9e9}
    item = {"name": "token", "value": "8"}
    path.write_text(
        json.dumps(
            {
                "cookies": [{**cookie, "domain": "a.test"}],
                "origins": [{"origin": "http://a.test", "localStorage": [item]}],
            }
        )
    )

    read = read_cookies(path)

    (found,) = read.cookies
    assert (found.domain, found.has_subdomains) == ("a.test", False)
    assert (found.cookie.path, found.cookie.expires_at) == ("/x", 9e9)
    assert read.storage == {"http://a.test": [("token", "8")]}
    config = CrawlConfig(("http://a.test/",), cookie_file=str(path))
    assert "the localStorage in" in RequestPolicy(config, "").remarks[0]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b'{"cookies": [{"name": "id"}]}', "not a storage state as Playwright"),
        (b"{", "not a storage state as Playwright"),
        (b"SQLite format 3\0" + bytes(100), "cannot read the cookies in"),
        (b"a=1", r"line 1: 1 fields separated by tabs.*storage state of Playwright"),
    ],
)
def test_other_content_is_refused(tmp_path, content, error):
    path = tmp_path / "cookies"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=error):
        read_cookies(path)


def test_directory_without_cookies_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="is no profile of Firefox or Chromium"):
        read_cookies(tmp_path)
