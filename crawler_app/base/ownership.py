"""Recognizes what this user has made on this machine.

A crawl directory may come from another person.  What is dangerous in it is signed with a key that
is not in the directory: settings that send secrets somewhere, and the data of a server, which may
run any program.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from crawler_app.base.safe_files import open_regular, user_state

__all__ = ["is_signature", "signature_of"]

KEY_BYTES = 32


def signature_of(text: str) -> str:
    """Return this user's signature of a text; empty if there is no place for a key."""
    try:
        key = _key(user_state("key"))
    except (OSError, RuntimeError):  # RuntimeError if there is no home directory
        return ""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def is_signature(found: str, text: str) -> bool:
    """Return whether a signature is this user's, of that text."""
    wanted = signature_of(text)
    return bool(wanted) and hmac.compare_digest(found.encode(), wanted.encode())


def _key(path: Path) -> bytes:
    """Return the key of the user, which is made when it is first needed."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"key.{secrets.token_hex(8)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(open_regular(new, flags, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        try:
            os.link(new, path)  # complete or not at all, and the first one stays
        except FileExistsError:
            pass
        finally:
            new.unlink()
    with open(open_regular(path, os.O_RDONLY), "rb") as file:
        return file.read()
