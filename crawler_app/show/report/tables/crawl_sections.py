"""The sections of a report about the crawl itself.

Pure.  Each public function makes one section.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import options_of
from crawler_app.base.models import State
from crawler_app.base.reasons import meaning_of
from crawler_app.base.text.formatting import cut, duration, number, sentence, size
from crawler_app.run.results.comparison import Vanished
from crawler_app.run.results.rendered_pages import render_words
from crawler_app.run.results.summary import FINISHED
from crawler_app.show.report.tables import Cell, Table, TableMaker, shown
from crawler_app.show.report.verdict import unchecked

__all__ = ["compared", "crawl", "not_checked", "skipped"]

# Seeds that are shown.
MAX_SEEDS = 10

# A header or a pattern may be of any length.
OPTION_CHARS = 120
OPTION_BY_KEY = {option.key: option for option in options_of(CrawlConfig)}
ERROR_CHARS = 160


def compared(maker: TableMaker) -> Table:
    """Return the differences from the previous crawl."""
    comparison = maker.report.comparison
    heads = ["Change", "URLs", "Examples"]
    table = maker.table("compared", "Since the previous crawl", heads, [])
    if comparison is None:
        return table
    table.numbers = ("URLs",)
    table.rows = [
        [Cell(what), Cell(f"{len(urls):,}"), Cell(lines=maker.lines(urls))]
        for what, urls in (
            ("New", comparison.new),
            ("Changed", comparison.changed),
            ("Not reached this time", comparison.unreachable),
            ("Newly broken", comparison.newly_broken),
            ("Still broken", comparison.still_broken),
            ("Fixed", comparison.fixed),
        )
        if urls
    ]
    if comparison.vanished:
        table.rows.append(_vanished(maker, comparison.vanished))
    words = []
    if not comparison.was_whole:
        words.append("The previous crawl had not finished.")
    if table.rows:
        unchanged = [Cell("Unchanged"), Cell(f"{comparison.unchanged:,}"), Cell()]
        table.rows.append(unchanged)
    else:
        is_over = maker.report.state == FINISHED
        words.append(f"Nothing has changed{'' if is_over else ' so far'}.")
    table.words = "  ".join(words)
    return table


def _vanished(maker: TableMaker, pages: Sequence[Vanished]) -> list[Cell]:
    lines = [
        dataclasses.replace(line, note=meaning_of(page.reason))
        for line, page in zip(
            maker.lines([page.url for page in pages]), pages, strict=False
        )
    ]
    return [Cell("Vanished"), Cell(f"{len(pages):,}"), Cell(lines=lines)]


def skipped(maker: TableMaker) -> Table:
    """Return the skipped URLs by reason."""
    summary = maker.report.summary
    rows = [
        [
            Cell(sentence(meaning_of(reason))),
            Cell(f"{count:,}"),
            Cell(lines=maker.lines(maker.report.examples_by_reason[reason])),
        ]
        for reason, count in summary.count_by_reason[State.EXCLUDED].most_common()
    ]
    table = maker.table("skipped", "Skipped", ["Reason", "URLs", "Examples"], rows)
    table.count = f"{summary.skipped:,}" if rows else ""
    table.words = "URLs that were found but not fetched." if rows else ""
    table.numbers = ("URLs",)
    return table


def not_checked(maker: TableMaker) -> Table:
    """Return the URLs that failed because of a limit or an error of the crawl."""
    failures = maker.report.not_checked
    rows = [
        [
            maker.link(failure.url),
            Cell(sentence(meaning_of(failure.reason))),
            Cell(cut(failure.error, ERROR_CHARS)),
        ]
        for failure in failures[: maker.limits.rows]
    ]
    heads = ["URL", "Reason", "Details"]
    table = maker.table("not-checked", "Not checked", heads, rows, len(failures))
    table.words = (
        "Failed because of a limit or an error of the crawl; they may exist."
        if rows
        else ""
    )
    return table


def crawl(maker: TableMaker) -> Table:
    """Return the settings of the crawl, and the amount of data that it stored."""
    report = maker.report
    values: dict[str, Any] = {}
    first_at, last_at = report.summary.first_at, report.summary.last_at
    if first_at is not None and last_at is not None:
        values["Duration"] = f"about {duration(last_at - first_at)}"
    archive = report.kept.archive
    if archive.captures:
        values["Archive"] = (
            f"{number(archive.captures, 'capture')}, "
            f"{number(archive.revisits, 'revisit')}, {size(archive.size_bytes)}"
        )
    if report.rendering.pages:
        pages = number(report.rendering.pages, "page")
        values["Rendered"] = f"{pages}; {render_words(report.rendering)}"
    if report.kept.pages is not None:
        values["Index"] = number(report.kept.pages, "page")
    for name, value in report.options.items():
        values[name] = _option_words(name, value)
    rows = [
        [Cell(cut(name, OPTION_CHARS)), Cell(cut(str(value), OPTION_CHARS))]
        for name, value in values.items()
    ]
    seeds = Cell(
        lines=[shown(url, "", maker.limits) for url in report.seeds[:MAX_SEEDS]]
    )
    rows.insert(0, [Cell("Start URLs"), seeds])
    table = maker.table("crawl", "This crawl", ["Property", "Value"], rows)
    table.words = unchecked(report)
    return table


def _option_words(name: str, value: Any) -> str:
    """Return the value of an option as a user would write it."""
    if value is None:
        return "no limit"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value) if isinstance(value, str) else OPTION_BY_KEY[name].render(value)
