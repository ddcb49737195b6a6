"""What a crawl found, read from its frontier: for a person, and for a program."""

import collections
import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

from crawler_app.frontier import Frontier
from crawler_app.models import State, UrlRecord
from crawler_app.parser import is_html
from crawler_app.urls import dedup_key

__all__ = [
    "EXPORT_FORMATS",
    "Summary",
    "export",
    "final_record",
    "printable",
    "render_text",
    "summarize",
]

EXPORT_FORMATS = ("jsonl", "csv")

# A record of which nothing is known: its row has the names of all columns.
NOTHING = UrlRecord("", State.QUEUED, depth=0)

# Lines of a list in the text; the rest are counted, and exported.
LISTED = 20


@dataclass
class Summary:
    """A whole crawl in numbers, and what a person should look at.

    Attributes:
        count_by_state: How many URLs stand where.
        count_by_reason: Per state, how the URLs there ended.
        count_by_status: How many answers had which HTTP status.
        pages: HTML pages that were read.
        size_bytes: Of all bodies, after decompression.
        target_by_url: The redirects.
        failures: Every URL that failed.
        loops: Redirects that lead back to themselves, each once, as a list of URLs.
        slowest: The URLs that took longest, slowest first.
    """

    count_by_state: dict[State, int] = field(default_factory=dict)
    count_by_reason: dict[State, collections.Counter[str]] = field(default_factory=dict)
    count_by_status: collections.Counter[int] = field(
        default_factory=collections.Counter
    )
    pages: int = 0
    size_bytes: int = 0
    target_by_url: dict[str, str] = field(default_factory=dict)
    failures: list[UrlRecord] = field(default_factory=list)
    loops: list[list[str]] = field(default_factory=list)
    slowest: list[UrlRecord] = field(default_factory=list)

    @property
    def left(self) -> int:
        """URLs still to fetch."""
        return self.count_by_state[State.QUEUED] + self.count_by_state[State.CLAIMED]

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as plain values, for ``status --json``."""
        return {
            "states": {str(state): n for state, n in self.count_by_state.items()},
            "reasons": {
                str(state): dict(counts)
                for state, counts in self.count_by_reason.items()
            },
            "statuses": {str(n): c for n, c in sorted(self.count_by_status.items())},
            "pages": self.pages,
            "bytes": self.size_bytes,
            "redirects": len(self.target_by_url),
            "redirect_loops": self.loops,
            "failures": [
                {"url": f.url, "via": f.via, "reason": f.outcome and f.outcome.reason}
                for f in self.failures
            ],
            "left": self.left,
        }


def summarize(frontier: Frontier) -> Summary:
    """Read the whole frontier once; memory grows with redirects and failures only."""
    summary = Summary(
        count_by_state={state: frontier.count(state) for state in State},
        count_by_reason={state: collections.Counter() for state in State},
    )
    for record in frontier.records():
        outcome = record.outcome
        if outcome is None:
            continue
        summary.count_by_reason[record.state][outcome.reason] += 1
        if outcome.status is not None:
            summary.count_by_status[outcome.status] += 1
        summary.size_bytes += outcome.size_bytes
        summary.pages += outcome.reason == "ok" and is_html(outcome.content_type)
        if outcome.redirect_to and record.state is State.DONE:
            summary.target_by_url[record.url] = outcome.redirect_to
        if record.state is State.FAILED:
            summary.failures.append(record)
        if outcome.took_s is not None:
            summary.slowest = _slowest(summary.slowest, record)
    summary.loops = list(_loops(summary.target_by_url))
    return summary


def _slowest(slowest: list[UrlRecord], record: UrlRecord) -> list[UrlRecord]:
    def took_s(record: UrlRecord) -> float:
        return (record.outcome and record.outcome.took_s) or 0.0

    if len(slowest) == 3 and took_s(record) <= took_s(slowest[-1]):
        return slowest
    return sorted([*slowest, record], key=took_s, reverse=True)[:3]


def _by_key(target_by_url: dict[str, str]) -> dict[str, str]:
    """Find redirects as the frontier does, however their URLs are spelled."""
    return {dedup_key(url): to for url, to in target_by_url.items()}


def _loops(target_by_url: dict[str, str]) -> Iterator[list[str]]:
    target_by_key = _by_key(target_by_url)
    seen: set[str] = set()
    for url in target_by_url:
        url_by_key: dict[str, str] = {}
        key = dedup_key(url)
        while key in target_by_key and key not in seen:
            seen.add(key)
            url_by_key[key] = url
            url = target_by_key[key]
            key = dedup_key(url)
        if key in url_by_key:
            yield list(url_by_key.values())[list(url_by_key).index(key) :]


def final_record(url: str, frontier: Frontier, summary: Summary) -> UrlRecord | None:
    """Return what became of a URL in the end, where its redirects led; None if unknown.

    In a redirect loop that is a URL of the loop.
    """
    target_by_key = _by_key(summary.target_by_url)
    path: set[str] = set()
    key = dedup_key(url)
    while key in target_by_key and key not in path:
        path.add(key)
        key = dedup_key(target_by_key[key])
    return next((r for r in frontier.records() if dedup_key(r.url) == key), None)


def render_text(summary: Summary) -> str:
    """Return the summary as a person reads it on a terminal, without a newline at the end."""
    count = summary.count_by_state
    fetched = count[State.DONE] + count[State.FAILED]
    size = _size(summary.size_bytes)
    lines = [f"pages        {summary.pages:>9,}   {size} in {fetched:,} URLs fetched"]
    if summary.count_by_status:
        statuses = sorted(summary.count_by_status.items())
        lines.append(f"statuses     {_counts(statuses)}")
    lines += _redirect_lines(summary)
    excluded = summary.count_by_reason[State.EXCLUDED].most_common()
    if excluded:
        lines.append(f"excluded     {count[State.EXCLUDED]:>9,}   {_counts(excluded)}")
    if summary.slowest:
        lines.append("slowest      " + _took(summary.slowest[0]))
        lines += [f"             {_took(record)}" for record in summary.slowest[1:]]
    failed = summary.count_by_reason[State.FAILED].most_common()
    if failed:
        lines.append(f"failed       {count[State.FAILED]:>9,}   {_counts(failed)}")
        lines += _failure_lines(summary.failures)
    if summary.left:
        lines.append(f"left         {summary.left:>9,}   URLs still to fetch")
    return "\n".join(lines)


def _redirect_lines(summary: Summary) -> list[str]:
    if not summary.target_by_url:
        return []
    targets = collections.Counter(map(dedup_key, summary.target_by_url.values()))
    meeting = sum(n for n in targets.values() if n > 1)
    found = _counts([("meeting in one page", meeting), ("loops", len(summary.loops))])
    lines = [f"redirects    {len(summary.target_by_url):>9,}   {found}"]
    for loop in summary.loops[:LISTED]:
        lines.append("    loop     " + " -> ".join(map(printable, [*loop, loop[0]])))
    return lines


def _failure_lines(failures: list[UrlRecord]) -> list[str]:
    lines = []
    for record in failures[:LISTED]:
        assert record.outcome is not None
        lines.append(f"    {record.outcome.reason:<18} {printable(record.url)}")
        if record.via:
            lines.append(f"    {'':<18}   found on {printable(record.via)}")
    if len(failures) > LISTED:
        lines.append(f"    ... and {len(failures) - LISTED:,} more; `export` lists all")
    return lines


def _counts(counts: Iterable[tuple[object, int]]) -> str:
    return ", ".join(f"{name}: {n:,}" for name, n in counts)


def _took(record: UrlRecord) -> str:
    assert record.outcome is not None
    return f"{record.outcome.took_s or 0.0:>8.2f} s   {printable(record.url)}"


def _size(size_bytes: int) -> str:
    size = float(size_bytes)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def printable(text: str) -> str:
    """Return a text that a server chose, safe to print: no control character is left.

    >>> printable("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def export(records: Iterable[UrlRecord], file: TextIO, style: str) -> None:
    """Write every URL, one a line, as JSON or as CSV with a line of names.

    Args:
        style: One of EXPORT_FORMATS.

    >>> import sys
    >>> export([UrlRecord("http://a.test/", State.QUEUED, depth=0)], sys.stdout, "csv")
    ... # doctest: +ELLIPSIS
    url,state,reason,status,depth,via,redirect_to,content_type,bytes,took_s,tries,...
    http://a.test/,queued,,,0,,,,,,0,,,
    """
    table = csv.DictWriter(file, list(_row(NOTHING)), lineterminator="\n")
    if style == "csv":
        table.writeheader()
    for record in records:
        row = _row(record)
        if style == "csv":
            table.writerow(row)
        else:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _row(record: UrlRecord) -> dict[str, Any]:
    def of_outcome(name: str) -> Any:
        value = getattr(record.outcome, name, None)
        return None if value == "" else value

    return {
        "url": record.url,
        "state": str(record.state),
        "reason": of_outcome("reason"),
        "status": of_outcome("status"),
        "depth": record.depth,
        "via": record.via or None,
        "redirect_to": of_outcome("redirect_to"),
        "content_type": of_outcome("content_type"),
        "bytes": of_outcome("size_bytes"),
        "took_s": of_outcome("took_s"),
        "tries": record.tries,
        "title": of_outcome("title"),
        "error": of_outcome("error"),
        "finished_at": record.finished_at,
    }
