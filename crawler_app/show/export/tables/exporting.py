"""Writes a table as JSON lines, CSV or Parquet."""

import csv
import functools
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from crawler_app.base.progress import OnStep
from crawler_app.base.text.escaping import defused, json_text
from crawler_app.base.urls import host_of
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.show.export.tables.as_html import write_table_page
from crawler_app.show.export.tables.columns import PAGES, URLS, Row, text_columns
from crawler_app.show.export.tables.database import write_parquet_file
from crawler_app.show.export.tables.reading import read_tables

__all__ = [
    "write_csv",
    "write_csv_rows",
    "write_html",
    "write_json_rows",
    "write_jsonl",
    "write_parquet",
]


def write_jsonl(
    crawl: StoredCrawl, output: TextIO, on_step: OnStep, table: str = URLS
) -> None:
    """Write a table as JSON lines."""
    columns = text_columns(table)
    sink = {table: lambda rows: write_json_rows(columns, rows, output)}
    read_tables(crawl, sink, on_step)


def write_json_rows(columns: list[str], rows: Iterable[Row], output: TextIO) -> None:
    """Write rows as JSON lines; cells beyond the columns are left out."""
    output.writelines(
        json_text(dict(zip(columns, row, strict=False))) + "\n" for row in rows
    )


def write_csv(
    crawl: StoredCrawl, output: TextIO, on_step: OnStep, table: str = URLS
) -> None:
    """Write a table as CSV, with a header."""
    columns = text_columns(table)
    write_csv_rows([columns], output)
    width = len(columns)
    sink = {table: lambda rows: write_csv_rows((row[:width] for row in rows), output)}
    read_tables(crawl, sink, on_step)


def write_csv_rows(rows: Iterable[Row], output: TextIO) -> None:
    """Write rows as CSV; lists are written with blanks between their items."""
    csv.writer(output, lineterminator="\n").writerows(
        [_cell(c) if isinstance(c, str | list) else c for c in row] for row in rows
    )


def _cell(value: Any) -> str:
    if isinstance(value, list):
        value = " ".join(str(each) for each in value if each is not None)
    return _defused(value)


@functools.lru_cache(10_000)  # a URL has many links, and they have few kinds
def _defused(text: str) -> str:
    return str(defused(text))


def write_html(
    crawl: StoredCrawl, output: TextIO, on_step: OnStep, table: str = PAGES
) -> None:
    """Write a table as a page with filters."""
    site = host_of(crawl.config().seeds[0])
    rows: list[Row] = []  # a page that is opened is in memory too
    read_tables(crawl, {table: rows.extend}, on_step)
    write_table_page(table, site, rows, output)


def write_parquet(
    crawl: StoredCrawl, output: BinaryIO, on_step: OnStep, table: str = URLS
) -> None:
    """Write a table as Parquet.

    Raises:
        ConfigError: the extra ``analysis`` is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="gencrawl-") as directory:
        path = Path(directory) / f"{table}.parquet"
        write_parquet_file(crawl, table, path, on_step)
        with path.open("rb") as file:
            shutil.copyfileobj(file, output)
