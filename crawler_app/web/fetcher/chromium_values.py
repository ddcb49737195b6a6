"""Decrypts the values of Chromium's cookies on Linux.

A value begins with ``v10`` if it is encrypted with a fixed password, and with ``v11`` if with one
that is in the keyring of the desktop, which the program ``secret-tool`` reads.

Source: components/os_crypt/sync/os_crypt_linux.cc and net/extras/sqlite of Chromium.
"""

import functools
import hashlib
import importlib
import subprocess
from typing import Any

__all__ = ["ValueReader"]

# From this version of the database on, a value begins with the digest of its host.
DIGEST_SINCE = 24

# The names under which Chromium and its relatives keep their passwords.
APPLICATIONS = ("chromium", "chrome", "brave", "msedge", "vivaldi", "opera")

NO_PACKAGE = "that needs cryptography; pip install 'gencoro[browser-cookies]'"
NO_KEYRING = (
    "the keyring of the desktop has the password, which `secret-tool` (libsecret) must be able "
    "to read; or export the cookies as a cookies.txt"
)
UNKNOWN = "they are encrypted in a way that is not known; export them as a cookies.txt"

KEYRING_TIMEOUT_S = 20.0


class ValueReader:
    """Reads the values of one database.

    Args:
        version: That of the database.

    Attributes:
        unread: The cookies whose values cannot be decrypted, each by its name and host.
        cause: Why the last of them cannot.
    """

    def __init__(self, version: int) -> None:
        self.unread: list[str] = []
        self.cause = ""
        self._has_digest = version >= DIGEST_SINCE

    def read(self, host: str, name: str, plain: str, encrypted: bytes) -> str | None:
        """Return the value of a cookie; None if it cannot be decrypted."""
        if not encrypted:
            return plain
        value = self._decrypted(host, bytes(encrypted))
        if value is None:
            self.unread.append(f"{name} of {host}")
        return value

    def _decrypted(self, host: str, encrypted: bytes) -> str | None:
        version, data = encrypted[:3], encrypted[3:]
        if version not in (b"v10", b"v11"):
            self.cause = UNKNOWN
            return None
        if _ciphers() is None:
            self.cause = NO_PACKAGE
            return None
        passwords = (b"peanuts", b"") if version == b"v10" else _keyring_passwords()
        for password in passwords:
            value = self._opened(host, data, password)
            if value is not None:
                return value
        self.cause = UNKNOWN if version == b"v10" else NO_KEYRING
        return None

    def _opened(self, host: str, data: bytes, password: bytes) -> str | None:
        """Return what a password decrypts; None if it is another one."""
        ciphers = _ciphers()
        key = hashlib.pbkdf2_hmac("sha1", password, b"saltysalt", 1, 16)
        cipher = ciphers.Cipher(
            ciphers.algorithms.AES(key), ciphers.modes.CBC(b" " * 16)
        )
        if not data or len(data) % 16:
            return None
        decryptor = cipher.decryptor()
        text: bytes = decryptor.update(data) + decryptor.finalize()
        padding = text[-1]
        if not 1 <= padding <= 16 or text[-padding:] != bytes([padding]) * padding:
            return None
        text = text[:-padding]
        if self._has_digest:
            digest = hashlib.sha256(host.encode()).digest()
            if not text.startswith(digest):
                return None
            # Not every value is UTF-8.
            return text[len(digest) :].decode(errors="surrogateescape")
        try:
            return text.decode()
        except UnicodeDecodeError:
            return None


@functools.cache
def _ciphers() -> Any:
    """Return the module of the package cryptography; None if it is not installed."""
    try:
        return importlib.import_module("cryptography.hazmat.primitives.ciphers")
    except ImportError:
        return None


@functools.cache
def _keyring_passwords() -> tuple[bytes, ...]:
    """Return the passwords in the keyring; none if it cannot be read."""
    found = []
    for application in APPLICATIONS:
        try:
            done = subprocess.run(
                ["secret-tool", "lookup", "application", application],
                capture_output=True,
                timeout=KEYRING_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            break
        if done.returncode == 0 and done.stdout:
            found.append(done.stdout.rstrip(b"\n"))
    return tuple(found)
