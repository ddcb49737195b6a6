"""``gencrawl export``: write all URLs, or the archive, to standard output."""

import argparse
import contextlib
import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO, cast

from crawler_app.base.errors import ConfigError
from crawler_app.base.progress import in_steps
from crawler_app.commands.exit_status import OK
from crawler_app.commands.stored_crawl import opened
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.run.results.summary import is_page
from crawler_app.run.results.url_export import CDXJ, WACZ, write_urls
from crawler_app.show.terminal.progress_display import Steps
from crawler_app.store.archive.cdxj import write_cdxj
from crawler_app.store.archive.wacz import write_wacz
from crawler_app.store.frontier import FrontierReader

__all__ = ["export"]


def export(arguments: argparse.Namespace) -> int:
    """Write a crawl to standard output.

    If it fails, an output file is left unchanged.
    """
    # On a terminal the output itself shows the progress.
    steps = Steps(quiet=arguments.quiet or sys.stdout.isatty())
    crawl = opened(arguments, steps)
    with (
        contextlib.closing(crawl.frontier()) as frontier,
        steps,
        _taken_back(sys.stdout),
    ):
        if arguments.format == WACZ:
            _export_archive(crawl, frontier, steps)
            return OK
        # Always UTF-8: the output may be read on another machine.
        cast(io.TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8")
        if arguments.format == CDXJ:
            directory, parts = _archive(crawl)
            write_cdxj(directory, sys.stdout, on_step=steps, parts=parts)
            sys.stdout.flush()
            return OK
        records = in_steps(
            "exporting URLs", frontier.records(), steps, frontier.total()
        )
        write_urls(records, sys.stdout, arguments.format)
        sys.stdout.flush()
    return OK


def _export_archive(crawl: StoredCrawl, frontier: FrontierReader, steps: Steps) -> None:
    if sys.stdout.isatty():
        raise ConfigError("a WACZ file is binary; write it to a file with '> FILE'")
    directory, parts = _archive(crawl)
    title_by_url = {  # of each page
        record.url: record.outcome.title
        for record in in_steps(
            "reading URLs", frontier.records(), steps, frontier.total()
        )
        if record.outcome is not None and is_page(record.outcome)
    }
    write_wacz(
        directory,
        sys.stdout.buffer,
        title_of=title_by_url.get,
        software=crawl.config().user_agent,
        on_step=steps,
        parts=parts,
    )


def _archive(crawl: StoredCrawl) -> tuple[Path, list[Path]]:
    """Return the directory of the archive, and its parts; empty if it has only one.

    Raises:
        ConfigError: there is no archive.
    """
    paths = crawl.archives()
    if not crawl.kept().archive.files:
        raise ConfigError("the crawl has no archive")
    return (paths[0], []) if len(paths) == 1 else (crawl.path, paths)


@contextlib.contextmanager
def _taken_back(file: TextIO) -> Iterator[None]:
    """On an error, truncate a file to its former size, so that no partial export remains.

    Output that went into a pipe cannot be taken back; nothing more is written to it.
    """
    try:
        fd = file.fileno()
    except OSError:  # not a real file, in a test
        yield
        return
    before = os.fstat(fd)
    try:
        yield
    except BaseException:  # Ctrl-C in particular
        if stat.S_ISREG(before.st_mode):
            os.ftruncate(fd, before.st_size)
        # Python flushes its buffers at exit; let them go to /dev/null.
        os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
        raise
