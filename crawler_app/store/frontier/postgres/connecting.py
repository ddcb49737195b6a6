"""Connections to a crawl in PostgreSQL, whose version is checked.

Rule: the errors of a driver are raised as they are to the step sender, which waits for a server that
is away, and to all others as a ConfigError without secrets.
"""

import configparser
import ssl
from collections.abc import Generator
from typing import Any

import asyncpg

from crawler_app.base.errors import ConfigError, ServerAwayError
from crawler_app.base.text.formatting import error_words
from crawler_app.store.frontier.postgres.location import INVALID, CrawlLocation
from gencoro import gen

__all__ = [
    "AWAY",
    "DRIVER_ERRORS",
    "NO_CRAWL",
    "VERSION",
    "WORKER_SETTINGS",
    "cannot_connect",
    "check",
    "connect",
    "connect_to_server",
    "connect_worker",
    "version_of",
    "words_of",
]

DRIVER_ERRORS = (
    OSError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)

# The server is away, is going, cannot write, or has no room now: it may be back later.
AWAY = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.PostgresSystemError,
    asyncpg.LockNotAvailableError,
    # The connection was lost between two messages, or no server can be written now.
    asyncpg.InternalClientError,
)

# There is no crawl of that name, or there is something else.
NO_CRAWL = (
    asyncpg.InvalidSchemaNameError,
    asyncpg.UndefinedColumnError,
    asyncpg.UndefinedTableError,
)

# What a pooler such as PgBouncer says to the settings of a connection, or its statements.
POOLER_ERRORS = (
    asyncpg.ProtocolViolationError,
    asyncpg.DuplicatePreparedStatementError,
    asyncpg.InvalidSQLStatementNameError,
)
POOLED = (
    "a pooler such as PgBouncer does not keep the settings of a connection; use the address of "
    "the server itself"
)

# Of the tables and of the functions, and so of what a worker may call.
VERSION = 1

# For each server, as several may be tried in turn.
CONNECT_TIMEOUT_S = 10.0

# Longer than any step takes, also one that waits for another; then the connection is given up.
STEP_TIMEOUT_S = 60.0

# Long enough for a report of a large crawl.
READ_TIMEOUT_S = 3600.0

# A step reads a few rows by their indexes.  When a crawl begins, the statistics say that the
# tables are empty, and a plan that reads all of a table would be kept while it grows.  The rest
# does not depend on what an administrator has set for others: a step that takes too long is
# ended there when it is given up here, as is one whose worker was cut off.
WORKER_SETTINGS = {
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "plan_cache_mode": "force_generic_plan",
    "default_transaction_isolation": "read committed",
    "statement_timeout": f"{STEP_TIMEOUT_S:.0f}s",
    "idle_session_timeout": "0",
}


@gen.coroutine
def connect(location: CrawlLocation) -> Generator[Any, Any, Any]:
    """Return a connection to a crawl, for reading it.

    Raises:
        ConfigError: the server cannot be reached, or the crawl was not installed, or by
            another version.
    """
    connection = yield connect_to_server(location)
    try:
        yield from _checked(connection, check(connection, location))
    except DRIVER_ERRORS as exc:
        raise cannot_connect(location, exc) from None
    return connection


@gen.coroutine
def connect_worker(location: CrawlLocation) -> Generator[Any, Any, Any]:
    """Return a connection to a crawl, for making steps.

    Raises:
        ConfigError: the URL is invalid, or the crawl was not installed, or by another version.
        OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError:
            the server cannot be reached.
    """
    connection = yield _open(location, WORKER_SETTINGS, STEP_TIMEOUT_S)
    yield from _checked(connection, check(connection, location))
    return connection


@gen.coroutine
def connect_to_server(location: CrawlLocation) -> Generator[Any, Any, Any]:
    """Return a connection to a server, whether it has the crawl or not.

    Raises:
        ConfigError: it cannot be reached.
    """
    try:
        return (yield _open(location, {}, READ_TIMEOUT_S))
    except DRIVER_ERRORS as exc:
        raise cannot_connect(location, exc) from None


