"""What a crawl found, read from its frontier: for a person, and for a program."""

import collections
import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

from crawler_app.frontier import Frontier
from crawler_app.models import State, UrlRecord

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

# Lines of a list in the text; the rest are counted, and exported.
LISTED = 20


@dataclass
class Summary:
    """A whole crawl in numbers, and what a person should look at.

    Attributes:
        count_by_reason: Per state, how the URLs there ended.
        pages: HTML pages that were read.
        size_bytes: Of all bodies, after decompression.
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
    redirects: dict[str, str] = field(default_factory=dict)
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
            "redirects": len(self.redirects),
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
        summary.pages += outcome.reason == "ok" and "html" in outcome.content_type
        if outcome.redirect_to:
            summary.redirects[record.url] = outcome.redirect_to
        if record.state is State.FAILED:
            summary.failures.append(record)
        if outcome.took_s is not None:
            summary.slowest = _slowest(summary.slowest, record)
    summary.loops = list(_loops(summary.redirects))
    return summary


def _slowest(slowest: list[UrlRecord], record: UrlRecord) -> list[UrlRecord]:
    def took_s(record: UrlRecord) -> float:
        return (record.outcome and record.outcome.took_s) or 0.0

    if len(slowest) == 3 and took_s(record) <= took_s(slowest[-1]):
        return slowest
    return sorted([*slowest, record], key=took_s, reverse=True)[:3]


def _loops(redirects: dict[str, str]) -> Iterator[list[str]]:
    seen: set[str] = set()
    for start in redirects:
        path: dict[str, None] = {}
        url = start
        while url in redirects and url not in seen:
            seen.add(url)
            path[url] = None
            url = redirects[url]
        if url in path:
            urls = list(path)
            yield urls[urls.index(url) :]


def final_record(url: str, frontier: Frontier, summary: Summary) -> UrlRecord | None:
    """Return what became of a URL in the end, where its redirects led; None if unknown.

    In a redirect loop that is a URL of the loop.
    """
    path: set[str] = set()
    while url in summary.redirects and url not in path:
        path.add(url)
        url = summary.redirects[url]
    return next((record for record in frontier.records() if record.url == url), None)


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
    if not summary.redirects:
        return []
    targets = collections.Counter(summary.redirects.values())
    meeting = sum(n for n in targets.values() if n > 1)
    found = _counts([("meeting in one page", meeting), ("loops", len(summary.loops))])
    lines = [f"redirects    {len(summary.redirects):>9,}   {found}"]
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


COLUMNS = (
    "url",
    "state",
    "reason",
    "status",
    "depth",
    "via",
    "redirect_to",
    "content_type",
    "bytes",
    "took_s",
    "tries",
    "title",
    "error",
    "finished_at",
)


def export(records: Iterable[UrlRecord], file: TextIO, style: str) -> int:
    """Write every URL, one a line, as JSON or as CSV; return how many.

    Args:
        style: One of EXPORT_FORMATS.
    """
    count = 0
    table = csv.writer(file, lineterminator="\n")
    if style == "csv":
        table.writerow(COLUMNS)
    for count, record in enumerate(records, 1):
        row = _row(record)
        if style == "csv":
            table.writerow(row)
        else:
            values = zip(COLUMNS, row, strict=True)
            file.write(json.dumps(dict(values), ensure_ascii=False) + "\n")
    return count


def _row(record: UrlRecord) -> tuple[Any, ...]:
    outcome = record.outcome
    return (
        record.url,
        str(record.state),
        outcome and outcome.reason,
        outcome and outcome.status,
        record.depth,
        record.via or None,
        (outcome and outcome.redirect_to) or None,
        (outcome and outcome.content_type) or None,
        outcome and outcome.size_bytes,
        outcome and outcome.took_s,
        record.tries,
        (outcome and outcome.title) or None,
        (outcome and outcome.error) or None,
        record.finished_at,
    )
