"""The summary of a crawl as text for a terminal."""

import collections
from collections.abc import Iterable

from crawler_app.directory import Kept
from crawler_app.models import State, UrlRecord
from crawler_app.reasons import Reason
from crawler_app.results.comparison import Comparison
from crawler_app.results.summary import Summary
from crawler_app.text.escaping import printable
from crawler_app.text.formatting import number, size
from crawler_app.urls import dedup_key

__all__ = [
    "render_comparison",
    "render_kept",
    "render_summary",
    "render_text",
]

# Maximum length of the lists; the number of the other entries is printed.
LISTED = 20
COMPARED = 10


def render_summary(
    summary: Summary, kept: Kept | None = None, comparison: Comparison | None = None
) -> str:
    """Return the complete summary of a crawl, without a newline at the end."""
    parts = [render_text(summary)]
    if kept is not None:
        parts.append(render_kept(kept))
    if comparison is not None:
        parts.append(render_comparison(comparison))
    return "\n".join(part for part in parts if part)


def render_text(summary: Summary) -> str:
    """Return the counts and lists of a summary, without a newline at the end."""
    external = f"{summary.external:,} outside, " if summary.external else ""
    amount = (
        f"{number(summary.pages, 'page')}, {number(summary.files, 'file')}, {external}"
        f"{number(len(summary.redirects), 'redirect')}, {size(summary.size_bytes)}"
    )
    lines = [f"done         {summary.done:>9,}   {amount}"]
    if summary.count_by_status:
        statuses = sorted(summary.count_by_status.items())
        lines.append(f"statuses     {_counts(statuses)}")
    if too_hard := summary.count_by_reason[State.DONE][Reason.TOO_HARD]:
        lines.append(f"too hard     {too_hard:>9,}   pages that were read in part only")
    lines += _redirect_lines(summary)
    skipped = summary.count_by_reason[State.EXCLUDED].most_common()
    if skipped:
        lines.append(f"skipped      {summary.skipped:>9,}   {_counts(skipped)}")
    for label, ranked in zip(("slowest", "", ""), summary.slowest, strict=False):
        lines.append(f"{label:<13}{ranked.took_s:>8.2f} s   {printable(ranked.url)}")
    failed = summary.count_by_reason[State.FAILED].most_common()
    if failed:
        kinds = f"{summary.broken:,} broken, {summary.not_checked:,} not checked"
        lines.append(f"failed       {summary.failed:>9,}   {kinds} ({_counts(failed)})")
        lines += _failure_lines(summary.failures)
    if summary.left:
        noun = "URL" if summary.left == 1 else "URLs"
        lines.append(f"left         {summary.left:>9,}   {noun} still to be fetched")
    return "\n".join(lines)


def render_kept(kept: Kept) -> str:
    """Return the lines about the archive and the index.

    >>> from crawler_app.archive.totals import ArchiveSummary
    >>> print(render_kept(Kept(ArchiveSummary(1200, 30, 1, 4_500_000), pages=900)))
    archive          1,200   captures, 30 of them revisits, 4.5 MB in 1 file
    index              900   pages
    """
    lines = []
    archive = kept.archive
    if archive.captures:
        lines.append(
            f"archive      {archive.captures:>9,}   captures, {archive.revisits:,} of "
            f"them revisits, {size(archive.size_bytes)} in {number(archive.files, 'file')}"
        )
    if kept.pages is not None:
        lines.append(f"index        {kept.pages:>9,}   pages")
    return "\n".join(lines)


def render_comparison(comparison: Comparison) -> str:
    """Return the lines about the comparison with the previous crawl.

    >>> print(render_comparison(Comparison(new=["http://a.test/b"], unchanged=7)))
    compared             1 new, 0 changed, 7 unchanged, 0 vanished (pages and files)
        new                http://a.test/b
    """
    found = (
        f"{len(comparison.new):,} new, {len(comparison.changed):,} changed, "
        f"{comparison.unchanged:,} unchanged, {len(comparison.vanished):,} vanished"
    )
    if comparison.unreachable:
        found += f", {len(comparison.unreachable):,} unreachable"
    lines = [f"compared             {found} (pages and files)"]
    if not comparison.was_whole:
        lines.append("    with a crawl that had not finished")
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
    if not summary.redirects:
        return []
    targets = collections.Counter(
        map(dedup_key, summary.redirects.target_by_url.values())
    )
    shared = sum(n for n in targets.values() if n > 1)
    found = _counts(
        [("to the same URL as another", shared), ("loops", len(summary.loops))]
    )
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
            lines.append(f"    {'':<18}   first found on {printable(record.via)}")
    if len(failures) > LISTED:
        lines.append(f"    ... and {len(failures) - LISTED:,} more; `export` lists all")
    return lines


def _counts(counts: Iterable[tuple[object, int]]) -> str:
    return ", ".join(f"{name}: {n:,}" for name, n in counts)
