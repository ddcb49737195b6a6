"""The links to fix as CSV, one row for each."""

import csv
import itertools
from collections.abc import Iterator
from typing import Any, TextIO

from crawler_app.base.text.escaping import defused
from crawler_app.show.findings.kinds import FindingKind
from crawler_app.show.report.report_data import Report, ReportedLink

__all__ = ["write_csv"]

COLUMNS = ("page", "line", "text", "href", "target", "status", "reason")

WORD_BY_KIND = {
    FindingKind.MALFORMED: "malformed",
    FindingKind.FRAGMENT: "fragment",
    FindingKind.MIXED: "mixed_content",
    FindingKind.REDIRECT: "redirect",
}

# Stands for the links to a broken URL that has none, such as a start URL.
NO_LINK = ReportedLink("")


def write_csv(report: Report, file: TextIO) -> None:
    """Write the links to broken URLs, malformed references, fragments, mixed content, redirects.

    What is unknown is empty: the page of a start URL, and everything else of a page that
    could not be read.
    """
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in _rows(report):
        table.writerow(map(defused, row))


def _rows(report: Report) -> Iterator[tuple[Any, ...]]:
    for broken in report.broken:
        for link in broken.links or [NO_LINK]:
            yield *_place(link), broken.url, broken.status, broken.reason
    faulty = (report.malformed, report.fragments, report.mixed_content, report.moved)
    for each in itertools.chain(*faulty):
        target = each.end or (each.url if not each.problem else None)
        for link in each.links:
            yield *_place(link), target, each.status, WORD_BY_KIND[each.kind]


def _place(link: ReportedLink) -> tuple[Any, ...]:
    return link.page, link.line or None, link.text, link.href
