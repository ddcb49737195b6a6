"""Arguments that several commands share."""

import argparse

__all__ = ["add_directory", "add_quiet", "add_showing", "count"]


def add_directory(parser: argparse.ArgumentParser) -> None:
    """Add DIR, the directory of a crawl."""
    parser.add_argument(
        "directory", metavar="DIR", help="directory of a crawl (crawl --into)"
    )


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add ``--quiet``."""
    parser.add_argument("--quiet", action="store_true", help="do not show progress")


def add_showing(parser: argparse.ArgumentParser) -> None:
    """Add ``--quiet`` and ``--dashboard``."""
    add_quiet(parser)
    parser.add_argument(
        "--dashboard",
        metavar="ADDR:PORT",
        nargs="?",
        const="",
        help="watch and control the crawl in a browser (default address: 127.0.0.1 and a "
        "free port)",
    )


def count(text: str) -> int:
    """Parse a positive number.

    Raises:
        argparse.ArgumentTypeError: it is less than 1.

    >>> count("10")
    10
    """
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
