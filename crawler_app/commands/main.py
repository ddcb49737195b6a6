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
from pathlib import Path
from typing import cast

from crawler_app import __version__
from crawler_app.commands.crawl import add_crawl, add_resume
from crawler_app.commands.demo import add_demo
from crawler_app.commands.exit_status import FAILED, INTERRUPTED, OK, USAGE
from crawler_app.commands.export import add_export
from crawler_app.commands.report import add_report
from crawler_app.commands.search import add_search, search
from crawler_app.commands.status import add_status
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

# In the order in which they are wanted.
COMMANDS = (
    add_crawl,
    add_resume,
    add_report,
    add_status,
    add_search,
    add_export,
    add_demo,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by our parent; ours until we end
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)
    parser = _parser()
    arguments, rest = parser.parse_known_args(argv)
    if arguments.command is search:
        arguments.words += rest  # such as -without
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
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in COMMANDS:
        add(subparsers)
    return parser
