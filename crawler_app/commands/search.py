"""``gencrawl search``: full-text search in the crawled pages."""

import argparse
import contextlib
import json
import sys

from crawler_app.commands.arguments import count
from crawler_app.commands.exit_status import FAILED, OK
from crawler_app.commands.server import add_stored, opened
from crawler_app.show.terminal.steps import Steps
from crawler_app.show.terminal.tty import has_style
from crawler_app.store.index.rendering import render_hits, to_json

__all__ = ["add_search", "search"]


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `search`."""
    add_stored(parser)
    parser.add_argument(
        "words",
        metavar="WORDS",
        nargs="*",
        help='query, in quotes: \'all words "a phrase" prefix* -without '
        "this OR that title:word'",
    )
    parser.add_argument(
        "--limit",
        type=count,
        default=10,
        metavar="N",
        help="maximum number of hits (default 10)",
    )
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(command=search)


def search(arguments: argparse.Namespace) -> int:
    """Search the crawled pages."""
    with (
        Steps() as steps,
        contextlib.closing(opened(arguments, steps).index()) as index,
    ):
        result = index.search(" ".join(arguments.words), limit=arguments.limit)
    if arguments.json:
        print(json.dumps(to_json(result), indent=2))
    else:
        print(render_hits(result, bold=has_style(sys.stdout)))
    return OK if result.total else FAILED
