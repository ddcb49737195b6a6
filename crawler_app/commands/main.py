"""The command line: ``python -m crawler_app``, installed as ``gencrawl``.

Exit status: 0 if the crawl finished, 1 if a start URL could not be fetched, nothing was
found, the disk failed or URLs failed by a bug of ours, 2 for a usage error, 3 if ``check`` or ``report --fail-on broken``
found something broken, 130 if stopped by Ctrl-C, SIGTERM or the dashboard.
"""

import argparse
import io
import os
import sqlite3
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn, cast

from crawler_app import __version__
from crawler_app.base.errors import (
    ConfigError,
    CrawlerError,
    SearchError,
    ServerError,
    StorageError,
)
from crawler_app.base.text.formatting import error_words, sentence
from crawler_app.commands.described import described
from crawler_app.commands.exit_status import FAILED, INTERRUPTED, OK, USAGE
from crawler_app.commands.parser import (
    CommandParser,
    Parser,
    complaint_about,
    flags_of,
)

__all__ = ["COMMANDS", "main", "make_parser"]

EXAMPLES = """
examples:
  gencrawl demo
  gencrawl check https://docs.example.org/
  gencrawl check build/html --format github
  gencrawl crawl https://docs.example.org/ --into docs-crawl --max-time 30m
  gencrawl crawl --config docs.toml
  gencrawl resume docs-crawl --dashboard
  gencrawl report docs-crawl
  gencrawl report docs-crawl --format md --fail-on broken
  gencrawl status docs-crawl
  gencrawl search docs-crawl 'event loop -windows'
  gencrawl export docs-crawl --format csv > urls.csv
  gencrawl export docs-crawl --format wacz > docs.wacz
"""


class Command(NamedTuple):
    """A command: its module, its usage, and its line in ``--help``."""

    module: str
    usage: str
    help: str


# In the order in which a user needs them.
COMMANDS = {
    "crawl": Command(
        "crawl", "URL... --into DIR [OPTIONS]", "crawl a site into a directory"
    ),
    "resume": Command("crawl", "DIR [OPTIONS]", "continue a crawl that was stopped"),
    "check": Command(
        "check",
        "URL|FILE|FOLDER... [OPTIONS]",
        "find what is broken on a site or in a folder",
    ),
    "report": Command(
        "report",
        "DIR|URL [OPTIONS]",
        "write a report: broken links, redirects, site structure",
    ),
    "status": Command(
        "status", "DIR|URL [OPTIONS]", "show the state and the summary of a crawl"
    ),
    "search": Command(
        "search", "DIR|URL WORDS... [OPTIONS]", "search the crawled pages"
    ),
    "export": Command(
        "export",
        "DIR|URL [OPTIONS]",
        "write all URLs, or the archive, to standard output",
    ),
    "work": Command(
        "work",
        "URL --crawl NAME --into DIR [OPTIONS]",
        "take part in a crawl that many machines share",
    ),
    "crawls": Command("frontier", "URL", "list the crawls in PostgreSQL"),
    "drop": Command("frontier", "URL --crawl NAME", "delete a crawl in PostgreSQL"),
    "frontier": Command(
        "frontier",
        "init URL | copy DIR URL | forget URL [OPTIONS]",
        "prepare, move or repair a crawl in PostgreSQL",
    ),
    "demo": Command("demo", "[OPTIONS]", "crawl a small demo site on this machine"),
    "completion": Command(
        "completion", "SHELL", "print the completions for bash, zsh or fish"
    ),
    "man": Command("manual", "", "print the manual page"),
}


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
        if arguments is None:
            return USAGE
        ended: int = arguments.command(arguments)
        sys.stdout.flush()
        return ended
    except (ConfigError, SearchError) as exc:
        print(f"gencrawl: {exc}", file=sys.stderr)
        return USAGE
    except (StorageError, sqlite3.Error) as exc:
        words = "; ".join([str(exc), *getattr(exc, "__notes__", [])])
        what = "server error" if isinstance(exc, ServerError) else "disk error"
        print(f"gencrawl: {what}: {words}", file=sys.stderr)
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
        print(f"gencrawl: {error_words(exc)}", file=sys.stderr)
        return FAILED


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace | None:
    """Parse the command line; if it is empty, print the help and return None.

    This imports the module of the command.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["help"]:  # as git, cargo and others have it
        words = [*words[1:2], "--help"]
    parser, subparsers = make_parser()
    arguments, rest = parser.parse_known_args(words)
    if arguments.name is None:
        if rest:
            raise ConfigError(complaint_about(rest[0], parser))
        parser.print_help(sys.stderr)
        return None
    if rest:
        _refuse_before_command(rest[0], subparsers[arguments.name])
    helps = {name: command.help for name, command in COMMANDS.items()}
    arguments.described = partial(described, subparsers, helps)
    return arguments


def _refuse_before_command(word: str, subparser: CommandParser) -> NoReturn:
    """Raise ConfigError for an option that stands before the command."""
    flag = word.partition("=")[0]
    if flag in flags_of(subparser):
        raise ConfigError(f"{flag} comes after the command: `{subparser.prog} {flag}`")
    raise ConfigError(complaint_about(word, subparser))


def make_parser() -> tuple[Parser, dict[str, CommandParser]]:
    """Make the parser of the program, and those of its commands by name."""
    parser = Parser(
        prog="gencrawl",
        usage="gencrawl COMMAND [ARGUMENTS]",
        description=_description(),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(
        dest="name",
        metavar="COMMAND",
        help=argparse.SUPPRESS,  # argparse would not align them
        parser_class=CommandParser,
    )
    parser_by_name: dict[str, CommandParser] = {}
    for name, command in COMMANDS.items():
        prog = f"gencrawl {name}"
        made = subparsers.add_parser(
            name,
            prog=prog,
            usage=f"{prog} {command.usage}".rstrip(),
            help=command.help,
            description=f"{sentence(command.help)}.",
        )
        made.source = (command.module, f"add_{name}")
        parser_by_name[name] = made
    return parser, parser_by_name


def _description() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {each.help}" for name, each in COMMANDS.items()]
    what = "Crawl a web site, or check it for what is broken."
    return "\n".join([what, "", "commands:", *lines])
