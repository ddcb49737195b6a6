"""The sections of a report about what the pages say, load and link to.

Pure.  Each public function makes one section.
"""

import dataclasses
from collections.abc import Iterable, Sequence

from crawler_app.base.models import Severity
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import cut, seconds, size
from crawler_app.show.report.report_data import (
    FaultyTarget,
    Problem,
    ReportedLink,
)
from crawler_app.show.report.tables import (
    LINES,
    Cell,
    DisplayUrl,
    Table,
    TableMaker,
    shown,
)

__all__ = [
    "fragments",
    "heavy",
    "images",
    "linked",
    "malformed",
    "mixed_content",
    "moved",
    "problem_table",
    "words_of_problem",
]

BADGE_BY_SEVERITY = {
    Severity.ERROR: "bad",
    Severity.WARNING: "moved",
    Severity.NOTICE: "",
}

# Twice the length of a title that search engines show in full.
SUBJECT_CHARS = 120


def problem_table(maker: TableMaker, section: str, title: str) -> Table:
    """Return a table with the pages of each problem of a section."""
    problems = _of_section(maker, section)
    rows = [
        [
            Cell(words_of_problem(problem), badge=_badge(problem)),
            Cell(f"{problem.count:,}"),
            Cell(lines=[*_examples(maker, problem), *_templates(maker, problem)]),
        ]
        for problem in problems[: maker.limits.rows]
    ]
    heads = ["Finding", "Pages", "Examples"]
    table = maker.table(section, title, heads, rows, _total(maker, problems))
    table.numbers = ("Pages",)
    return table


def _of_section(maker: TableMaker, section: str) -> list[Problem]:
    return [each for each in maker.report.problems if each.kind.section == section]


def _total(maker: TableMaker, problems: Iterable[Problem]) -> int:
    """Return the number of rows that the problems would have without limits."""
    counts = maker.report.problem_counts
    has_subject = {problem.kind: bool(problem.subject) for problem in problems}
    return sum(counts[kind] if many else 1 for kind, many in has_subject.items())


def words_of_problem(problem: Problem) -> str:
    """Return what is wrong, with what the pages have in common."""
    words = problem.kind.words
    subject = cut(problem.subject, SUBJECT_CHARS)
    return f"{words}: {subject}" if subject else words


def _badge(problem: Problem) -> str:
    return BADGE_BY_SEVERITY[problem.kind.severity]


def _templates(maker: TableMaker, problem: Problem) -> list[DisplayUrl]:
    """Return the templates that have made most of the pages."""
    return [
        DisplayUrl(
            f"{shown(url, maker.home, maker.limits).name}", note=f"{count:,} pages"
        )
        for url, count in problem.templates
        if count > LINES
    ]


def _examples(maker: TableMaker, problem: Problem) -> list[DisplayUrl]:
    lines = maker.lines(problem.examples)
    if problem.count > len(lines):
        lines.append(DisplayUrl(f"and {problem.count - len(lines):,} more"))
    return lines


def images(maker: TableMaker) -> Table:
    """Return the images without an alternative text or a size."""
    problems = _of_section(maker, "images")
    problems.sort(key=lambda problem: -problem.count)
    rows = [
        [
            maker.link(problem.subject),
            Cell(problem.kind.words, badge=_badge(problem)),
            Cell(f"{problem.count:,}"),
            Cell(lines=maker.lines(problem.examples)),
        ]
        for problem in problems[: maker.limits.rows]
    ]
    heads = ["Image", "Finding", "Pages", "Example"]
    table = maker.table("images", "Images", heads, rows, _total(maker, problems))
    table.numbers = ("Pages",)
    return table


def malformed(maker: TableMaker) -> Table:
    """Return the malformed references."""
    found = maker.report.malformed
    return _faulty(maker, found, "malformed", "Malformed references")


def fragments(maker: TableMaker) -> Table:
    """Return the links to places that their pages do not have."""
    found = maker.report.fragments
    return _faulty(maker, found, "fragments", "Links to missing places")


def mixed_content(maker: TableMaker) -> Table:
    """Return what https pages load over http."""
    table = _faulty(maker, maker.report.mixed_content, "mixed-content", "Mixed content")
    table.heads = ["URL", "Pages", "Loaded by"]
    return table


def moved(maker: TableMaker) -> Table:
    """Return the redirects that pages link to, each with its target."""
    table = _faulty(maker, maker.report.moved, "moved", "Links to redirects")
    table.heads = ["Redirect", "Pages", "Linked from"]
    return table


def _faulty(
    maker: TableMaker, found: Sequence[FaultyTarget], anchor: str, title: str
) -> Table:
    rows = [
        [
            *_faulty_cells(maker, each),
            Cell(f"{each.pages:,}"),
            Cell(lines=_pages_with(maker, each)),
        ]
        for each in found[: maker.limits.rows]
    ]
    heads = ["Reference", "Finding", "Pages", "Found on"]
    table = maker.table(anchor, title, heads, rows, len(found))
    table.numbers = ("Pages",)
    return table


def _faulty_cells(maker: TableMaker, each: FaultyTarget) -> list[Cell]:
    """Return a URL, with where it leads; or a reference, with its problem."""
    if not each.problem:
        return [_with_end(maker, each)]
    reference = cut(each.url, maker.limits.url_chars) or "(empty)"
    return [Cell(reference), Cell(printable(each.problem))]


def _with_end(maker: TableMaker, each: FaultyTarget) -> Cell:
    cell = maker.link(each.url)
    if not each.end:
        return cell
    end = shown(each.end, maker.home, maker.limits)
    note = "" if each.status is None else str(each.status)
    line = DisplayUrl(f"\N{RIGHTWARDS ARROW} {end.name}", end.href, note)
    return dataclasses.replace(cell, lines=[line])


def _pages_with(maker: TableMaker, each: FaultyTarget) -> list[DisplayUrl]:
    link_by_page: dict[str, ReportedLink] = {}
    for link in each.links:
        link_by_page.setdefault(link.page, link)
        if len(link_by_page) == LINES:
            break
    lines = [
        dataclasses.replace(shown(page, maker.home, maker.limits), note=_place(link))
        for page, link in link_by_page.items()
    ]
    if each.pages > len(lines):
        lines.append(DisplayUrl(f"and {each.pages - len(lines):,} more"))
    return lines


def _place(link: ReportedLink) -> str:
    return f"line {link.line:,}" if link.line else ""


def linked(maker: TableMaker) -> Table:
    """Return the most linked pages."""
    rows = [
        [maker.link(each.url), Cell(f"{each.pages:,}")]
        for each in maker.report.most_linked[: min(10, maker.limits.rows)]
    ]
    table = maker.table("linked", "Most linked", ["Page", "Linked from"], rows)
    table.numbers = ("Linked from",)
    table.words = (
        "Pages by the number of other pages that link to them." if rows else ""
    )
    return table


def heavy(maker: TableMaker) -> Table:
    """Return the large and slow files that browsers load for pages."""
    files = maker.report.heavy
    rows = [
        [
            maker.link(each.url),
            Cell(size(each.size_bytes), value=each.size_bytes),
            Cell(seconds(each.took_s), value=each.took_s),
            Cell(f"{each.pages:,}"),
        ]
        for each in files[: maker.limits.rows]
    ]
    heads = ["File", "Size", "Time", "Pages"]
    table = maker.table("heavy", "Heavy files", heads, rows, len(files))
    table.numbers = tuple(heads[1:])
    return table
