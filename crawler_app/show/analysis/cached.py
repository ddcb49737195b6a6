"""The tables of a crawl in a database file, which is kept until the crawl changes.

Making one takes as long as a report, half a minute for 50,000 pages, and a question takes a
fraction of a second; so the file is kept.  It is in the user's cache, not in the directory of the
crawl, which may be read-only, on a server, or from another person, who might have put another
file there.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

import crawler_app
from crawler_app.base.errors import ConfigError
from crawler_app.base.progress import OnStep
from crawler_app.base.storage.tables import Cache
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.export.tables.columns import (
    CAPTURES,
    FINDINGS,
    LINKS,
    PAGES,
    URLS,
)
from crawler_app.show.export.tables.database import duckdb_module, save_tables

__all__ = ["TABLES", "database_of"]

TABLES = (URLS, PAGES, LINKS, CAPTURES, FINDINGS)


def database_of(
    crawl: StoredCrawl, location: str, cache: Cache, on_step: OnStep
) -> Path:
    """Return the database of a crawl; it is made if there is none of its present state.

    Args:
        location: Tells it apart from other crawls.
    """
    module = duckdb_module()
    directory = cache.path / "sql"
    name = _digest(location)
    made_by = _code_version(), module.__version__
    path = directory / f"{name}-{_digest(*made_by, crawl.state())}.duckdb"
    if path.exists():
        with contextlib.suppress(OSError):  # when it was used last
            os.utime(path)
        return path
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory) as temporary:
            made = Path(temporary) / path.name
            save_tables(crawl, TABLES, made, on_step)
            for former in directory.glob(f"{name}-*.duckdb"):
                former.unlink(missing_ok=True)
            made.replace(path)
    except OSError as exc:
        raise ConfigError(
            f"cannot write into {directory}: {exc.strerror}; --cache names another"
        ) from None
    _make_room(directory, path, cache.max_bytes)
    return path


def _code_version() -> str:
    """Return what changes with the program, as what is read of a page may.

    In a checkout the version stays, and the files change.
    """
    modules = Path(crawler_app.__file__).parent.rglob("*.py")
    changed_at = max((path.stat().st_mtime_ns for path in modules), default=0)
    return f"{crawler_app.__version__} {changed_at}"


def _digest(*values: str) -> str:
    return hashlib.sha256("\0".join(values).encode()).hexdigest()[:16]


def _make_room(directory: Path, kept: Path, max_bytes: int) -> None:
    """Delete the databases that were not used for longest, if there is too much."""
    found = sorted(directory.glob("*.duckdb"), key=lambda path: -path.stat().st_mtime)
    total_bytes = 0
    for path in found:
        total_bytes += path.stat().st_size
        if total_bytes > max_bytes and path != kept:
            path.unlink(missing_ok=True)
