"""Options that several commands have."""

import argparse

__all__ = ["add_directory", "add_quiet", "add_showing", "count"]


def add_directory(parser: argparse.ArgumentParser) -> None:
    """Add the directory of a crawl."""
    parser.add_argument(
        "directory", metavar="DIR", help="what was given to crawl --into"
    )


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add what keeps a command from telling how far it is."""
    parser.add_argument(
        "--quiet", action="store_true", help="show no progress; results still come"
    )


def add_showing(parser: argparse.ArgumentParser) -> None:
    """Add how a crawl is shown while it runs."""
    add_quiet(parser)
    parser.add_argument(
        "--dashboard",
        metavar="ADDR:PORT",
        nargs="?",
        const="",
        help="show the crawl in a browser too, and steer it from there "
        "(default 127.0.0.1 and any port that is free)",
    )


def count(text: str) -> int:
    """Read a number of at least 1.

    Raises:
        argparse.ArgumentTypeError: it is less.

    >>> count("10")
    10
    """
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
