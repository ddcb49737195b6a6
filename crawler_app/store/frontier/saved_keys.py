"""Saves the keys of known URLs, so that a resumed crawl need not read every URL.

They are saved when a crawl ends.  A crawl that was killed has saved none since; those of its
URLs are read one by one.
"""

import sqlite3
import sys

from crawler_app.store.frontier.key_set import KeySet

__all__ = ["load_keys", "save_keys"]

# URLs that are read one by one; it takes 20 ms.
MAX_UNSAVED = 50_000

# As `KeySet` holds them, in arrays of 64-bit integers.
KEY_BYTES = 8


def load_keys(db: sqlite3.Connection, keys: KeySet) -> None:
    """Fill an empty set with the keys of all URLs."""
    last_id, count = _saved(db)
    if count:

        def read(bucket: int) -> bytes:
            row = db.execute(
                "SELECT CAST(keys AS BLOB) FROM known WHERE bucket = ?", (bucket,)
            ).fetchone()
            # The file may come from another person.
            return (
                b"" if row is None else row[0][: len(row[0]) // KEY_BYTES * KEY_BYTES]
            )

        keys.read_later(read, count)
    keys.load(db.execute("SELECT key FROM url WHERE id > ?", (last_id,)))


def save_keys(db: sqlite3.Connection, keys: KeySet) -> None:
    """Save all keys, if there are many that are not saved."""
    (last_id,) = db.execute("SELECT coalesce(max(id), 0) FROM url").fetchone()
    if last_id - _saved(db)[0] <= MAX_UNSAVED:
        return
    db.executemany("REPLACE INTO known VALUES (?, ?)", keys.saved())
    db.execute("DELETE FROM saved")
    db.execute(
        "INSERT INTO saved VALUES (?, ?, ?)", (last_id, len(keys), sys.byteorder)
    )


def _saved(db: sqlite3.Connection) -> tuple[int, int]:
    """Return the id of the last URL whose key is saved, and how many are."""
    row = db.execute(
        "SELECT last_id, urls FROM saved WHERE byte_order = ?", (sys.byteorder,)
    ).fetchone()
    return (0, 0) if row is None else row
