"""The sections of a report below its broken links, in their order.  Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawler_app.show.report.advice import ADVICE
from crawler_app.show.report.report_data import Report
from crawler_app.show.report.tables import Limits, Maker, Table
from crawler_app.show.report.tables.broken_links import BrokenList
from crawler_app.show.report.tables.crawl_sections import (
    compared,
    crawl,
    not_checked,
    skipped,
)
from crawler_app.show.report.tables.page_sections import (
    descriptions,
    headings,
    heavy,
    images,
    linked,
    malformed,
    mixed_content,
    moved,
    orphans,
    search,
    soft_404,
    titles,
)
from crawler_app.show.report.tables.site_sections import (
    chains,
    depths,
    duplicates,
    hosts,
    largest,
    loops,
    slowest,
    statuses,
)

__all__ = ["Advice", "advice_for", "tables_of"]


class Advice(NamedTuple):
    """What to do about the findings of one section."""

    anchor: str
    title: str
    text: str


SECTIONS = (
    compared,
    malformed,
    mixed_content,
    loops,
    moved,
    chains,
    soft_404,
    titles,
    headings,
    descriptions,
    images,
    search,
    orphans,
    duplicates,
    heavy,
    linked,
    statuses,
    depths,
    slowest,
    largest,
    hosts,
    skipped,
    not_checked,
    crawl,
)


def tables_of(report: Report, limits: Limits) -> Iterator[Table]:
    """Return the tables that are not empty."""
    maker = Maker(report, limits)
    tables = (section(maker) for section in SECTIONS)
    return (table for table in tables if table.rows or table.words)


def advice_for(broken: BrokenList, tables: Iterable[Table]) -> list[Advice]:
    """Return what to do about the sections that list something to mend."""
    sections = [(table.anchor, table.title) for table in tables if table.rows]
    if broken.items:
        sections.insert(0, ("broken", "Broken links"))
    return [
        Advice(anchor, title, ADVICE[anchor])
        for anchor, title in sections
        if anchor in ADVICE
    ]
