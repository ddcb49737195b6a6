"""The summary of a crawl as text for a terminal.

Rule: the lists come first and the counts last, so that a long list scrolls no count away.
Every list is bounded.  Lines fit 80 columns, except for URLs, which are never cut: they are
there to be copied.
"""

import collections
import itertools
import textwrap
from collections.abc import Iterable, Mapping

from crawler_app.base.models import State
from crawler_app.base.reasons import WALLS, Reason, words_of_scripted
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import number, size
from crawler_app.base.urls import dedup_key
from crawler_app.run.directory import CrawlSizes
from crawler_app.run.results.comparison import Comparison
from crawler_app.run.results.rendered_pages import RenderedPage, render_words
from crawler_app.run.results.summary import Summary

__all__ = ["LISTED", "render_summary"]

# Maximum length of the lists; the number of the other entries is printed.
LISTED = 20
COMPARED = 10

COLUMNS = 80
# Of a label and its number.
INDENT = " " * 25
# Between a name and its count, so that no line ends between them.
TIE = "\N{NO-BREAK SPACE}"


def render_summary(
    summary: Summary,
    kept: CrawlSizes | None = None,
    comparison: Comparison | None = None,
    state: str = "",
    rendering: Mapping[str, int] | None = None,
    *,
    is_rendered: bool = False,
) -> str:
    """Return the complete summary of a crawl, without a newline at the end.

    Args:
        state: Comes first if there is no list, otherwise before the counts.
        rendering: As a `Result` has it.
        is_rendered: Whether the crawl runs the scripts of pages.
    """
    blocks = [
        _loop_lines(summary),
        _failure_lines(summary),
    ]
    if comparison is not None:
        blocks += _changed_blocks(comparison)
    counts = [state] if state else []
    counts += _count_lines(summary, is_rendered=is_rendered)
    counts += _rendered_lines(summary, rendering or {})
    if kept is not None:
        counts += _kept_lines(kept)
    if comparison is not None:
        counts.append(_compared_line(comparison))
        counts += _broken_lines(comparison)
    return "\n\n".join("\n".join(block) for block in [*blocks, counts] if block)


def _count_lines(summary: Summary, *, is_rendered: bool) -> list[str]:
    external = f"{summary.external:,} external, " if summary.external else ""
    amount = (
        f"{number(summary.pages, 'page')}, {number(summary.files, 'file')}, {external}"
        f"{number(len(summary.redirects), 'redirect')}, {size(summary.size_bytes)}"
    )
    lines = [_row("done", summary.done, amount)]
    if assets := summary.external_assets:
        text = "assets of other hosts, fetched or checked, but not crawled"
        lines.append(_row("external", assets, text))
    if summary.count_by_status:
        statuses = sorted(summary.count_by_status.items())
        lines.append(_row("statuses", None, _counts(statuses)))
    if too_hard := summary.count_by_reason[State.DONE][Reason.TOO_HARD]:
        lines.append(_row("too hard", too_hard, "pages that were read in part only"))
    if scripted := summary.made_by_script:
        words = words_of_scripted(is_rendered=is_rendered)
        lines.append(_row("by script", scripted, f"pages: {words}"))
    if summary.redirects:
        lines.append(_redirects_line(summary))
    if skipped := summary.count_by_reason[State.EXCLUDED].most_common():
        lines.append(_row("skipped", summary.skipped, _counts(skipped)))
    if failed := summary.count_by_reason[State.FAILED].most_common():
        kinds = f"{summary.broken:,} broken, {summary.not_checked:,} not checked"
        lines.append(_row("failed", summary.failed, f"{kinds} ({_counts(failed)})"))
    if summary.left:
        noun = "URL" if summary.left == 1 else "URLs"
        lines.append(_row("left", summary.left, f"{noun} still to be fetched"))
    return lines


def _rendered_lines(summary: Summary, rendering: Mapping[str, int]) -> list[str]:
    """Return the line about rendered pages, and what it has taken in this run.

    >>> _rendered_lines(Summary(), {})
    []
    """
    rendered = summary.count_by_reason[State.DONE][Reason.RENDERED]
    if not rendered:
        return []
    text = "pages whose scripts were run in a browser"
    if rendering:
        total = RenderedPage(*(rendering.get(name, 0) for name in RenderedPage._fields))
        text += f"; {render_words(total)}"
    return [_row(Reason.RENDERED, rendered, text)]


def _redirects_line(summary: Summary) -> str:
    targets = collections.Counter(
        map(dedup_key, summary.redirects.target_by_url.values())
    )
    shared = sum(n for n in targets.values() if n > 1)
    found = [("to the same URL as another", shared), ("loops", len(summary.loops))]
    return _row("redirects", len(summary.redirects), _counts(found))


