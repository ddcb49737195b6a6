"""Findings in SARIF 2.1.0, which code scanners exchange.

Pure.  Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from crawler_app import __version__
from crawler_app.base.models import Severity
from crawler_app.show.findings.finding import Change, Finding
from crawler_app.show.findings.kinds import FindingKind

__all__ = ["sarif_of"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

LEVEL_BY_SEVERITY = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTICE: "note",
}

STATE_BY_CHANGE = {
    Change.NEW: "new",
    Change.STILL: "unchanged",
    Change.FIXED: "absent",
}


def sarif_of(
    findings: Iterable[Finding], summary: list[str], incomplete: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a log with one run.

    Args:
        incomplete: Why a part of the site was not checked.
    """
    notes = [{"level": "error", "message": {"text": why}} for why in incomplete]
    rules = [
        {"id": kind.value, "shortDescription": {"text": kind.words}}
        for kind in FindingKind
    ]
    driver = {"name": "gencrawl", "version": __version__, "rules": rules}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "invocations": [
                    {
                        "executionSuccessful": not notes,
                        "toolExecutionNotifications": notes,
                    }
                ],
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding) for finding in findings],
                "properties": {"summary": summary},
            }
        ],
    }


def _result(finding: Finding) -> dict[str, Any]:
    text = f"{finding.href or finding.target}: {finding.meaning}"
    result: dict[str, Any] = {
        "ruleId": finding.kind.value,
        "level": LEVEL_BY_SEVERITY[finding.severity],
        "message": {"text": text},
    }
    if finding.change:
        result["baselineState"] = STATE_BY_CHANGE[finding.change]
    if finding.since:
        result["provenance"] = {"firstDetectionTimeUtc": finding.since}
    if finding.is_accepted:
        result["suppressions"] = [{"kind": "external"}]
    file, line, column = finding.file
    uri = _uri(file or finding.target)
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if column:
        place["region"] = {"startLine": line, "startColumn": column}
    result["locations"] = [{"physicalLocation": place}]
    return result


def _uri(name: str) -> str:
    """Return a URL as it is, and the name of a file as a relative reference.

    >>> _uri("http://a.test/?b"), _uri("public/a b#1.html")
    ('http://a.test/?b', 'public/a%20b%231.html')
    """
    return name if "://" in name else quote(name)
