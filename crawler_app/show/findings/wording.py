"""Findings and the summary of a check in words.  Pure."""

from collections.abc import Iterable

from crawler_app.base.models import Severity
from crawler_app.base.reasons import never_checked, words_of_scripted
from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import number
from crawler_app.show.findings.finding import Change, CheckSummary, Finding
from crawler_app.show.findings.grouping import MAX_FIRST, Group, grouped, problem_of
from crawler_app.show.findings.kinds import FindingKind

__all__ = [
    "fixed_lines",
    "group_lines",
    "headline",
    "line_of",
    "summary_lines",
    "with_severity",
    "words_of",
]

# Longer lists are not read.
MAX_GROUPS = 20
MAX_FIXED = 10

# Of an ISO 8601 time.
DATE_CHARS = 10


def with_severity(finding: Finding, words: str) -> str:
    """Return words after the severity, unless it is an error, and before the age, if known."""
    mark = "" if finding.severity is Severity.ERROR else f"{finding.severity}: "
    age = ""
    if finding.change == Change.NEW:
        age = " (new)"
    elif finding.change and finding.since:
        age = f" (since {finding.since[:DATE_CHARS]})"
    return mark + words + age


def line_of(finding: Finding) -> str:
    """Return a finding in one line."""
    text = f'"{finding.text}" ' if finding.page else ""
    words = f"{text}-> {finding.target or finding.href}  {problem_of(finding)}"
    place = finding.place + (": " if finding.page else " ")
    return printable(place + with_severity(finding, words))


def words_of(group: Group) -> str:
    """Return what a group has in common, and its numbers."""
    first, targets = group.first, group.targets
    words = (
        f"{first.target or first.href}  {with_severity(first, problem_of(first))}: "
        f"{number(len(group.found), 'reference')} on {number(group.pages, 'page')}"
    )
    if targets > 1:
        words += f", to {number(targets - 1, 'more URL')} as well"
    text, pages = group.template
    if pages:
        words += f'; the same "{text}" on {number(pages, "page")}'
    return printable(words)


def group_lines(findings: Iterable[Finding]) -> list[str]:
    """Return what to fix first: the causes of most findings, if some have several.

    Each cause with more places than are shown is among them, errors first. Which pages most
    visitors see is not known, so each page counts the same.
    """
    several = [each for each in grouped(findings) if len(each.found) > 1]
    long = sum(len(each.found) > MAX_FIRST for each in several)
    several.sort(key=lambda each: len(each.found) <= MAX_FIRST)
    count = min(max(long, MAX_FIRST), MAX_GROUPS)
    first = sorted(several[:count], key=lambda each: each.first.severity.rank)
    lines = [f"  {words_of(each)}" for each in first]
    if long > count:
        lines.append(f"  and {long - count:,} more with many references")
    return ["Fix first:", *lines] if lines else []


def fixed_lines(summary: CheckSummary) -> list[str]:
    """Return the first of what is fixed."""
    lines = [
        f"  {with_severity(each, f'{each.page} -> {each.target or each.href}')}"
        for each in summary.fixed[:MAX_FIXED]
    ]
    if more := len(summary.fixed) - len(lines):
        lines.append(f"  and {more:,} more")
    return [printable(line) for line in (["Fixed:", *lines] if lines else [])]


def headline(summary: CheckSummary) -> str:
    """Return the result in a few words.

    >>> from collections import Counter
    >>> headline(CheckSummary()), headline(CheckSummary(counts=Counter(broken=2, fragments=1)))
    ('No findings', '3 findings: 2 broken, 1 fragment')
    """
    total = summary.counts.total()
    if summary.is_empty:
        return "Nothing was fetched"
    end = ", but the check is incomplete" if summary.incomplete else ""
    if not total:
        return f"No findings{end}"
    counts = ", ".join(
        number(n, FindingKind(kind).noun, kind)
        for kind, n in summary.counts.most_common()
    )
    return f"{number(total, 'finding')}: {counts}{end}"


def summary_lines(summary: CheckSummary) -> list[str]:
    """Return the headline, what was checked, and what not."""
    checked = (
        f"Checked: {number(summary.references, 'reference')} in "
        f"{number(summary.pages, 'document')}, to {number(summary.urls, 'URL')}."
    )
    lines = [headline(summary), checked]
    lines += [f"Incomplete: {why}." for why in summary.incomplete]
    if summary.compared_with:
        new, still, fixed = (
            f"{summary.changes[change]:,} {change}" for change in Change
        )
        lines.append(
            f"Compared with the {summary.compared_with}: {new}, {still} there, {fixed}."
        )
    if summary.accepted or summary.ignored:
        lines.append(
            f"Left out: {summary.accepted:,} accepted, {summary.ignored:,} ignored."
        )
    if summary.made_by_script:
        pages = number(summary.made_by_script, "page")
        words = words_of_scripted(is_rendered=summary.is_rendered)
        lines.append(f"Made by a script: {pages}; {words}.")
    if summary.unlisted:
        lines.append(
            f"Only counted, not listed: {number(summary.unlisted, 'finding')}."
        )
    parts = [f"{count:,} ({why})" for why, count in summary.unchecked.most_common()]
    if summary.unread:
        unread = number(summary.unread, "fragment")
        parts.append(f"{unread} on other sites (see --external-fragments)")
    never = never_checked(is_rendered=summary.is_all_rendered)
    parts += [*summary.options_off, never]
    lines.append(f"Not checked: {'; '.join(parts)}.")
    return [printable(line) for line in lines]
