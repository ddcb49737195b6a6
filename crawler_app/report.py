"""What a crawl found, read from its frontier: for a person, and for a program."""

import collections
import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from crawler_app.comparison import THERE, Comparison
from crawler_app.directory import Kept
from crawler_app.frontier import Frontier
from crawler_app.models import State, UrlRecord
from crawler_app.parser import is_html
from crawler_app.printing import printable
from crawler_app.urls import dedup_key

__all__ = [
    "EXPORT_FORMATS",
    "WACZ",
    "Summary",
    "export",
    "final_records",
    "kept_to_json",
    "pages_of",
    "render_comparison",
    "render_kept",
    "render_text",
    "summarize",
]

WACZ = "wacz"
EXPORT_FORMATS = ("jsonl", "csv", WACZ)

# A record of which nothing is known: its row has the names of all columns.
NOTHING = UrlRecord("", State.QUEUED, depth=0)

# Lines of a list in the text; the rest are counted, and exported.
LISTED = 20
COMPARED = 10


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
        summary.pages += outcome.reason in THERE and is_html(outcome.content_type)
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


def final_records(
    urls: Sequence[str], frontier: Frontier, summary: Summary
) -> list[UrlRecord | None]:
    """Return what became of URLs in the end, where their redirects led; None if unknown.

    In a redirect loop that is a URL of the loop.
    """
    target_by_key = _by_key(summary.target_by_url)
    final_keys = [_final_key(dedup_key(url), target_by_key) for url in urls]
    record_by_key: dict[str, UrlRecord | None] = dict.fromkeys(final_keys)
    for record in frontier.records():
        key = dedup_key(record.url)
        if key in record_by_key:
            record_by_key[key] = record
    return [record_by_key[key] for key in final_keys]


def pages_of(frontier: Frontier) -> set[str]:
    """Return the URLs that gave an HTML page."""
    return {
        record.url
        for record in frontier.records()
        if record.outcome is not None
        and record.outcome.reason in THERE
        and is_html(record.outcome.content_type)
    }


def _final_key(key: str, target_by_key: dict[str, str]) -> str:
    path: set[str] = set()
    while key in target_by_key and key not in path:
        path.add(key)
        key = dedup_key(target_by_key[key])
    return key


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


def render_kept(kept: Kept) -> str:
    """Return what is kept of a crawl besides its URLs, as a person reads it.

    >>> from crawler_app.archive import ArchiveSummary
    >>> print(render_kept(Kept(ArchiveSummary(1200, 30, 1, 4_500_000), pages=900)))
    archive          1,200   captures, 30 of them revisits, 4.5 MB in 1 file
    index              900   pages
    """
    lines = []
    archive = kept.archive
    if archive.captures:
        lines.append(
            f"archive      {archive.captures:>9,}   captures, {archive.revisits:,} of "
            f"them revisits, {_size(archive.size_bytes)} in {_files(archive.files)}"
        )
    if kept.pages is not None:
        lines.append(f"index        {kept.pages:>9,}   pages")
    return "\n".join(lines)


def kept_to_json(kept: Kept) -> dict[str, Any]:
    """Return the same as plain values, for ``status --json``."""
    archive = kept.archive
    return {
        "archive": {
            "captures": archive.captures,
            "revisits": archive.revisits,
            "files": archive.files,
            "bytes": archive.size_bytes,
        },
        "indexed_pages": kept.pages,
    }


def render_comparison(comparison: Comparison) -> str:
    """Return what a person should know of a crawl beside the one before it.

    >>> print(render_comparison(Comparison(new=["http://a.test/b"], unchanged=7)))
    compared             1 new, 0 changed, 7 unchanged, 0 vanished
        new                http://a.test/b
    """
    found = (
        f"{len(comparison.new):,} new, {len(comparison.changed):,} changed, "
        f"{comparison.unchanged:,} unchanged, {len(comparison.vanished):,} vanished"
    )
    if comparison.unreachable:
        found += f", {len(comparison.unreachable):,} unreachable"
    lines = [f"compared             {found}"]
    if not comparison.was_whole:
        lines.append("    with a crawl that had not come to its end")
    vanished = [(page.url, f" ({page.reason})") for page in comparison.vanished]
    for what, pages in (
        ("new", [(url, "") for url in comparison.new]),
        ("changed", [(url, "") for url in comparison.changed]),
        ("vanished", vanished),
    ):
        lines += [
            f"    {what:<18} {printable(url)}{why}" for url, why in pages[:COMPARED]
        ]
        if len(pages) > COMPARED:
            more = len(pages) - COMPARED
            lines.append(f"    {'':<18} and {more:,} more; `status --json` lists all")
    return "\n".join(lines)


def _redirect_lines(summary: Summary) -> list[str]:
    if not summary.target_by_url:
        return []
    targets = collections.Counter(map(dedup_key, summary.target_by_url.values()))
    meeting = sum(n for n in targets.values() if n > 1)
    found = _counts([("to a shared target", meeting), ("loops", len(summary.loops))])
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


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def export(records: Iterable[UrlRecord], file: TextIO, style: str) -> None:
    """Write every URL, one a line, as JSON or as CSV with a line of names.

    Args:
        style: ``jsonl`` or ``csv``.

    >>> import sys
    >>> export([UrlRecord("http://a.test/", State.QUEUED, depth=0)], sys.stdout, "csv")
    ... # doctest: +ELLIPSIS
    url,state,reason,status,depth,via,redirect_to,canonical,content_type,bytes,...
    http://a.test/,queued,,,0,,,,,,,0,,,,
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
        "canonical": of_outcome("canonical"),
        "content_type": of_outcome("content_type"),
        "bytes": of_outcome("size_bytes"),
        "took_s": of_outcome("took_s"),
        "tries": record.tries,
        "digest": of_outcome("digest"),
        "title": of_outcome("title"),
        "error": of_outcome("error"),
        "finished_at": record.finished_at,
    }
