"""Findings for people and programs: a class for each format of a check.

Pure.  Some formats show each finding as soon as it is found, the others all at the end.
"""

import abc
import csv
import dataclasses
import hashlib
import io
from collections.abc import Callable, Iterable
from typing import Any, ClassVar
from xml.sax.saxutils import escape

from crawler_app.base.models import Severity
from crawler_app.base.text.escaping import defused, json_text
from crawler_app.base.text.formatting import number
from crawler_app.show.check.escapes import (
    in_markdown,
    in_xml,
    of_command,
    xml_attribute,
)
from crawler_app.show.check.sarif import sarif_of
from crawler_app.show.findings.finding import Change, CheckSummary, Finding
from crawler_app.show.findings.grouping import (
    MAX_FIRST,
    FirstPlaces,
    Group,
    grouped,
    problem_of,
)
from crawler_app.show.findings.wording import (
    fixed_lines,
    group_lines,
    line_of,
    summary_lines,
    with_severity,
    words_of,
)

__all__ = ["FORMATS", "Output"]


class Output(abc.ABC):
    """Writes findings in one format.

    Args:
        write: Called with pieces of text.
    """

    # Whether standard output is for programs, so that the summary goes elsewhere.
    is_for_programs = True

    # Whether it has accepted findings, too; people get their number only.
    lists_accepted = True

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write

    def begin(self) -> None:
        """Write what comes first."""

    def add(self, finding: Finding) -> None:
        """Write a finding if the format can show it alone."""

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        """Write the rest."""


class Text(Output):
    """A line for the first findings of each cause, in the format of compilers; the summary."""

    is_for_programs = False
    lists_accepted = False

    def __init__(self, write: Callable[[str], object]) -> None:
        super().__init__(write)
        self._first_places = FirstPlaces()

    def add(self, finding: Finding) -> None:
        if self._first_places.has(finding):
            self.write(line_of(finding) + "\n")

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        lines = ["", *group_lines(findings)] if findings else []
        if left_out := self._first_places.left_out:
            places = number(left_out, "more place is", "more places are")
            lines.append(f"{places} not listed here; --format csv has all.")
        lines += fixed_lines(summary) + summary_lines(summary)
        self.write("\n".join(lines) + "\n")


class JsonLines(Output):
    """One object a line, and one with the summary at the end."""

    def add(self, finding: Finding) -> None:
        self.write(json_text(finding.to_json()) + "\n")

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        self.write(json_text({"summary": summary.to_json()}) + "\n")


class Json(Output):
    """One object with everything."""

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        found = [finding.to_json() for finding in findings]
        index_by_id = {id(finding): index for index, finding in enumerate(findings)}
        targets = [
            each.to_json() | {"findings": [index_by_id[id(f)] for f in each.found]}
            for each in grouped(findings)
        ]
        whole = {"summary": summary.to_json(), "findings": found, "targets": targets}
        self.write(json_text(whole, indent=2) + "\n")


