"""Findings for people and programs: a class for each format of a check.

Pure.  Some formats show each finding as soon as it is found, the others all at the end.
"""

import abc
import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from crawler_app.base.reasons import NEVER_CHECKED, words_of_scripted
from crawler_app.base.text.escaping import defused, json_text, printable
from crawler_app.base.text.formatting import number
from crawler_app.show.check.check_findings import (
    CheckFinding,
    CheckSummary,
    FindingKind,
)
from crawler_app.show.check.sarif import sarif_of

__all__ = ["FORMATS", "NEVER_CHECKED", "Output", "headline", "summary_lines"]


class Output(abc.ABC):
    """Writes findings in one format.

    Args:
        write: Called with pieces of text.
    """

    # Whether standard output is for programs, so that the summary goes elsewhere.
    is_for_programs = True

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write

    def begin(self) -> None:
        """Write what comes first."""

    def add(self, finding: CheckFinding) -> None:
        """Write a finding if the format can show it alone."""

    def end(self, findings: list[CheckFinding], summary: CheckSummary) -> None:
        """Write the rest."""


class Text(Output):
    """One line for each finding, in the format of compilers, and the summary."""

    is_for_programs = False

    def add(self, finding: CheckFinding) -> None:
        self.write(line_of(finding) + "\n")

    def end(self, findings: list[CheckFinding], summary: CheckSummary) -> None:
        if findings:
            self.write("\n")
        lines = [*first_lines(findings), *summary_lines(summary)]
        self.write("\n".join(lines) + "\n")


class JsonLines(Output):
    """One object a line, and one with the summary at the end."""

    def add(self, finding: CheckFinding) -> None:
        self.write(json_text(finding.to_json()) + "\n")

    def end(self, findings: list[CheckFinding], summary: CheckSummary) -> None:
        self.write(json_text({"summary": summary.to_json()}) + "\n")


class Json(Output):
    """One object with everything."""

    def end(self, findings: list[CheckFinding], summary: CheckSummary) -> None:
        found = [finding.to_json() for finding in findings]
        whole = {"summary": summary.to_json(), "findings": found}
        self.write(json_text(whole, indent=2) + "\n")


