"""The tables of a report that tell of the crawl, cut and in words.

Pure.  One public function is one section.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from crawler_app.models import State
from crawler_app.reasons import meaning_of
from crawler_app.report.tables import Cell, Maker, Table, shown
from crawler_app.results.comparison import Vanished
from crawler_app.results.summary import FINISHED
from crawler_app.text.formatting import cut, duration, number, sentence, size

__all__ = ["compared", "crawl", "not_checked", "skipped"]

# That are told.
MAX_SEEDS = 10

# Many take a broken image for a broken link.
TRIED = (
    "Only links (<a>, <area>), redirects and what sitemaps name were tried: no images, "
    "style sheets, scripts or frames"
)

OPTION_CHARS = 120
ERROR_CHARS = 160


def compared(maker: Maker) -> Table:
    """Return what is not as it was in the crawl before."""
    comparison = maker.report.comparison
    heads = ["What", "URLs", "For example"]
    table = maker.table("compared", "Since the crawl before", heads, [])
    if comparison is None:
        return table
    table.numbers = ("URLs",)
    table.rows = [
        [Cell(what), Cell(f"{len(urls):,}"), Cell(lines=maker.lines(urls))]
        for what, urls in (
            ("New", comparison.new),
            ("Changed", comparison.changed),
            ("Not reached this time", comparison.unreachable),
        )
        if urls
    ]
    if comparison.vanished:
        table.rows.append(_vanished(maker, comparison.vanished))
    words = []
    if not comparison.was_whole:
        words.append("The crawl before had not come to its end.")
    if table.rows:
        unchanged = [Cell("Unchanged"), Cell(f"{comparison.unchanged:,}"), Cell()]
        table.rows.append(unchanged)
    else:
        is_over = maker.report.state == FINISHED
        words.append(f"Nothing has changed{'' if is_over else ' so far'}.")
    table.words = "  ".join(words)
    return table


def _vanished(maker: Maker, pages: Sequence[Vanished]) -> list[Cell]:
    lines = [
        dataclasses.replace(line, note=meaning_of(page.reason))
        for line, page in zip(
            maker.lines([page.url for page in pages]), pages, strict=False
        )
    ]
    return [Cell("Vanished"), Cell(f"{len(pages):,}"), Cell(lines=lines)]


def skipped(maker: Maker) -> Table:
    """Return why URLs were met and not to be fetched."""
    summary = maker.report.summary
    rows = [
        [
            Cell(sentence(meaning_of(reason))),
            Cell(f"{count:,}"),
            Cell(lines=maker.lines(summary.examples_by_reason[reason])),
        ]
        for reason, count in summary.count_by_reason[State.EXCLUDED].most_common()
    ]
    table = maker.table("skipped", "Skipped", ["Why", "URLs", "For example"], rows)
    table.count = f"{summary.skipped:,}" if rows else ""
    table.words = "URLs that were met and not fetched." if rows else ""
    table.numbers = ("URLs",)
    return table


def not_checked(maker: Maker) -> Table:
    """Return what failed by our own limits and faults."""
    failures = maker.report.not_checked
    rows = [
        [
            maker.link(failure.url),
            Cell(sentence(meaning_of(failure.reason))),
            Cell(cut(failure.error, ERROR_CHARS)),
        ]
        for failure in failures[: maker.limits.rows]
    ]
    heads = ["URL", "Why", "In detail"]
    table = maker.table("not-checked", "Not checked", heads, rows, len(failures))
    table.words = (
        "Failed by the limits or faults of the crawl; not known to be broken."
        if rows
        else ""
    )
    return table


def crawl(maker: Maker) -> Table:
    """Return what was asked for, and what is kept of it."""
    report = maker.report
    values: dict[str, Any] = {}
    first_at, last_at = report.summary.first_at, report.summary.last_at
    if first_at is not None and last_at is not None:
        values["Took about"] = duration(last_at - first_at)
    archive = report.kept.archive
    if archive.captures:
        values["Archive"] = (
            f"{number(archive.captures, 'capture')}, "
            f"{number(archive.revisits, 'revisit')}, {size(archive.size_bytes)}"
        )
    if report.kept.pages is not None:
        values["Index"] = number(report.kept.pages, "page")
    for name, value in report.options.items():
        words = ", ".join(value) if isinstance(value, tuple) else str(value)
        values[name] = words
    rows = [
        [Cell(cut(name, OPTION_CHARS)), Cell(cut(str(value), OPTION_CHARS))]
        for name, value in values.items()
    ]
    seeds = Cell(
        lines=[shown(url, "", maker.limits) for url in report.seeds[:MAX_SEEDS]]
    )
    rows.insert(0, [Cell("Began at"), seeds])
    table = maker.table("crawl", "This crawl", ["What", "Value"], rows)
    reaches_all = report.options.get("scope") == "any"
    elsewhere = "." if reaches_all else ", and no links to other sites."
    table.words = TRIED + elsewhere
    return table
