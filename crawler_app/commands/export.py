"""``gencrawl export``: write what a crawl has found, in one of many formats."""

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from crawler_app.base.errors import ConfigError
from crawler_app.commands.arguments import STDOUT
from crawler_app.commands.exit_status import OK
from crawler_app.commands.output_file import (
    format_of,
    opened_output,
    require_writable,
)
from crawler_app.commands.stored_crawl import opened, require_archive
from crawler_app.show.export.formats import (
    BINARY,
    DEFAULT_FORMAT,
    DIRECTORY,
    FILES,
    FORMATS,
)
from crawler_app.show.export.tables.columns import COLUMNS_BY_TABLE
from crawler_app.show.terminal.progress_display import Steps

__all__ = ["export"]

HERE = "crawler_app.show.export"

FORMAT_BY_ENDING = {
    ending: name for name, each in FORMATS.items() for ending in each.endings
}


def export(arguments: argparse.Namespace) -> int:
    """Write a crawl in a format.

    If it fails, an output file is left unchanged.
    """
    where = arguments.output or STDOUT
    name = format_of(arguments.format, where, DEFAULT_FORMAT, FORMAT_BY_ENDING)
    options = _options_of(arguments, name, where)
    _require_output(where, name)
    # On a terminal the output itself shows the progress.
    is_shown = where == STDOUT and sys.stdout.isatty()
    steps = Steps(quiet=arguments.quiet or is_shown)
    crawl = opened(arguments, steps)
    if FORMATS[name].needs_archive:
        require_archive(crawl)
    write = resolve_name(f"{HERE}.{FORMATS[name].write}")
    with steps, _opened(where, FORMATS[name].output) as output:
        write(crawl, output, steps, **options)
    return OK


def _options_of(arguments: argparse.Namespace, name: str, where: str) -> dict[str, Any]:
    """Return the options that were given for a format, by name or by that of the output.

    Raises:
        ConfigError: one of them is for other formats, or the name of the output tells a
            format of tables, but no table.
    """
    given: dict[str, Any] = {}
    for option in dict.fromkeys(o for each in FORMATS.values() for o in each.options):
        value = getattr(arguments, option)
        if value is None:
            continue
        if option not in FORMATS[name].options:
            others = [each for each in FORMATS if option in FORMATS[each].options]
            raise ConfigError(
                f"--{option.replace('_', '-')} is for --format {' or '.join(others)}, "
                f"not for {name}"
            )
        given[option] = value
    if "table" in FORMATS[name].options and "table" not in given:
        file_name = Path(where).name.lower()
        stem = file_name.partition(".")[0]
        found = [table for table in COLUMNS_BY_TABLE if stem.endswith(table)]
        if found:
            given["table"] = found[0]
        elif not arguments.format and file_name.endswith(FORMATS[name].endings):
            raise ConfigError(
                f"{where} is named after none of the tables {', '.join(COLUMNS_BY_TABLE)}; "
                "choose --table, or --format texts for the text of the pages"
            )
    return given


def _require_output(where: str, name: str) -> None:
    """Raise ConfigError if a format cannot be written there, before the long work."""
    kind = FORMATS[name].output
    if kind == DIRECTORY:
        if where == STDOUT:
            raise ConfigError(f"{name} has many files; name a directory with --output")
        return
    if kind == FILES and where == STDOUT:
        raise ConfigError(f"{name} may have several files; name one with --output FILE")
    if kind == BINARY and where == STDOUT and sys.stdout.isatty():
        raise ConfigError(f"{name} is binary; write it to a file with --output FILE")
    require_writable(where)


def _opened(where: str, kind: str) -> AbstractContextManager[Any]:
    if kind in (DIRECTORY, FILES):
        return nullcontext(Path(where))
    return opened_output(where, "wb" if kind == BINARY else "w")
