"""Exports the URLs of a crawl as JSON lines or CSV."""

import contextlib
import csv
from collections.abc import Iterable
from typing import Any, TextIO

from crawler_app.base.models import State, UrlRecord
from crawler_app.base.progress import OnStep, in_steps
from crawler_app.base.text.escaping import defused, json_text
from crawler_app.run.directory.stored import StoredCrawl

__all__ = ["write_csv", "write_jsonl", "write_urls"]

# An empty record: its row has the names of all columns.
NOTHING = UrlRecord("", State.QUEUED, depth=0)


def write_jsonl(crawl: StoredCrawl, output: TextIO, on_step: OnStep) -> None:
    """Write the URLs of a crawl as JSON lines."""
    _write(crawl, output, on_step, "jsonl")


def write_csv(crawl: StoredCrawl, output: TextIO, on_step: OnStep) -> None:
    """Write the URLs of a crawl as CSV."""
    _write(crawl, output, on_step, "csv")


def _write(crawl: StoredCrawl, output: TextIO, on_step: OnStep, style: str) -> None:
    with contextlib.closing(crawl.frontier()) as frontier:
        records = in_steps(
            "exporting URLs", frontier.records(), on_step, frontier.total()
        )
        write_urls(records, output, style)


def write_urls(records: Iterable[UrlRecord], file: TextIO, style: str) -> None:
    """Write one line for each URL, as JSON, or as CSV with a header.

    Args:
        style: ``jsonl`` or ``csv``.

    >>> import sys
    >>> write_urls([UrlRecord("http://a.test/", State.QUEUED, depth=0)], sys.stdout, "csv")
    ... # doctest: +ELLIPSIS
    url,state,reason,status,depth,via,redirect_to,canonical,content_type,bytes,...
    http://a.test/,queued,,,0,,,,,,,0,,,,,link,
    """
    table = csv.DictWriter(file, list(_row(NOTHING)), lineterminator="\n")
    if style == "csv":
        table.writeheader()
    for record in records:
        row = _row(record)
        if style == "csv":
            table.writerow({name: defused(value) for name, value in row.items()})
        else:
            file.write(json_text(row) + "\n")


def _row(record: UrlRecord) -> dict[str, Any]:
    def of_outcome(name: str) -> Any:
        value = getattr(record.outcome, name, None)
        return None if value == "" else value

    return {
        "url": record.url,
        "state": record.state.label,
        "reason": of_outcome("reason"),
        "status": of_outcome("status"),
        "depth": record.depth,
        "via": record.via or None,
        "redirect_to": of_outcome("redirect_to"),
        "canonical": of_outcome("canonical"),
        "content_type": of_outcome("content_type"),
        "bytes": of_outcome("size_bytes"),
        "took_s": of_outcome("took_s"),
        "tries": record.tries,
        "digest": of_outcome("digest"),
        "title": of_outcome("title"),
        "error": of_outcome("error"),
        "note": of_outcome("note"),
        "role": record.role.name.lower(),
        "finished_at": record.finished_at,
    }
