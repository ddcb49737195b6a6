"""The table of the commands, and the parser made from it.

Rule: modules of commands are named here, not imported, so that the program starts fast.  The
arguments of a command are added when they are parsed, and its code is imported when it runs.
"""

import argparse
from collections.abc import Mapping
from functools import partial
from pkgutil import resolve_name
from typing import NamedTuple

from crawler_app import __version__
from crawler_app.base.text.formatting import sentence
from crawler_app.commands.parser import CommandParser, Parser

__all__ = ["COMMANDS", "POSTGRES", "Command", "make_complete_parser", "make_parser"]

EXAMPLES = """
examples:
  gencrawl demo
  gencrawl check https://docs.example.org/
  gencrawl check build/html --format github
  gencrawl watch watch.toml --once
  gencrawl crawl https://docs.example.org/ --into docs-crawl --max-time 30m
  gencrawl crawl --config docs.toml
  gencrawl resume docs-crawl --dashboard
  gencrawl report docs-crawl
  gencrawl report docs-crawl --format md --fail-on broken
  gencrawl status docs-crawl
  gencrawl search docs-crawl 'event loop -windows'
  gencrawl export docs-crawl --output urls.csv
  gencrawl export docs-crawl --output docs.wacz
  gencrawl export docs-crawl --format folder --output docs
  gencrawl browse docs-crawl
  gencrawl export docs-crawl --table links --output links.parquet
  gencrawl sql docs-crawl 'SELECT url, title FROM pages WHERE inlinks = 0'
"""

HERE = "crawler_app.commands"


class Command(NamedTuple):
    """A command.

    Attributes:
        run: The module and the function that run it, below `crawler_app.commands`.  The function
            of `arguments` that adds its arguments is named after the command.
        usage: Its arguments in one line.
        help: Its line in ``--help``.
    """

    run: str
    usage: str
    help: str


# Both in the order in which a user needs them.
POSTGRES = {
    "init": Command("postgres:init", "URL [OPTIONS]", "create the tables of a crawl"),
    "copy": Command(
        "postgres:copy",
        "DIR URL [OPTIONS]",
        "move the crawl in a directory into PostgreSQL",
    ),
    "forget": Command(
        "postgres:forget",
        "URL --store STORE [OPTIONS]",
        "requeue URLs whose responses were in a lost worker's store",
    ),
    "list": Command("postgres:list_", "URL", "list the crawls"),
    "drop": Command("postgres:drop", "URL [OPTIONS]", "delete the tables of a crawl"),
    "work": Command(
        "work:work",
        "URL --crawl NAME --into DIR [OPTIONS]",
        "take part in a crawl that many machines share",
    ),
}

COMMANDS: Mapping[str, Command] = {
    "crawl": Command(
        "crawl:crawl", "URL... --into DIR [OPTIONS]", "crawl a site into a directory"
    ),
    "resume": Command(
        "crawl:resume", "DIR [OPTIONS]", "continue a crawl that was stopped"
    ),
    "check": Command(
        "check:check",
        "URL|FILE|FOLDER... [OPTIONS]",
        "find broken links on a site or in a folder",
    ),
    "watch": Command(
        "watch:watch",
        "CONFIG [OPTIONS]",
        "check sites again and again, and tell people what is new",
    ),
    "report": Command(
        "report:report",
        "DIR|URL [OPTIONS]",
        "write a report: broken links, redirects, site structure",
    ),
    "status": Command(
        "status:status",
        "DIR|URL [OPTIONS]",
        "show the state and the summary of a crawl",
    ),
    "search": Command(
        "search:search", "DIR|URL WORDS... [OPTIONS]", "search the crawled pages"
    ),
    "browse": Command(
        "browse:browse",
        "DIR|URL [OPTIONS]",
        "show the archived pages in the browser, offline",
    ),
    "export": Command(
        "export:export",
        "DIR|URL [OPTIONS]",
        "write URLs, pages or the archive to a file or folder",
    ),
    "sql": Command(
        "sql:sql",
        "DIR|URL|FILE... QUERY [OPTIONS]",
        "answer a question in SQL about the pages and links of crawls",
    ),
    "postgres": Command("", "COMMAND [ARGUMENTS]", "crawls that many machines share"),
    "sign-key": Command(
        "sign_key:sign_key",
        "FILE... [--output FILE]",
        "make a key for --sign, and its public directory",
    ),
    "demo": Command(
        "demo:demo", "[OPTIONS]", "crawl a small demo site on this machine"
    ),
    "completion": Command(
        "completion:completion", "SHELL", "print the completions for bash, zsh or fish"
    ),
}


def make_parser() -> Parser:
    """Return the parser of the program."""
    parser = Parser(
        prog="gencrawl",
        usage="gencrawl COMMAND [ARGUMENTS]",
        description=_list_of(
            "Crawl a web site, or check it for broken links.", COMMANDS
        ),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.set_defaults(run="", parser=parser)
    _add_commands(parser, COMMANDS)
    return parser


def make_complete_parser() -> Parser:
    """Return the parser with the arguments of every command, and no option hidden."""
    parser = make_parser()
    _complete(parser)
    return parser


def _complete(parser: Parser) -> None:
    for command in parser.commands().values():
        command.load()
        _complete(command)
    parser.show_all()


def _add_commands(parser: Parser, commands: Mapping[str, Command]) -> None:
    for name, command in commands.items():
        prog = f"{parser.prog} {name}"
        made = parser.add_command(
            name,
            prog=prog,
            usage=f"{prog} {command.usage}",
            help=command.help,
            description=f"{sentence(command.help)}.",
        )
        made.set_defaults(run=command.run, parser=made)
        if command.run:
            made.add_arguments = partial(_add_arguments, name)
        if name == "postgres":
            made.formatter_class = argparse.RawDescriptionHelpFormatter
            made.description = _list_of(f"{sentence(command.help)}.", POSTGRES)
            _add_commands(made, POSTGRES)


def _add_arguments(name: str, parser: CommandParser) -> None:
    resolve_name(f"{HERE}.arguments:add_{name.replace('-', '_')}")(parser)


def _list_of(text: str, commands: Mapping[str, Command]) -> str:
    width = max(map(len, commands))
    lines = [f"  {name:<{width}}  {each.help}" for name, each in commands.items()]
    return "\n".join([text, "", "commands:", *lines])
