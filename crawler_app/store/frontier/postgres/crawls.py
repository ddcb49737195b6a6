"""The crawls of a server: begins one, and lists them.

Rule: what all workers crawl is stored once, when the crawl begins; it holds no secret.
"""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from crawler_app.base.errors import ConfigError, ServerError
from crawler_app.store.frontier.postgres.connecting import (
    DRIVER_ERRORS,
    NO_CRAWL,
    VERSION,
    connect,
    connect_to_server,
    words_of,
)
from crawler_app.store.frontier.postgres.install import install
from crawler_app.store.frontier.postgres.location import SCHEMA_PREFIX, CrawlLocation
from gencoro import gen

__all__ = ["ListedCrawl", "begin", "crawls_of", "set_limits"]

LEFT = "SELECT coalesce(sum(urls), 0)::bigint FROM amount WHERE state = 'queued'"
SCHEMAS = """
SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)
    AND has_schema_privilege(oid, 'USAGE')
    AND has_table_privilege(to_regclass(format('%I.crawl', nspname)), 'SELECT')
ORDER BY 1
"""

SET_PATH = "SELECT set_config('search_path', quote_ident($1), false)"

# Hosts with a longer gap are slow, or ask for it.
SET_GAP = """
WITH before AS (SELECT gap_s FROM crawl), changed AS (UPDATE crawl SET gap_s = $1)
UPDATE host SET gap_s = $1 FROM before WHERE host.gap_s = before.gap_s AND host.gap_s <> $1
"""

AT_WORK = "SELECT count(*) FROM worker WHERE alive_until > server_time()"


class ListedCrawl(NamedTuple):
    """A crawl of a server.

    Attributes:
        name: Its name.
        version: Of its frontier; of another one than ours, the rest is unknown.
        config: What it crawls, as JSON; None if it has not begun.
        workers: How many workers are at it now.
        left: How many URLs are still to be fetched.
    """

    name: str
    version: int
    config: str | None = None
    workers: int = 0
    left: int = 0

    @property
    def is_foreign(self) -> bool:
        """Whether it has a version of the frontier that this program cannot use."""
        return self.version != VERSION


@gen.coroutine
def begin(
    location: CrawlLocation,
    config: str,
    *,
    gap_s: float,
    max_pages: int | None = None,
    max_bytes: int | None = None,
) -> Generator[Any, Any, str]:
    """Begin a crawl, unless it was begun before; return the configuration that it has.

    The tables are made if they are missing.

    Args:
        config: What all workers crawl, as JSON.
        gap_s: The least time between two fetches from a host, for all workers together.
        max_pages: How many pages all workers together may begin; None for no limit.
        max_bytes: How many bytes they may receive, about.

    Raises:
        ConfigError: the server cannot be used, or has another version of the crawl.
    """
    yield install(location)
    sql = "SELECT frontier_begin($1, $2, $3, $4)"
    begun = yield from _asked(location, sql, config, gap_s, max_pages, max_bytes)
    return str(begun)


@gen.coroutine
def set_limits(
    location: CrawlLocation,
    config: str,
    max_pages: int | None,
    max_bytes: int | None,
    *,
    gap_s: float | None = None,
) -> Generator[Any, Any, None]:
    """Set other limits for all workers of a crawl; see `begin`.

    Args:
        config: What all workers crawl, with these limits, as JSON.
        gap_s: None to leave it as it is; otherwise this user owns the crawl, and no worker is at
            it.

    Raises:
        ConfigError: the server cannot be used.
    """
    sql = "SELECT frontier_limit($1, $2, $3)"
    yield from _asked(location, sql, config, max_pages, max_bytes)
    if gap_s is not None:
        yield from _asked(location, SET_GAP, gap_s)


def _asked(location: CrawlLocation, sql: str, *args: Any) -> Generator[Any, Any, Any]:
    connection = yield connect(location)
    try:
        return (yield connection.fetchval(sql, *args))
    except DRIVER_ERRORS as exc:
        text = words_of(exc, location)
        raise ConfigError(f"cannot change the crawl {location}: {text}") from None
    finally:
        yield connection.close()


@gen.coroutine
def crawls_of(url: str) -> Generator[Any, Any, list[ListedCrawl]]:
    """Return the crawls of a server that its user may read.

    Raises:
        ConfigError: the server cannot be reached.
        ServerError: the connection was lost.
    """
    location = CrawlLocation(url)
    connection = yield connect_to_server(location)
    try:
        with _read(location):
            schemas = yield connection.fetch(SCHEMAS, SCHEMA_PREFIX)
            found = []
            for (schema,) in schemas:
                with suppress(*NO_CRAWL):  # it is something else, or was just deleted
                    found += yield from _listed(connection, schema)
    finally:
        yield connection.close()
    return found


def _listed(connection: Any, schema: str) -> Generator[Any, Any, list[ListedCrawl]]:
    """Return the crawl of a schema, if it is one."""
    name = schema.removeprefix(SCHEMA_PREFIX)
    yield connection.execute(SET_PATH, schema)
    rows = yield connection.fetch(
        "SELECT version, to_jsonb(crawl)->>'config' FROM crawl"
    )
    found = []
    for version, config in rows:
        if version != VERSION:
            found.append(ListedCrawl(name, version))
            continue
        workers, left = yield connection.fetchrow(f"SELECT ({AT_WORK}), ({LEFT})")
        found.append(ListedCrawl(name, version, config, workers, left))
    return found


@contextmanager
def _read(location: CrawlLocation) -> Generator[None, None, None]:
    """Turn errors of the driver into ours."""
    try:
        yield
    except DRIVER_ERRORS as exc:
        text = words_of(exc, location)
        raise ServerError(f"cannot read {location.address}: {text}") from None
