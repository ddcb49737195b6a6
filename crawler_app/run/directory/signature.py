"""Recognizes the directories whose settings this user has chosen on this machine.

A crawl directory may come from another person, and name a server that is to get $PGPASSWORD, a
file whose cookies are to be sent, or a proxy.  So what the user has given is signed with a key
that is not in the directory.
"""

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path

from crawler_app.base.config import CrawlConfig
from crawler_app.base.safe_files import open_regular, user_state

__all__ = ["is_signature", "settings_to_trust", "signature_of"]

KEY_BYTES = 32

# What could be used against the user, by the names of the fields; the flags that give it.
FLAG_BY_SETTING = {
    "frontier": "--frontier",
    "cookie_file": "--cookies",
    "proxy": "--proxy",
}


def settings_to_trust(config: CrawlConfig) -> dict[str, str]:
    """Return the flags of those settings of a directory that its user must have chosen."""
    flags = FLAG_BY_SETTING.items()
    return {name: flag for name, flag in flags if getattr(config, name)}


def signature_of(config: CrawlConfig) -> str:
    """Return the signature of these settings; empty if the user has no place for a key."""
    try:
        key = _key(user_state("key"))
    except (OSError, RuntimeError):  # RuntimeError if there is no home directory
        return ""
    names = (*FLAG_BY_SETTING, "crawl_name")
    signed = json.dumps([getattr(config, name) for name in names])
    return hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()


def is_signature(found: str, config: CrawlConfig) -> bool:
    """Return whether a signature is that of these settings."""
    wanted = signature_of(config)
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
