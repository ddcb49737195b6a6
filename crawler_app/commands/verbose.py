"""``--verbose``: shows the log of a crawl on standard error, one line for each decision."""

import argparse
import contextlib
import logging
import sys
from collections.abc import Iterator

from crawler_app.base.text.escaping import printable

__all__ = ["verbose_log"]


class _OneLine(logging.Formatter):
    """Escapes text from servers; a traceback is left unchanged."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return printable(record.message)


@contextlib.contextmanager
def verbose_log(arguments: argparse.Namespace) -> Iterator[None]:
    """Show each request and its outcome if ``--verbose`` is given."""
    if not arguments.verbose:
        yield
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    log = logging.getLogger("crawler_app")
    level = log.level
    # To the root, whose handlers write above the progress table.
    logging.getLogger().addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.setLevel(level)
        logging.getLogger().removeHandler(handler)
