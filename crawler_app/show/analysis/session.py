"""A connection to DuckDB that can read the tables of crawls, and nothing else.

Rule: before the first statement of the user runs, access to files and to the network is off and
the configuration is locked.  The tables are attached for reading; what a statement creates is in
memory and ends with the connection.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from crawler_app.base.errors import ConfigError
from crawler_app.base.text.escaping import printable
from crawler_app.show.analysis.cached import TABLES
from crawler_app.show.export.tables.columns import CAPTURES
from crawler_app.show.export.tables.database import duckdb_module, quoted

if TYPE_CHECKING:
    import duckdb

__all__ = ["run_statements", "session", "until_interrupted"]

T = TypeVar("T")

# Where Common Crawl's published queries look, and functions that they call in Athena.
COMMON_CRAWL = f"""
CREATE SCHEMA ccindex;
CREATE VIEW ccindex.ccindex AS FROM main.{CAPTURES};
CREATE VIEW ccindex AS FROM main.{CAPTURES};
CREATE MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern);
CREATE MACRO levenshtein_distance(a, b) AS levenshtein(a, b);
CREATE MACRO url_extract_path(url) AS regexp_extract(url, '^[^:]+://[^/?#]*([^?#]*)', 1);
"""


def session(
    databases: Sequence[tuple[str, Path]], written: Path
) -> "duckdb.DuckDBPyConnection":
    """Return a locked connection; several crawls are read as one, with their names.

    Args:
        databases: The name of each crawl, and its database.
        written: The only file that may be read and written.
    """
    connection: duckdb.DuckDBPyConnection = duckdb_module().connect()
    try:
        for place, (_, path) in enumerate(databases):
            connection.execute(f"ATTACH '{quoted(path)}' AS crawl_{place} (READ_ONLY)")
        for table in TABLES:
            parts = (
                _part(table, place, name) for place, (name, _) in enumerate(databases)
            )
            connection.execute(f"CREATE VIEW {table} AS {' UNION ALL '.join(parts)}")
        connection.execute(COMMON_CRAWL)
        for name, value in (
            ("temp_directory", f"'{quoted(written.parent / 'spilled')}'"),
            ("allowed_paths", f"['{quoted(written)}']"),
            ("python_enable_replacements", "false"),
            ("enable_external_access", "false"),
            ("lock_configuration", "true"),
        ):
            connection.execute(f"SET {name} = {value}")
    except BaseException:
        connection.close()
        raise
    return connection


def until_interrupted(
    connection: "duckdb.DuckDBPyConnection", function: Callable[[], T]
) -> T:
    """Return the result of a function that uses a connection; Ctrl-C ends its query."""
    # DuckDB does not look for signals while a query runs.
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(function)
        try:
            return running.result()
        except KeyboardInterrupt:
            connection.interrupt()
            raise


def _part(table: str, place: int, name: str) -> str:
    """Return a query for a table of one crawl."""
    crawl = f"'{quoted(name)}' AS crawl"
    columns = f"* REPLACE ({crawl})" if table == CAPTURES else f"*, {crawl}"
    return f"SELECT {columns} FROM crawl_{place}.{table}"


def run_statements(
    connection: "duckdb.DuckDBPyConnection", text: str, parquet: Path | None = None
) -> "duckdb.DuckDBPyConnection":
    """Run statements; return the connection, with the result of the last one.

    Args:
        parquet: Write that result into this file instead.

    Raises:
        ConfigError: there is none, one before the last is a query, or DuckDB refuses one.
    """
    module = duckdb_module()
    try:
        statements = connection.extract_statements(text)
        if not statements:
            raise ConfigError("the query is empty")
        last = statements.pop()
        for statement in statements:
            # What the user wants to see would be dropped.
            if statement.type == module.StatementType.SELECT:
                raise ConfigError(
                    "several of the statements are queries, and only the last one has its "
                    f"result written; run this one on its own: {statement.query.strip()}"
                )
            connection.execute(statement)
        if parquet is None:
            return connection.execute(last)
        query = last.query.strip().rstrip(";")
        return connection.execute(
            f"COPY (\n{query}\n) TO '{quoted(parquet)}' (FORMAT parquet, COMPRESSION zstd)"
        )
    except module.Error as exc:
        # It may quote what a page says.
        lines = map(printable, str(exc).splitlines())
        raise ConfigError("DuckDB: " + "\n".join(lines)) from None