class Csv(Output):
    """A table with a header."""

    COLUMNS = (
        *("kind", "page", "line", "column", "text", "href", "target", "status"),
        *("reason", "meaning", "end", "rendered"),
    )

    def begin(self) -> None:
        self._write_row(self.COLUMNS)

    def add(self, finding: CheckFinding) -> None:
        values = finding.to_json()
        self._write_row([defused(values[name]) for name in self.COLUMNS])

    def _write_row(self, row: Iterable[Any]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        self.write(line.getvalue())


class GitHub(Output):
    """Workflow commands, which GitHub shows beside the lines of a pull request."""

    def add(self, finding: CheckFinding) -> None:
        fields = {"file": finding.page, "title": finding.meaning}
        if finding.column:
            fields |= {"line": str(finding.line), "col": str(finding.column)}
        shown = ",".join(f"{k}={_of_command(v, ':,')}" for k, v in fields.items() if v)
        self.write(f"::error {shown}::{_of_command(line_of(finding))}\n")

    def end(self, findings: list[CheckFinding], summary: CheckSummary) -> None:
        level = "error" if summary.incomplete else "notice"
        for line in summary_lines(summary):
            self.write(f"::{level}::{_of_command(line)}\n")


class Markdown(Output):
    """A table, for the summary of a job or a comment."""

    def end(self, findings: list[CheckFinding], summary: CheckSummary) -> None:
        first, *others = summary_lines(summary)
        lines = [f"## {_in_markdown(first)}", "", *map(_in_markdown, others)]
        lines += map(_in_markdown, first_lines(findings))
        if findings:
            lines += ["", "| Place | Reference | Problem |", "| --- | --- | --- |"]
        lines += [
            f"| {_in_markdown(finding.place)} "
            f"| {_in_markdown(finding.text)} → {_in_markdown(finding.target)} "
            f"| {_in_markdown(problem_of(finding))} |"
            for finding in findings
        ]
        self.write("\n".join(lines) + "\n")


class JUnit(Output):
    """A test suite with a failed test for each finding."""

    def end(self, findings: list[CheckFinding], summary: CheckSummary) -> None:
        errors = [f"Incomplete: {why}" for why in summary.incomplete]
        count = max(1, len(findings) + len(errors))
        self.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
        self.write(
            f'<testsuite name="gencrawl check" tests="{count}" '
            f'failures="{len(findings)}" errors="{len(errors)}">\n'
        )
        for finding in findings:
            self.write(
                f"<testcase classname={_attribute(finding.page or finding.text)} "
                f"name={_attribute(f'{finding.place} {finding.href}')}>"
                f"<failure type={_attribute(finding.reason)} "
                f"message={_attribute(problem_of(finding))}>"
                f"{escape(_in_xml(line_of(finding)))}</failure></testcase>\n"
            )
        for error in errors:
            self.write(
                '<testcase classname="gencrawl" name="whole check">'
                f"<error message={_attribute(error)}/></testcase>\n"
            )
        if not findings and not errors:
            self.write('<testcase classname="gencrawl" name="no findings"/>\n')
        lines = escape(_in_xml("\n".join(summary_lines(summary))))
        self.write(f"<system-out>{lines}</system-out>\n</testsuite>\n</testsuites>\n")


class Sarif(Output):
    """SARIF 2.1.0, which code scanners exchange."""

    def end(self, findings: list[CheckFinding], summary: CheckSummary) -> None:
        whole = sarif_of(findings, summary_lines(summary), summary.incomplete)
        self.write(json_text(whole, indent=2) + "\n")


# The singular of the kinds that are nouns; the others are adjectives.
ONE_BY_KIND = {
    "fragments": "fragment",
    "redirects": "redirect",
    "pages": "problem of pages",
    "notices": "notice",
}

# Longer lists are not read.
MAX_FIRST = 3

FORMATS: dict[str, type[Output]] = {
    "text": Text,
    "json": Json,
    "jsonl": JsonLines,
    "csv": Csv,
    "junit": JUnit,
    "sarif": Sarif,
    "github": GitHub,
    "markdown": Markdown,
}


def problem_of(finding: CheckFinding) -> str:
    """Return what is wrong, in a few words."""
    is_elsewhere = finding.end and finding.kind is not FindingKind.REDIRECT
    where = f" (redirected to {finding.end})" if is_elsewhere else ""
    is_marked = finding.rendered and finding.kind is not FindingKind.SCRIPT
    return printable(finding.meaning + where + " (rendered)" * is_marked)


def line_of(finding: CheckFinding) -> str:
    """Return a finding in one line."""
    text = f': "{finding.text}"' if finding.page else ""
    arrow = f"{finding.place}{text} -> {finding.target or finding.href}"
    return printable(f"{arrow}  {problem_of(finding)}")


def first_lines(findings: Sequence[CheckFinding]) -> list[str]:
    """Return what to fix first: the targets of most findings, if several lead to one.

    Which pages most visitors see is not known, so each page counts the same.
    """
    by_target: dict[tuple[str, str], list[CheckFinding]] = {}
    for finding in findings:
        key = finding.target or finding.href, problem_of(finding)
        by_target.setdefault(key, []).append(finding)
    pages_by_key = {
        key: len({finding.page for finding in found})
        for key, found in by_target.items()
        if len(found) > 1
    }
    first = sorted(pages_by_key, key=lambda key: -pages_by_key[key])[:MAX_FIRST]
    lines = [
        f"  {target}  {problem}: {number(len(by_target[target, problem]), 'reference')} on "
        f"{number(pages_by_key[target, problem], 'page')}"
        for target, problem in first
    ]
    return [printable(line) for line in (["Fix first:", *lines] if lines else [])]


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
        number(n, ONE_BY_KIND.get(kind, kind), kind)
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
    if summary.accepted or summary.ignored:
        lines.append(
            f"Left out: {summary.accepted:,} accepted by the baseline, "
            f"{summary.ignored:,} ignored."
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
    parts += [*summary.options_off, NEVER_CHECKED]
    lines.append(f"Not checked: {'; '.join(parts)}.")
    return [printable(line) for line in lines]


def _of_command(text: str, more: str = "") -> str:
    """Escape a value of a workflow command."""
    text = printable(text)
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def _in_markdown(text: str) -> str:
    text = printable(text).replace("\\", "\\\\")
    for char in "|<>[]*_`":
        text = text.replace(
            char, f"\\{char}" if char not in "<>" else f"&#{ord(char)};"
        )
    return text


def _in_xml(text: str) -> str:
    """Replace characters that XML does not allow."""
    return "".join(
        c if c in "\t\n" or c >= " " and c not in "\ufffe\uffff" else "?" for c in text
    )


def _attribute(text: str) -> str:
    return quoteattr(_in_xml(printable(text)))
