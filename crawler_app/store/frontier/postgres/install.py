"""The schema of a crawl in PostgreSQL: its installation, and its deletion.

Each crawl has a schema of its own, with its functions, so that crawls of several versions may
share a database.

Rule: a worker need not own anything.  The functions that it calls run with the rights of the
owner, so it needs none to change a table.
"""

import contextlib
from collections.abc import Generator
from functools import cache
from importlib import resources
from typing import Any

import asyncpg

from crawler_app.base.errors import ConfigError
from crawler_app.base.reasons import PROVISIONAL
from crawler_app.store.frontier import LONGEST_HOLD_S, MAX_SETBACK_S
from crawler_app.store.frontier.postgres.connecting import (
    DRIVER_ERRORS,
    VERSION,
    check,
    connect_to_server,
    version_of,
    words_of,
)
from crawler_app.store.frontier.postgres.location import CrawlLocation
from gencoro import gen

__all__ = ["MAX_PARTITIONS", "install", "uninstall"]

# As many as the ids of URLs have room for.
MAX_PARTITIONS = 1024

# Of PostgreSQL; see docs/many_machines.rst.
MIN_MAJOR = 15

# Of a database that stores any text.
ENCODINGS = ("UTF8", "SQL_ASCII")

# What workers call.
AS_OWNER = r"""
DO $$
DECLARE
    called regprocedure;
BEGIN
    FOR called IN SELECT oid FROM pg_proc
        WHERE pronamespace = to_regnamespace('"@SCHEMA@"') AND proname LIKE 'frontier\_%'
    LOOP
        EXECUTE format(
            'ALTER FUNCTION %s SECURITY DEFINER SET search_path = "@SCHEMA@", pg_temp', called
        );
    END LOOP;
END $$;
"""

# What each action requires of a user, beyond the rights of a worker.
NEEDED = {
    "make": "be allowed to create schemas (GRANT CREATE ON DATABASE)",
    "delete": "own the crawl",
}

# A step locks this table first, except the first step of a connection: then the two may wait for
# each other, and it is tried again.
DROP = 'LOCK TABLE worker IN ACCESS EXCLUSIVE MODE; DROP SCHEMA "{}" CASCADE'


@gen.coroutine
def install(
    location: CrawlLocation, *, partitions: int = 8
) -> Generator[Any, Any, bool]:
    """Make the tables and functions of a crawl; return False if they are there already.

    Args:
        partitions: Of the large tables, by the host of a URL.

    Raises:
        ConfigError: the server cannot be used, or has another version of the crawl.
    """
    if not 1 <= partitions <= MAX_PARTITIONS:
        raise ConfigError(f"partitions must be 1 to {MAX_PARTITIONS}, not {partitions}")
    connection = yield connect_to_server(location)
    try:
        _check_server(connection, location)
        # Two that install at once: the second waits, and finds what the first has made.
        transaction = connection.transaction()
        yield transaction.start()
        yield connection.execute(
            "SELECT pg_advisory_xact_lock(hashtext($1))", location.schema
        )
        is_new = not (
            yield connection.fetchval(
                "SELECT true FROM pg_namespace WHERE nspname = $1", location.schema
            )
        )
        if is_new:
            yield connection.execute(_script(location.schema, partitions))
            yield connection.execute(
                "INSERT INTO crawl (version, partitions, gap_s) VALUES ($1, $2, 0)",
                VERSION,
                partitions,
            )
        yield transaction.commit()
        if not is_new:
            yield from check(connection, location)
    except DRIVER_ERRORS as exc:
        raise ConfigError(_cannot("make", location, exc)) from None
    finally:
        yield connection.close()
    return is_new


@gen.coroutine
def uninstall(location: CrawlLocation) -> Generator[Any, Any, None]:
    """Delete a crawl, of any version, with everything that the server knows of it.

    Raises:
        ConfigError: the server cannot be used, or this user does not own the crawl.
    """
    connection = yield connect_to_server(location)
    try:
        yield from version_of(connection, location)
        while True:
            with contextlib.suppress(asyncpg.DeadlockDetectedError):
                yield connection.execute(DROP.format(location.schema))
                return
    except DRIVER_ERRORS as exc:
        raise ConfigError(_cannot("delete", location, exc)) from None
    finally:
        yield connection.close()


def _check_server(connection: Any, location: CrawlLocation) -> None:
    """Check the version of the server, and that the database can store every URL and title."""
    version = connection.get_server_version()
    if version.major < MIN_MAJOR:
        raise ConfigError(
            f"cannot make the crawl {location}: the server is PostgreSQL {version.major}; "
            f"version {MIN_MAJOR} or newer is needed"
        )
    encoding = connection.get_settings().server_encoding
    if encoding not in ENCODINGS:
        raise ConfigError(
            f"cannot make the crawl {location}: the database has the encoding {encoding}; make one "
            "with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
        )


def _cannot(do: str, location: CrawlLocation, exc: Exception) -> str:
    text = words_of(exc, location)
    if isinstance(exc, asyncpg.InsufficientPrivilegeError):
        text += f"; the user must {NEEDED[do]}"
    return f"cannot {do} the crawl {location}: {text}"


def _script(schema: str, partitions: int) -> str:
    """Return what makes everything."""
    parts = [
        f"CREATE TABLE {table}_{number} PARTITION OF {table} FOR VALUES IN ({number});"
        for table in ("url", "outcome")
        for number in range(partitions)
    ]
    words = ", ".join(f"'{word}'" for word in sorted(PROVISIONAL))
    functions = _source("functions.sql")
    for name, value in (
        ("PROVISIONAL", words),
        ("LONGEST_HOLD_S", LONGEST_HOLD_S),
        ("MAX_SETBACK_S", MAX_SETBACK_S),
    ):
        functions = functions.replace(f"@{name}@", str(value))
    return "\n".join(
        [
            f'CREATE SCHEMA "{schema}";',
            _source("tables.sql"),
            *parts,
            functions,
            AS_OWNER.replace("@SCHEMA@", schema),
        ]
    )


@cache
def _source(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
