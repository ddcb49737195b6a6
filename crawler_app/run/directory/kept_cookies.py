"""Keeps the cookies that servers have set, for ``resume``, in a file that only its owner can read.

It is written at most once a second, and at the end: what a kill loses is a second of cookies.
Several processes keep theirs in PostgreSQL.
"""

import asyncio
import dataclasses
import json
import logging
from pathlib import Path

from crawler_app.base.safe_files import create, open_regular
from crawler_app.web.fetcher.cookies import CookieStore
from crawler_app.web.fetcher.set_cookie import Cookie

__all__ = ["KeptCookies"]

logger = logging.getLogger(__name__)

SAVE_AFTER_S = 1.0
# Twice what a `CookieStore` keeps.
MAX_FILE_CHARS = 32 * 2**20


class KeptCookies:
    """The cookies of one run; must be closed.

    Args:
        path: The file; None for none.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._store: CookieStore | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, store: CookieStore | None, *, resumes: bool) -> None:
        """Keep the cookies of a store; first give it those of the last run, if that goes on."""
        self._store = store
        if self._path is None or store is None:
            return
        if not resumes:
            self._path.unlink(missing_ok=True)
            return
        for origin, cookies in _read(self._path).items():
            store.learn(origin, cookies)

    def note(self, _origin: str, _cookies: list[Cookie]) -> None:
        """Write the file soon: cookies have changed."""
        if self._path is not None and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SAVE_AFTER_S, self._save)

    def close(self) -> None:
        """Write what was not written yet."""
        if self._timer is not None:
            self._timer.cancel()
            self._save()

    def _save(self) -> None:
        self._timer = None
        assert self._path is not None and self._store is not None
        kept = {
            origin: [dataclasses.astuple(cookie) for cookie in cookies]
            for origin, cookies in self._store.kept().items()
        }
        new = self._path.with_suffix(".new")
        try:
            with create(new, 0o600) as file:
                json.dump(kept, file)
            new.replace(self._path)
        except OSError as exc:  # a crawl needs no cookies to go on
            logger.warning(
                "cannot keep the cookies in %s: %s", self._path, exc.strerror
            )


def _read(path: Path) -> dict[str, list[Cookie]]:
    """Return the cookies of the last run; none if the file is missing or damaged."""
    try:
        with open(path, encoding="utf-8", opener=open_regular) as file:
            found = json.loads(file.read(MAX_FILE_CHARS))
        return {
            origin: [
                Cookie(
                    str(name),
                    str(value),
                    str(place),
                    bool(secure),
                    float(at),
                    float(set_at),
                )
                for name, value, place, secure, at, set_at in cookies
            ]
            for origin, cookies in found.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        logger.warning("the cookies of the last run in %s cannot be read", path)
        return {}
