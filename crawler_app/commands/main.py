"""The command line: ``python -m crawler_app``, installed as ``gencrawl``.

Exit status: 0 if the crawl finished, 1 if a start URL could not be fetched, nothing was
found, the disk failed or URLs failed by a bug of ours, or ``watch`` could not check a site or send a
notice, 2 for a usage error, 3 if ``check``
or ``report --fail-on broken`` found something broken, 130 if stopped by Ctrl-C, SIGTERM or
the dashboard.
"""

import argparse
import io
import os
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import cast

from crawler_app.base.errors import (
    ConfigError,
    CrawlerError,
    SearchError,
    ServerError,
    StorageError,
)
from crawler_app.base.safe_files import is_locked
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import error_words
from crawler_app.commands.command_table import HERE, make_parser
from crawler_app.commands.exit_status import FAILED, INTERRUPTED, OK, USAGE
from crawler_app.commands.parser import Parser, complaint_about, flags_of

__all__ = ["main"]

# Commands whose status says whether a site is in order; unknown if the output was cut short.
VERDICTS = ("check:check", "report:report")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the parent process
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        # A title that the terminal's encoding lacks must not end a crawl.
        cast(io.TextIOWrapper, stream).reconfigure(errors="backslashreplace")
    if_cut_short = OK
    try:
        arguments = _arguments(argv)
        if arguments.run in VERDICTS:
            if_cut_short = FAILED
        if not arguments.run:
            arguments.parser.print_help(sys.stderr)
            return USAGE
        ended: int = resolve_name(f"{HERE}.{arguments.run}")(arguments)
        sys.stdout.flush()
        return ended
    except (ConfigError, SearchError) as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return USAGE
    except (StorageError, sqlite3.Error) as exc:
        words = "; ".join([str(exc), *getattr(exc, "__notes__", [])])
        print(f"gencrawl: {_what_failed(exc)}: {words}", file=sys.stderr)
        return FAILED
    except CrawlerError as exc:  # may quote what a site has sent
        print(f"gencrawl: {printable(str(exc))}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output, such as ``head``, has closed it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return if_cut_short
    except OSError as exc:
        print(f"gencrawl: {error_words(exc)}", file=sys.stderr)
        return FAILED


def _what_failed(exc: StorageError | sqlite3.Error) -> str:
    if isinstance(exc, ServerError):
        return "server error"
    return "a file is in use by another process" if is_locked(exc) else "disk error"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["help"]:  # as git, cargo and others have it
        words = [*words[1:3], "--help"]
    arguments, rest = make_parser().parse_known_args(words)
    if rest:
        raise ConfigError(_complaint(rest[0], arguments.parser))
    return arguments


def _complaint(word: str, command: Parser) -> str:
    """Return why an option before the command cannot be used."""
    flag = word.partition("=")[0]
    if flag in flags_of(command):
        return f"{flag} comes after the command: `{command.prog} {flag}`"
    return complaint_about(word, command)
