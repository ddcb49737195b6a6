"""Writes the manual page, docs/gencrawl.1: ``python docs/write_manual.py``.

The commands and options are those of the parser; the rest is in manual_sections.txt.
"""

import argparse
from functools import partial
from pathlib import Path

from argparse_manpage.manpage import Manpage

from crawler_app import __version__
from crawler_app.commands.command_table import make_complete_parser

__all__ = ["main", "render"]

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "gencrawl.1"
SECTIONS = DOCS / "manual_sections.txt"


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(), encoding="utf-8")


def render() -> str:
    """Return the page in the language of man pages (roff)."""
    parser = make_complete_parser()
    # The list of the commands and the examples would be filled like prose.
    parser.description = parser.epilog = None
    # Not as wide as the terminal.
    parser.formatter_class = partial(argparse.HelpFormatter, width=100)
    page = Manpage(parser, format="single-commands-section")
    page.date = ""
    page.source = f"gencrawl {__version__}"
    page.manual = "User Commands"
    page.description = "crawl a web site, or check it for what is broken"
    page.parse_include(SECTIONS)
    return str(page)


if __name__ == "__main__":
    main()
