"""The command line: ``python -m crawler_app``, installed as ``gencrawl``.

Exit status: 0 when the crawl came to its end, 1 when the start URL could not be fetched,
nothing was found or the disk failed, 2 for a usage error, 3 when ``report --fail-on`` found
what it is to fail on, 130 when stopped by Ctrl-C, SIGTERM or the dashboard.
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
  gencrawl report docs-crawl
  gencrawl report docs-crawl --format md --fail-on broken
  gencrawl status docs-crawl
  gencrawl search docs-crawl 'event loop -windows'
  gencrawl export docs-crawl --format csv > urls.csv
  gencrawl export docs-crawl --format wacz > docs.wacz
"""


class Command(NamedTuple):
    """One command: where it is defined, and its line in ``--help``."""

    module: str
    add_arguments: str
    help: str


# In the order in which they are wanted.
COMMANDS = {
    "crawl": Command("crawl", "add_crawl", "crawl a site into a directory"),
    "resume": Command("crawl", "add_resume", "go on with a crawl that was stopped"),
    "report": Command(
        "report", "add_report", "write a page of what is broken, and of the whole site"
    ),
    "status": Command("status", "add_status", "tell how a crawl stands"),
    "search": Command("search", "add_search", "find pages by their words"),
    "export": Command("export", "add_export", "write a crawl to standard output"),
    "demo": Command("demo", "add_demo", "crawl a small site on this machine"),
}


class CommandParser(argparse.ArgumentParser):
    """Parses one command's arguments; imports its module when the command is chosen.

    Importing all of them would take ``gencrawl --help`` twenty times as long.
    """

    command: Command | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Add the command's arguments, the first time, and parse."""
        if self.command is not None:
            module = import_module(f"crawler_app.commands.{self.command.module}")
            getattr(module, self.command.add_arguments)(self)
            self.command = None
        return super().parse_known_args(args, namespace)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by our parent; ours until we end
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)
    parser = _parser()
    arguments, rest = parser.parse_known_args(argv)
    if rest and "words" in arguments:
        arguments.words += rest  # of a search, such as -without
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    for stream in (sys.stdout, sys.stderr):
        # A title in a script that the terminal does not have must not end a crawl.
        cast(io.TextIOWrapper, stream).reconfigure(errors="backslashreplace")
    try:
        ended: int = arguments.command(arguments)
        sys.stdout.flush()
        return ended
    except (ConfigError, SearchError) as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return USAGE
    except (StorageError, sqlite3.Error) as exc:
        print(f"gencrawl: the disk fails: {exc}", file=sys.stderr)
        return FAILED
    except CrawlerError as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has seen enough; nothing is left to tell it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gencrawl",
        description="Crawl a web site; stop and resume at any time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(
        metavar="COMMAND", required=True, parser_class=CommandParser
    )
    for name, command in COMMANDS.items():
        subparsers.add_parser(name, help=command.help).command = command
    return parser