def _kept_lines(kept: CrawlSizes) -> list[str]:
    """Return the lines about the archive and the index.

    >>> from crawler_app.store.archive.totals import ArchiveSummary
    >>> print("\\n".join(_kept_lines(CrawlSizes(ArchiveSummary(1200, 30, 1, 4_500_000), 900))))
    archive          1,200   captures, 30 of them revisits, 4.5 MB in 1 file
    index              900   pages
    """
    lines = []
    archive = kept.archive
    if archive.captures:
        text = (
            f"captures, {archive.revisits:,} of them revisits, "
            f"{size(archive.size_bytes)} in {number(archive.files, 'file')}"
        )
        lines.append(_row("archive", archive.captures, text))
    if kept.pages is not None:
        lines.append(_row("index", kept.pages, "pages"))
    return lines


def _compared_line(comparison: Comparison) -> str:
    """Return the counts of the comparison with the previous crawl.

    >>> print(_compared_line(Comparison(new=["http://a.test/b"], unchanged=7)))
    compared                 1 new, 0 changed, 7 unchanged, 0 vanished
    """
    found = (
        f"{len(comparison.new):,} new, {len(comparison.changed):,} changed, "
        f"{comparison.unchanged:,} unchanged, {len(comparison.vanished):,} vanished"
    )
    if comparison.unreachable:
        found += f", {len(comparison.unreachable):,} unreachable"
    if not comparison.was_whole:
        found += "; the previous crawl had not finished"
    return _row("compared", None, found)


def _broken_lines(comparison: Comparison) -> list[str]:
    """Return the line about what is broken now, or was in the previous crawl.

    >>> _broken_lines(Comparison(still_broken=["http://a.test/b"]))
    ['broken                   0 newly, 1 still, 0 fixed']
    """
    broken = (comparison.newly_broken, comparison.still_broken, comparison.fixed)
    if not any(broken):
        return []
    newly, still, fixed = (f"{len(urls):,}" for urls in broken)
    return [_row("broken", None, f"{newly} newly, {still} still, {fixed} fixed")]


def _loop_lines(summary: Summary) -> list[str]:
    lines = [
        "    " + "\n      -> ".join(map(printable, [*loop, loop[0]]))
        for loop in summary.loops[:LISTED]
    ]
    return _list("redirect loops", lines, len(summary.loops), "gencrawl report")


def _failure_lines(summary: Summary) -> list[str]:
    lines = []
    # One line stands for all URLs behind walls, and says what to do.
    walled = sum(summary.count_by_reason[State.FAILED][reason] for reason in WALLS)
    listed = (
        record
        for record in summary.failures
        if record.outcome and record.outcome.reason not in WALLS
    )
    for record in itertools.islice(listed, LISTED):
        assert record.outcome is not None
        line = f"    {record.outcome.reason:<10}  {printable(record.url)}"
        if record.via:
            line += f"\n      first found on {printable(record.via)}"
        lines.append(line)
    # More may have failed since they were counted.
    total = max(summary.failed - walled, len(lines))
    return _list("failed", lines, total, "gencrawl export")


def _changed_blocks(comparison: Comparison) -> list[list[str]]:
    """Return the lists of new, changed and vanished pages."""
    vanished = [f"{printable(v.url)} ({v.reason})" for v in comparison.vanished]
    urls_by_heading = {
        "new": [printable(url) for url in comparison.new],
        "changed": [printable(url) for url in comparison.changed],
        "vanished": vanished,
    }
    return [
        _list(
            heading,
            [f"    {url}" for url in urls[:COMPARED]],
            len(urls),
            "gencrawl status --json",
        )
        for heading, urls in urls_by_heading.items()
    ]


def _list(heading: str, lines: list[str], total: int, whole: str) -> list[str]:
    """Return the heading, the lines, and how many more there are; empty without lines."""
    if not lines:
        return []
    more = total - len(lines)
    rest = [f"    and {more:,} more; `{whole}` lists all"] if more else []
    return [heading, *lines, *rest]


def _row(label: str, count: int | None, text: str) -> str:
    shown = "" if count is None else f"{count:,}"
    filled = textwrap.fill(
        text,
        COLUMNS,
        initial_indent=f"{label:<13}{shown:>9}   ",
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(TIE, " ")


def _counts(counts: Iterable[tuple[object, int]]) -> str:
    return ", ".join(f"{name}:{TIE}{n:,}" for name, n in counts)
