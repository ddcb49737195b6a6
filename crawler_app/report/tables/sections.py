"""The sections of a report below its broken links, in their order.  Pure."""

from collections.abc import Iterator

from crawler_app.report.findings import Report
from crawler_app.report.tables import Limits, Maker, Table
from crawler_app.report.tables.crawl import compared, crawl, not_checked, skipped
from crawler_app.report.tables.site import (
    chains,
    depths,
    duplicates,
    hosts,
    largest,
    loops,
    slowest,
    statuses,
)

__all__ = ["tables_of"]

SECTIONS = (
    statuses,
    depths,
    loops,
    chains,
    slowest,
    largest,
    duplicates,
    hosts,
    compared,
    skipped,
    not_checked,
    crawl,
)


def tables_of(report: Report, limits: Limits) -> Iterator[Table]:
    """Return the tables that are not empty."""
    maker = Maker(report, limits)
    tables = (section(maker) for section in SECTIONS)
    return (table for table in tables if table.rows or table.words)
