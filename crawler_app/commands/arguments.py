"""Arguments that several commands share."""

import argparse

__all__ = ["add_directory", "add_how_much", "add_quiet", "add_showing", "count"]


def add_directory(parser: argparse.ArgumentParser) -> None:
    """Add DIR, the directory of a crawl."""
    parser.add_argument(
        "directory", metavar="DIR", help="directory of a crawl (crawl --into)"
    )


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add ``--quiet``."""
    _add_quiet(parser)


def add_how_much(parser: argparse.ArgumentParser) -> None:
    """Add ``--quiet`` and ``--verbose``."""
    how_much = parser.add_mutually_exclusive_group()
    _add_quiet(how_much)
    how_much.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show each request and its outcome, and what is skipped",
    )


def add_showing(parser: argparse.ArgumentParser) -> None:
    """Add ``--quiet``, ``--verbose``, ``--dashboard`` and ``--stay``."""
    add_how_much(parser)
    parser.add_argument(
        "--dashboard",
        metavar="ADDR:PORT",
        nargs="?",
        const="",
        help="watch and control the crawl in a browser (default address: 127.0.0.1 and a "
        "free port)",
    )
    parser.add_argument(
        "--stay",
        action=argparse.BooleanOptionalAction,
        help="keep the dashboard open after the crawl, with the summary and the report, "
        "until it is closed (default: if run from a terminal)",
    )


def _add_quiet(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="do not show progress"
    )


def count(text: str) -> int:
    """Parse a positive number.

    Raises:
        argparse.ArgumentTypeError: it is not a number, or less than 1.

    >>> count("10")
    10
    """
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(
            f"is {text!r}; it must be a whole number, at least 1"
        )
    return number
