"""Exports the URLs of a crawl as JSON lines or CSV."""

import csv
import re
from collections.abc import Iterable
from typing import Any, TextIO

from crawler_app.base.models import State, UrlRecord
from crawler_app.base.text.escaping import json_text, printable

__all__ = ["CDXJ", "EXPORT_FORMATS", "WACZ", "defused", "write_urls"]

CDXJ = "cdxj"
WACZ = "wacz"
EXPORT_FORMATS = ("jsonl", "csv", CDXJ, WACZ)

# A spreadsheet takes a cell that begins with one of these as a formula, which may send
# other cells to the site that chose the title; the last four are fullwidth.  Source: OWASP,
# CSV Injection.
_FORMULA = re.compile(r"[=+\-@\x00-\x1f\x7f\uff1d\uff0b\uff0d\uff20]")

# An empty record: its row has the names of all columns.
NOTHING = UrlRecord("", State.QUEUED, depth=0)


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


def defused(value: Any) -> Any:
    """Return a cell as text that no spreadsheet takes for a formula, and no terminal obeys.

    >>> defused("=1+1"), defused("1+1"), defused(-1)
    ("'=1+1", '1+1', -1)
    """
    if not isinstance(value, str):
        return value
    return ("'" if _FORMULA.match(value) else "") + printable(value)


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
