"""``gencrawl search``: full-text search in the crawled pages."""

import argparse
import contextlib
import sys

from crawler_app.base.text.escaping import json_text
from crawler_app.commands.exit_status import FAILED, OK
from crawler_app.commands.stored_crawl import opened
from crawler_app.show.terminal.plain_text import has_style
from crawler_app.show.terminal.progress_display import Steps
from crawler_app.store.index.rendering import render_hits, to_json

__all__ = ["search"]


def search(arguments: argparse.Namespace) -> int:
    """Search the crawled pages."""
    with (
        Steps() as steps,
        contextlib.closing(opened(arguments, steps).index()) as index,
    ):
        result = index.search(" ".join(arguments.words), limit=arguments.limit)
    if arguments.json:
        print(json_text(to_json(result), indent=2))
    else:
        print(render_hits(result, bold=has_style(sys.stdout)))
    return OK if result.total else FAILED