class Csv(Output):
    """A table with a header."""

    COLUMNS = tuple(each.name for each in dataclasses.fields(Finding))

    def begin(self) -> None:
        self._write_row(self.COLUMNS)

    def add(self, finding: Finding) -> None:
        self._write_row(map(defused, finding.to_json().values()))

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        for finding in summary.fixed:
            self.add(finding)

    def _write_row(self, row: Iterable[Any]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        self.write(line.getvalue())


class WorkflowCommands(Output):
    """Workflow commands, which GitHub shows beside the lines of a pull request.

    It shows ten errors and ten warnings of a step, so more findings are grouped.
    """

    MAX_ALONE = 10
    lists_accepted = False

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        groups = grouped(findings)
        if len(findings) <= self.MAX_ALONE:
            groups = [Group([finding]) for finding in findings]
        for group in groups:
            self._write_group(group)
        level = "error" if summary.incomplete else "notice"
        lines = "\n".join(summary_lines(summary))
        self.write(f"::{level}::{of_command(lines)}\n")

    def _write_group(self, group: Group) -> None:
        finding = group.first
        file, line, column = finding.file
        fields = {"file": file, "title": finding.meaning}
        if column:
            fields |= {"line": str(line), "col": str(column)}
        shown = ",".join(f"{k}={of_command(v, ':,')}" for k, v in fields.items() if v)
        words = line_of(finding)
        if len(group.found) > 1:
            words += f"\n{words_of(group)}"
        self.write(f"::{finding.severity} {shown}::{of_command(words)}\n")


class Markdown(Output):
    """A table of targets, for the summary of a job or a comment."""

    lists_accepted = False

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        first, *others = summary_lines(summary)
        lines = [f"## {in_markdown(first)}", "", *map(in_markdown, others)]
        lines += map(in_markdown, fixed_lines(summary))
        if findings:
            lines += ["", "| Places | Reference | Problem |", "| --- | --- | --- |"]
        lines += map(_row_of, grouped(findings))
        self.write("\n".join(lines) + "\n")


class JUnit(Output):
    """A test suite with a failed test for each finding."""

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        errors = [f"Incomplete: {why}" for why in summary.incomplete]
        count = max(1, len(findings) + len(errors) + len(summary.fixed))
        accepted = sum(finding.is_accepted for finding in findings)
        self.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
        self.write(
            f'<testsuite name="gencrawl check" tests="{count}" '
            f'failures="{len(findings) - accepted}" errors="{len(errors)}" '
            f'skipped="{accepted}">\n'
        )
        for finding in findings:
            self._write_case(finding)
        for fixed in summary.fixed:
            self._write_case(fixed)
        for error in errors:
            self.write(
                '<testcase classname="gencrawl" name="whole check">'
                f"<error message={xml_attribute(error)}/></testcase>\n"
            )
        if not (findings or errors or summary.fixed):
            self.write('<testcase classname="gencrawl" name="no findings"/>\n')
        lines = escape(in_xml("\n".join(summary_lines(summary))))
        self.write(f"<system-out>{lines}</system-out>\n</testsuite>\n</testsuites>\n")

    def _write_case(self, finding: Finding) -> None:
        """Write a test that fails, is skipped if it is accepted, or passes if it is fixed."""
        message = xml_attribute(with_severity(finding, problem_of(finding)))
        if finding.change == Change.FIXED:
            result = ""
        elif finding.is_accepted:
            result = f"<skipped message={message}/>"
        else:
            result = (
                f"<failure type={xml_attribute(finding.reason)} message={message}>"
                f"{escape(in_xml(line_of(finding)))}</failure>"
            )
        self.write(
            f"<testcase classname={xml_attribute(finding.file[0] or finding.text)} "
            f"name={xml_attribute(f'{finding.place} {finding.href}')}>{result}</testcase>\n"
        )


class CodeClimate(Output):
    """The report of Code Climate, which GitLab shows beside the lines of a merge request."""

    LEVEL_BY_SEVERITY: ClassVar[dict[Severity, str]] = {
        Severity.ERROR: "major",
        Severity.WARNING: "minor",
        Severity.NOTICE: "info",
    }
    lists_accepted = False

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        issues: dict[str, dict[str, Any]] = {}
        for finding in findings:
            file, line, _ = finding.file
            words = "\n".join((finding.place, *finding.key))
            mark = hashlib.sha256(words.encode(errors="replace")).hexdigest()
            issues[mark] = {
                "description": line_of(finding),
                "check_name": finding.kind,
                "fingerprint": mark,
                "severity": self.LEVEL_BY_SEVERITY[finding.severity],
                "location": {
                    "path": file or finding.target,
                    "lines": {"begin": max(line, 1)},
                },
            }
        self.write(json_text([*issues.values()], indent=2) + "\n")


class Sarif(Output):
    """SARIF 2.1.0, which code scanners exchange."""

    def end(self, findings: list[Finding], summary: CheckSummary) -> None:
        whole = sarif_of(
            [*findings, *summary.fixed], summary_lines(summary), summary.incomplete
        )
        self.write(json_text(whole, indent=2) + "\n")


FORMATS: dict[str, type[Output]] = {
    "text": Text,
    "json": Json,
    "jsonl": JsonLines,
    "csv": Csv,
    "junit": JUnit,
    "sarif": Sarif,
    "codeclimate": CodeClimate,
    "github": WorkflowCommands,
    "markdown": Markdown,
}


def _row_of(group: Group) -> str:
    """Return the row of a table in Markdown."""
    places = [in_markdown(each.place) for each in group.found[:MAX_FIRST]]
    if more := len(group.found) - len(places):
        places.append(f"and {number(more, 'more reference')}")
    first, more_targets = group.first, group.targets - 1
    others = f" and {number(more_targets, 'more URL')}" if more_targets else ""
    return (
        f"| {'<br>'.join(places)} "
        f"| {in_markdown(first.text)} → {in_markdown(first.target)}{others} "
        f"| {in_markdown(with_severity(first, problem_of(first)))} |"
    )
