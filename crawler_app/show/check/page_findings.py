"""Findings about the pages themselves: the problems that the report lists, in a check."""

import dataclasses
from collections.abc import Callable, Iterator

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Severity
from crawler_app.base.text.formatting import number
from crawler_app.run.directory import CrawlDirectory
from crawler_app.show.findings.finding import Finding
from crawler_app.show.findings.kinds import FindingKind, ProblemKind
from crawler_app.show.report.gathering import gather
from crawler_app.show.report.report_data import Problem
from crawler_app.show.report.tables.page_sections import words_of_problem

__all__ = ["problems_of_pages"]


def problems_of_pages(
    config: CrawlConfig, name_of: Callable[[str], str]
) -> Iterator[Finding]:
    """Yield the problems in the archive of a check that has ended, one for each group of pages.

    Args:
        name_of: Returns the name to show for a URL.
    """
    for problem in gather(CrawlDirectory.open(config.into)).problems:
        if problem.kind is not ProblemKind.SOFT_404:  # which is a finding already
            yield _finding(problem, name_of)


def _finding(problem: Problem, name_of: Callable[[str], str]) -> Finding:
    severity = problem.kind.severity
    page = problem.examples[0] if problem.examples else problem.subject
    problem = dataclasses.replace(problem, subject=name_of(problem.subject))
    others = problem.count - 1
    more = f", and on {number(others, 'more page')}" if others > 0 else ""
    return Finding(
        FindingKind.NOTICE if severity is Severity.NOTICE else FindingKind.PAGE,
        name_of(page),
        text="page",
        target=name_of(page),
        reason=problem.kind.value,
        meaning=words_of_problem(problem) + more,
        severity=severity,
    )
