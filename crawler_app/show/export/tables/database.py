"""Loads the tables of a crawl into DuckDB, which also writes Parquet.

The rows go through a temporary CSV file, the only way into DuckDB that is fast without another
large package: a million links take two seconds.
"""

import csv
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler_app.base.errors import ConfigError
from crawler_app.base.progress import OnStep
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.export.tables.columns import COLUMNS_BY_TABLE, PAGES
from crawler_app.show.export.tables.reading import read_tables

if TYPE_CHECKING:
    import duckdb

__all__ = ["duckdb_module", "quoted", "save_tables", "write_parquet_file"]

# Of DuckDB while it loads rows, in one thread.  It reads 2,048 at once, and the text of a page
# may have 200,000 characters.
MEMORY_LIMIT, MEMORY_LIMIT_WITH_TEXTS = "80MB", "1GB"

# Rows that are collected before they are written: of links, about 10 MB.
ROW_GROUP, ROW_GROUP_WITH_TEXTS = 50_000, 2048

# Of one row.  DuckDB reads as much of a file at once, by default 16 times as much, which is
# more than that limit.
MAX_ROW_BYTES = 10_000_000


def duckdb_module() -> Any:
    """Return the module ``duckdb``.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import duckdb  # noqa: PLC0415
    except ImportError:
        raise ConfigError(
            "this needs DuckDB: pip install 'gencoro[analysis]'"
        ) from None
    return duckdb


def save_tables(
    crawl: StoredCrawl, tables: Sequence[str], path: Path, on_step: OnStep
) -> None:
    """Write tables of a crawl into a new database file."""
    with _loaded(crawl, tables, on_step, str(path)) as (connection, sources):
        for table, source in sources.items():
            connection.execute(f"CREATE TABLE {table} AS {source}")


def write_parquet_file(
    crawl: StoredCrawl, table: str, path: Path, on_step: OnStep
) -> None:
    """Write a table of a crawl into a new Parquet file.

    Raises:
        ConfigError: DuckDB is not installed.
    """
    rows = ROW_GROUP_WITH_TEXTS if table == PAGES else ROW_GROUP
    with _loaded(crawl, [table], on_step) as (connection, sources):
        connection.execute(
            f"COPY ({sources[table]}) TO '{quoted(path)}' (FORMAT parquet, COMPRESSION zstd,"
            f" ROW_GROUP_SIZE {rows})"
        )


@contextmanager
def _loaded(
    crawl: StoredCrawl,
    tables: Sequence[str],
    on_step: OnStep,
    database: str = ":memory:",
) -> "Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, str]]]":
    """Read tables into temporary files; yield a connection, and a query for each of them."""
    module = duckdb_module()
    with ExitStack() as cleanup:
        directory = Path(
            cleanup.enter_context(tempfile.TemporaryDirectory(prefix="gencrawl-"))
        )
        path_by_table = {table: directory / f"{table}.csv" for table in tables}
        _stage(crawl, path_by_table, on_step)
        connection = cleanup.enter_context(closing(module.connect(database)))
        memory = MEMORY_LIMIT_WITH_TEXTS if PAGES in tables else MEMORY_LIMIT
        for name, value in (
            ("memory_limit", memory),
            ("threads", "1"),
            ("temp_directory", str(directory / "spilled")),
        ):
            connection.execute(f"SET {name} = '{quoted(value)}'")
        yield (
            connection,
            {table: _source(table, path) for table, path in path_by_table.items()},
        )


def _stage(crawl: StoredCrawl, path_by_table: dict[str, Path], on_step: OnStep) -> None:
    with ExitStack() as opened:
        sinks = {}
        for table, path in path_by_table.items():
            file = path.open("w", encoding="utf-8", errors="replace", newline="")
            writer = csv.writer(opened.enter_context(file), lineterminator="\n")
            sinks[table] = writer.writerows
        read_tables(crawl, sinks, on_step)


def _source(table: str, path: Path) -> str:
    """Return a query for the rows in a CSV file."""
    columns = COLUMNS_BY_TABLE[table]
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
    return (
        f"SELECT * FROM read_csv('{quoted(path)}', auto_detect = false, header = false,"
        f" delim = ',', quote = '\"', escape = '\"', nullstr = '',"
        f" max_line_size = {MAX_ROW_BYTES}, buffer_size = {MAX_ROW_BYTES},"
        f" parallel = false, columns = {{{types}}})"
    )


def quoted(value: object) -> str:
    """Return a value as the inside of a string in SQL."""
    return str(value).replace("'", "''")
