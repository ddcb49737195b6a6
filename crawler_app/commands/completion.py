"""``gencrawl completion``: completions for bash, zsh and fish, written by `shtab`.

The scripts are static: pressing Tab starts no Python.
"""

import argparse

import shtab

from crawler_app.commands.command_table import make_complete_parser
from crawler_app.commands.exit_status import OK
from crawler_app.commands.parser import Parser

__all__ = ["completion"]


def completion(arguments: argparse.Namespace) -> int:
    """Print the completions for a shell."""
    parser = make_complete_parser()
    _mark_paths(parser)
    print(shtab.complete(parser, arguments.shell))
    return OK


def _mark_paths(parser: Parser) -> None:
    """Tell shtab which values are files and directories."""
    # argparse has no public list of the arguments; shtab reads the same.
    for action in parser._actions:
        words = str(action.metavar).split("|")
        if "DIR" in words or "FOLDER" in words or "FILE" in words:
            kind = shtab.DIRECTORY if words == ["DIR"] else shtab.FILE
            action.complete = kind  # type: ignore[attr-defined]
    for command in parser.commands().values():
        _mark_paths(command)
