"""The schema of a crawl in PostgreSQL: its installation, its version, and connections to it.

Each crawl has a schema of its own, with its functions, so that crawls of several versions may
share a database.
"""

from collections.abc import Generator
from functools import cache
from importlib import resources
from typing import Any

import asyncpg

from crawler_app.errors import ConfigError
from crawler_app.frontier.postgres.place import INVALID, Place
from crawler_app.reasons import PROVISIONAL
from gencoro import gen

__all__ = [
    "DRIVER_ERRORS",
    "MAX_PARTITIONS",
    "VERSION",
    "cannot_connect",
    "connect",
    "connect_to_server",
    "connect_worker",
    "install",
    "uninstall",
]

DRIVER_ERRORS = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)

# Of the tables and of the functions, and so of what a worker may call.
VERSION = 1

# As many as the ids of URLs have room for.
MAX_PARTITIONS = 1024

# A step reads a few rows by their indexes.  When a crawl begins, the statistics say that the
# tables are empty, and a plan that reads all of a table would be kept while it grows.
WORKER_SETTINGS = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "plan_cache_mode": "force_generic_plan",
}

# Longer than any step takes, also one that waits for another; then the connection is given up.
STEP_TIMEOUT_S = 60.0


@gen.coroutine
def connect(place: Place) -> Generator[Any, Any, Any]:
    """Return a connection to a crawl, for reading it.

    Raises:
        ConfigError: the server cannot be reached, or the crawl was not installed, or by
            another version.
    """
    connection = yield connect_to_server(place)
    yield from _checked(connection, place)
    return connection


@gen.coroutine
def connect_worker(place: Place) -> Generator[Any, Any, Any]:
    """Return a connection to a crawl, for making steps.

    Raises:
        ConfigError: the URL is invalid, or the crawl was not installed, or by another version.
        OSError, asyncpg.PostgresError, asyncpg.InterfaceError: the server cannot be reached.
    """
    connection = yield _open(place, WORKER_SETTINGS)
    yield from _checked(connection, place)
    return connection


@gen.coroutine
def connect_to_server(place: Place) -> Generator[Any, Any, Any]:
    """Return a connection to the server of a crawl, which need not be there.

    Raises:
        ConfigError: the server cannot be reached.
    """
    try:
        return (yield _open(place, {}))
    except DRIVER_ERRORS as exc:
        raise ConfigError(cannot_connect(place, exc)) from None


@gen.coroutine
def _open(place: Place, settings: dict[str, str]) -> Generator[Any, Any, Any]:
    try:
        return (
            yield asyncpg.connect(
                place.url,
                command_timeout=STEP_TIMEOUT_S,
                server_settings={
                    "application_name": f"gencrawl {place.crawl}",
                    "search_path": f'"{place.schema}"',
                    "jit": "off",
                    **settings,
                },
            )
        )
    except ValueError:  # its text shows the URL
        raise ConfigError(f"the URL of the frontier {place} {INVALID}") from None


def cannot_connect(place: Place, exc: Exception) -> str:
    """Return what to say of an error of the driver."""
    text = place.without_secrets(str(exc) or type(exc).__name__)
    return f"cannot connect to {place}: {text}"


def _checked(connection: Any, place: Place) -> Generator[Any, Any, None]:
    try:
        yield from _check(connection, place)
    except BaseException:
        connection.terminate()
        raise


def _check(connection: Any, place: Place) -> Generator[Any, Any, None]:
    try:
        version = yield connection.fetchval("SELECT version FROM crawl")
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
        version = None
    if version is None:
        raise ConfigError(
            f"there is no crawl {place}; make it with `gencrawl frontier init`"
        )
    if version != VERSION:
        raise ConfigError(
            f"the crawl {place} has version {version} of the frontier, and this program "
            f"version {VERSION}; use the version of gencrawl that began it"
        )


@gen.coroutine
def install(
    place: Place,
    *,
    partitions: int = 8,
    gap_s: float = 0.0,
    max_pages: int | None = None,
    max_bytes: int | None = None,
) -> Generator[Any, Any, bool]:
    """Make the tables and functions of a crawl; return False if they are there already.

    Args:
        partitions: Of the large tables, by the host of a URL.
        gap_s: The least time between two fetches from a host, for all workers together.
        max_pages: How many pages all workers together may begin; None for no limit.
        max_bytes: How many bytes they may receive, about.

    Raises:
        ConfigError: the server cannot be used, or has another version of the crawl.
    """
    if not 1 <= partitions <= MAX_PARTITIONS:
        raise ConfigError(f"partitions must be 1 to {MAX_PARTITIONS}, not {partitions}")
    connection = yield connect_to_server(place)
    try:
        # Two that install at once: the second waits, and finds what the first has made.
        transaction = connection.transaction()
        yield transaction.start()
        yield connection.execute(
            "SELECT pg_advisory_xact_lock(hashtext($1))", place.schema
        )
        is_new = not (
            yield connection.fetchval(
                "SELECT true FROM pg_namespace WHERE nspname = $1", place.schema
            )
        )
        if is_new:
            yield connection.execute(_script(place.schema, partitions))
            yield connection.execute(
                "INSERT INTO crawl (version, partitions, gap_s, pages_left, bytes_left)"
                " VALUES ($1, $2, $3, $4, $5)",
                VERSION,
                partitions,
                gap_s,
                max_pages,
                max_bytes,
            )
        yield transaction.commit()
        if not is_new:
            yield from _check(connection, place)
    except asyncpg.PostgresError as exc:
        raise ConfigError(f"cannot make the crawl {place}: {exc}") from None
    finally:
        yield connection.close()
    return is_new


@gen.coroutine
def uninstall(place: Place) -> Generator[Any, Any, None]:
    """Delete a crawl with everything that the server knows of it."""
    connection = yield connect(place)
    try:
        yield connection.execute(f'DROP SCHEMA "{place.schema}" CASCADE')
    finally:
        yield connection.close()


def _script(schema: str, partitions: int) -> str:
    """Return what makes everything."""
    parts = [
        f"CREATE TABLE {table}_{number} PARTITION OF {table} FOR VALUES IN ({number});"
        for table in ("url", "outcome")
        for number in range(partitions)
    ]
    words = ", ".join(f"'{word}'" for word in sorted(PROVISIONAL))
    functions = _source("functions.sql").replace("@PROVISIONAL@", words)
    return "\n".join(
        [f'CREATE SCHEMA "{schema}";', _source("tables.sql"), *parts, functions]
    )


@cache
def _source(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
