"""``gencrawl sql``: questions about crawls in SQL."""

import argparse
import contextlib
import copy
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import read_limited
from crawler_app.commands.arguments import STDOUT
from crawler_app.commands.exit_status import OK
from crawler_app.commands.output_file import (
    format_of,
    opened_output,
    require_writable,
)
from crawler_app.commands.stored_crawl import cache_of, opened
from crawler_app.show.analysis import CSV, JSONL, PARQUET, TABLE
from crawler_app.show.analysis.cached import database_of
from crawler_app.show.analysis.results import write_result
from crawler_app.show.analysis.session import run_statements, session, until_interrupted
from crawler_app.show.export.tables.database import duckdb_module
from crawler_app.show.terminal.progress_display import Steps

__all__ = ["sql"]

MAX_QUERY_BYTES = 2**20

STYLE_BY_ENDING = {".csv": CSV, ".jsonl": JSONL, ".parquet": PARQUET, ".txt": TABLE}


def sql(arguments: argparse.Namespace) -> int:
    """Write the result of a query over the tables of crawls."""
    duckdb_module()  # before the long work
    sources, query = _parts_of(arguments)
    where = arguments.output or STDOUT
    default = TABLE if where == STDOUT and sys.stdout.isatty() else CSV
    style = format_of(arguments.format, where, default, STYLE_BY_ENDING)
    if style == PARQUET and where == STDOUT and sys.stdout.isatty():
        raise ConfigError("parquet is binary; write it to a file with --output FILE")
    require_writable(where)
    with Steps(quiet=arguments.quiet) as steps:
        databases = [(name, _database(name, arguments, steps)) for name in sources]
    with (
        tempfile.TemporaryDirectory(prefix="gencrawl-") as directory,
        contextlib.closing(
            session(_named(databases), written := Path(directory) / "result")
        ) as connection,
    ):
        run = partial(run_statements, connection, query)
        if style == PARQUET:
            until_interrupted(connection, partial(run, written))
            with written.open("rb") as file, opened_output(where, "wb") as output:
                shutil.copyfileobj(file, output)
            return OK
        with opened_output(where) as output:
            until_interrupted(connection, lambda: write_result(run(), output, style))
    return OK


def _parts_of(arguments: argparse.Namespace) -> tuple[list[str], str]:
    """Return the crawls and the query."""
    sources = list(arguments.sources)
    if arguments.file is None:
        if len(sources) < 2:
            raise ConfigError("name the directory of a crawl, and then give the query")
        query = sources.pop()
    elif not sources:
        raise ConfigError("name the directory of a crawl")
    else:
        try:
            text = read_limited(arguments.file, MAX_QUERY_BYTES)
            query = text.decode()
        except (OSError, UnicodeDecodeError) as exc:
            raise ConfigError(f"cannot read {arguments.file}: {exc}") from None
    return list(dict.fromkeys(sources)), query


def _database(source: str, arguments: argparse.Namespace, steps: Steps) -> Path:
    one = copy.copy(arguments)
    one.stored = source
    location = f"{source} {arguments.crawl_name}" if "://" in source else ""
    crawl = opened(one, steps)
    return database_of(
        crawl, location or str(Path(source).resolve()), cache_of(arguments), steps
    )


def _named(databases: Sequence[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """Return the databases with short names of their crawls, each of its own."""
    names = [Path(source).name or source for source, _ in databases]
    is_clear = len(set(names)) == len(names)
    return [
        (name if is_clear else source, path)
        for name, (source, path) in zip(names, databases, strict=True)
    ]
