"""``gencrawl man``: the manual page, in the language of man pages (roff)."""

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator

from crawler_app import __version__
from crawler_app.base.text.formatting import sentence
from crawler_app.commands.described import DescribedCommand, DescribedOption
from crawler_app.commands.exit_status import OK

__all__ = ["add_man", "man", "render_manual"]

MAX_COLUMNS = 79

INTRODUCTION = """\
gencrawl visits a web site, page by page, and records the outcome of every URL in a
directory, from which reports, searches and exports are made.  A crawl can be stopped and
resumed at any time.  The command check needs no directory, and prints what is broken."""

STATUSES = {
    "0": "The crawl finished or reached a limit; check found nothing; search found a page.",
    "1": "A start URL could not be fetched, nothing was found, the disk failed, or there is a bug.",
    "2": "The command line or the configuration is invalid.",
    "3": "check, or report --fail-on broken, found something broken.",
    "130": "Stopped by Ctrl-C, SIGTERM or the dashboard.",
}
ENVIRONMENT = {
    "NO_COLOR": "If set and not empty, nothing is printed in color or in bold.",
    "FORCE_COLOR": "If set and not empty, search marks words in bold in pipes too.",
    "GENCRAWL_DASHBOARD_TOKEN": "The token that the dashboard asks for.",
}
FILES = {
    "gencrawl.toml": "Options for crawl and check, read in the working directory.",
}
UNITS = """\
DURATION is a number of seconds, or has units: 250ms, 30s, 5m, 1h30m, 2d.  SIZE is a number of
bytes, or has a unit: 500kB, 10MB (powers of 1000), 512KiB, 1.5GiB (powers of 1024)."""


def add_man(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `man`."""
    parser.description = "Print the manual page; to read it: gencrawl man | man -l -"
    parser.set_defaults(command=man)


def man(arguments: argparse.Namespace) -> int:
    """Print the manual page."""
    sys.stdout.write(render_manual(arguments.described()))
    return OK


def render_manual(commands: Iterable[DescribedCommand]) -> str:
    """Return the manual page."""
    commands = list(commands)
    lines = [
        f'.TH GENCRAWL 1 "" "gencrawl {__version__}" "User Commands"',
        ".SH NAME",
        r"gencrawl \- crawl a web site, or check it for what is broken",
        ".SH SYNOPSIS",
    ]
    lines.append("\n.br\n".join(_escaped(command.usage) for command in commands))
    lines += [".SH DESCRIPTION", _escaped(INTRODUCTION), ".SH COMMANDS"]
    for command in commands:
        lines += _command(command)
    lines += [".SH DURATIONS AND SIZES", _escaped(UNITS)]
    for title, meaning_by_name in (
        ("EXIT STATUS", STATUSES),
        ("ENVIRONMENT", ENVIRONMENT),
        ("FILES", FILES),
    ):
        lines.append(f".SH {title}")
        for name, meaning in meaning_by_name.items():
            lines += [".TP", rf"\fB{_escaped(name)}\fR", _escaped(meaning)]
    return "\n".join(lines) + "\n"


def _command(command: DescribedCommand) -> Iterator[str]:
    yield f".SS {_escaped(command.usage)}"
    yield _escaped(_sentence(command.description or command.help))
    seen = ""
    for option in (*command.arguments, *command.options):
        if "--help" in option.flags:
            continue
        if option.group not in (seen, "options"):
            yield ".PP"
            yield rf"\fI{_escaped(sentence(option.group))}\fR"
        seen = option.group
        yield ".TP"
        yield _head(option)
        yield _escaped(_sentence(option.help))


def _head(option: DescribedOption) -> str:
    """Return the spellings of an option, and what it may be given."""
    values = "|".join(option.choices) or option.metavar
    value = rf"\fI{_escaped(values)}\fR" if values else ""
    if option.is_value_optional:
        value = f"[{value}]"
    flags = ", ".join(rf"\fB{_escaped(flag)}\fR" for flag in option.flags)
    return f"{flags} {value}".strip()


def _sentence(text: str) -> str:
    """Return help as a sentence."""
    return sentence(text).rstrip(".") + "." if text else ""


def _escaped(text: str) -> str:
    r"""Return a text in which roff finds no commands.

    >>> print(_escaped(".max-pages N"))
    \&.max\-pages N
    """
    text = text.replace("\\", r"\e").replace("-", r"\-")
    lines = textwrap.wrap(text, MAX_COLUMNS, break_on_hyphens=False)
    return re.sub(r"^(?=[.'])", r"\\&", "\n".join(lines), flags=re.MULTILINE)