@gen.coroutine
def _open(
    location: CrawlLocation, settings: dict[str, str], timeout_s: float
) -> Generator[Any, Any, Any]:
    """Connect to the first server that answers, and is of the kind that is wanted."""
    for url in location.urls:
        try:
            connection = yield asyncpg.connect(
                url,
                timeout=CONNECT_TIMEOUT_S,
                command_timeout=timeout_s,
                target_session_attrs=location.session_attrs,
                server_settings={
                    "application_name": f"gencrawl {location.crawl}",
                    "search_path": f'"{location.schema}"',
                    "jit": "off",
                    **settings,
                },
            )
            yield from _checked(connection, _check_settings(connection, location))
            return connection
        except asyncpg.ClientConfigurationError as exc:
            text = location.without_secrets(str(exc))
            raise ConfigError(
                f"the URL of the frontier {location} is invalid: {text}"
            ) from None
        except DRIVER_ERRORS:  # an error of a certificate is a ValueError, too
            if url == location.urls[-1]:
                raise
        except configparser.Error:  # its text shows lines of the file
            raise ConfigError(
                f"the service file of the frontier {location} is invalid, or has a '%'; a "
                "password is read from PGPASSWORD or ~/.pgpass, too"
            ) from None
        except (ValueError, OverflowError):  # of a port; its text may show the URL
            raise ConfigError(f"the URL of the frontier {location} {INVALID}") from None
    raise AssertionError("a location has at least one URL")


def _check_settings(
    connection: Any, location: CrawlLocation
) -> Generator[Any, Any, None]:
    """Check that the settings of a connection have reached the server.

    PgBouncer refuses them, or ignores them if configured so; then tables would be made in
    another schema.
    """
    path = yield connection.fetchval("SELECT current_setting('search_path')")
    if path != f'"{location.schema}"':
        raise ConfigError(f"cannot connect to {location}: {POOLED}")


def words_of(exc: Exception, location: CrawlLocation) -> str:
    """Return what an error of the driver says, without secrets."""
    if isinstance(exc, asyncpg.InternalClientError):
        return "the connection was lost"  # it speaks of states of the driver
    if isinstance(exc, ConnectionRefusedError):
        return "connection refused"  # asyncio says "Connect call failed"
    if isinstance(exc, TimeoutError):
        return "no answer in time"  # asyncio says nothing
    return location.without_secrets(error_words(exc) or type(exc).__name__)


def cannot_connect(location: CrawlLocation, exc: Exception) -> ConfigError:
    """Return the error to raise for one of the driver."""
    text = words_of(exc, location)
    if isinstance(exc, POOLER_ERRORS):
        text = f"{text.partition(chr(10))[0]}; {POOLED}"
    if isinstance(exc, ssl.SSLCertVerificationError):
        text = (
            f"the certificate of the server is not valid here: {exc.verify_message}; "
            "sslrootcert=FILE in the URL names that of its authority"
        )
    if isinstance(exc, asyncpg.InvalidPasswordError):
        text += (
            "; the password is read from PGPASSWORD, or from ~/.pgpass if only its owner can "
            "read that file"
        )
    if isinstance(exc, FileNotFoundError):
        text += "; see host, sslrootcert, sslcert and sslkey in the URL"
    error_class = ServerAwayError if isinstance(exc, AWAY) else ConfigError
    return error_class(f"cannot connect to {location.address}: {text}")


def _checked(
    connection: Any, checking: Generator[Any, Any, None]
) -> Generator[Any, Any, None]:
    try:
        yield from checking
    except BaseException:
        connection.terminate()
        raise


def check(connection: Any, location: CrawlLocation) -> Generator[Any, Any, None]:
    """Check that a crawl is there, and of this version.

    Raises:
        ConfigError: it is not.
    """
    version = yield from version_of(connection, location)
    if version != VERSION:
        raise ConfigError(
            f"the crawl {location} has version {version} of the frontier, and this program "
            f"version {VERSION}; use the version of gencrawl that began it"
        )


def version_of(connection: Any, location: CrawlLocation) -> Generator[Any, Any, int]:
    """Return the version of a crawl.

    Raises:
        ConfigError: there is none, or this user cannot read it.
    """
    try:
        version = yield connection.fetchval("SELECT version FROM crawl")
    except NO_CRAWL:
        version = None
    except asyncpg.InsufficientPrivilegeError as exc:
        raise ConfigError(
            f"cannot read the crawl {location}: {words_of(exc, location)}; its owner has to run "
            f'GRANT SELECT ON ALL TABLES IN SCHEMA "{location.schema}"'
        ) from None
    if version is None:
        raise ConfigError(location.absence)
    return int(version)
