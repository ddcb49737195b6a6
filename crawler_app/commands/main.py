"""The command line: ``python -m crawler_app``, installed as ``gencrawl``.

Exit status: 0 if the crawl finished, 1 if a start URL could not be fetched, nothing was
found or the disk failed, 2 for a usage error, 3 if ``check`` or ``report --fail-on broken``
found something broken, 130 if stopped by Ctrl-C, SIGTERM or the dashboard.
"""

import argparse
import io
import os
import sqlite3
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

from crawler_app import __version__
from crawler_app.commands.exit_status import FAILED, INTERRUPTED, OK, USAGE
from crawler_app.errors import ConfigError, CrawlerError, SearchError, StorageError

__all__ = ["main"]

EXAMPLES = """
examples:
  gencrawl demo
  gencrawl crawl https://docs.example.org/ --into docs-crawl --max-pages 500
  gencrawl crawl --config docs.toml
  gencrawl resume docs-crawl
  gencrawl resume docs-crawl --dashboard
  gencrawl check https://docs.example.org/
  gencrawl check build/html --format github
  gencrawl report docs-crawl
  gencrawl report docs-crawl --format md --fail-on broken
  gencrawl status docs-crawl
  gencrawl search docs-crawl 'event loop -windows'
  gencrawl export docs-crawl --format csv > urls.csv
  gencrawl export docs-crawl --format wacz > docs.wacz
"""


class Command(NamedTuple):
    """A command: its module, and its line in ``--help``."""

    module: str
    help: str


# In the order in which a user needs them.
COMMANDS = {
    "crawl": Command("crawl", "crawl a site into a directory"),
    "resume": Command("crawl", "continue a crawl that was stopped"),
    "check": Command("check", "find what is broken on a site or in a folder"),
    "report": Command(
        "report",
        "write a report: broken links, redirects, site structure",
    ),
    "status": Command("status", "show the state and the summary of a crawl"),
    "search": Command("search", "search the crawled pages"),
    "export": Command("export", "write all URLs, or the archive, to standard output"),
    "demo": Command("demo", "crawl a small demo site on this machine"),
}


class CommandParser(argparse.ArgumentParser):
    """Parses the arguments of one command; imports its module on first use.

    If all modules were imported, ``gencrawl --help`` would take seven times as long.
    """

    # The module and its function that adds the arguments; None once they are added.
    source: tuple[str, str] | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; on the first call, add the command's arguments before."""
        if self.source is not None:
            module, function = self.source
            getattr(import_module(f"crawler_app.commands.{module}"), function)(self)
            self.source = None
        return super().parse_known_args(args, namespace)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the parent process
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        # A title that the terminal's encoding lacks must not end a crawl.
        cast(io.TextIOWrapper, stream).reconfigure(errors="backslashreplace")
    try:
        arguments = _arguments(argv)
        ended: int = arguments.command(arguments)
        sys.stdout.flush()
        return ended
    except (ConfigError, SearchError) as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return USAGE
    except (StorageError, sqlite3.Error) as exc:
        print(f"gencrawl: disk error: {exc}", file=sys.stderr)
        return FAILED
    except CrawlerError as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output, such as ``head``, has closed it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return FAILED


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; this imports the module of the command."""
    parser = _parser()
    arguments, rest = parser.parse_known_args(argv)
    if rest and "words" in arguments:
        arguments.words += rest  # search words that look like options, such as -without
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gencrawl",
        description="Crawl a web site.  A crawl can be stopped and resumed at any time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(
        metavar="COMMAND", required=True, parser_class=CommandParser
    )
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.help)
        subparser.source = (command.module, f"add_{name}")
    return parser
