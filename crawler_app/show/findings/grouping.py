"""Groups findings by the URL that they lead to, and pages by their template.  Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from crawler_app.base.text.escaping import printable
from crawler_app.base.urls import bare_path
from crawler_app.show.findings.finding import Finding
from crawler_app.show.findings.kinds import FindingKind

__all__ = ["Target", "by_target", "problem_of", "template_of"]


@dataclass(frozen=True, slots=True)
class Target:
    """The findings that lead to one URL, and have the same problem."""

    target: str
    problem: str
    found: list[Finding]

    @property
    def pages(self) -> int:
        """The number of pages that they are on."""
        return len({finding.page for finding in self.found})

    def to_json(self) -> dict[str, Any]:
        """Return what they have in common, and their numbers."""
        return {
            "target": self.target,
            "problem": self.problem,
            "severity": self.found[0].severity,
            "references": len(self.found),
            "pages": self.pages,
        }


def problem_of(finding: Finding) -> str:
    """Return what is wrong, in a few words."""
    is_elsewhere = finding.end and finding.kind is not FindingKind.REDIRECT
    where = f" (redirected to {finding.end})" if is_elsewhere else ""
    is_marked = finding.rendered and finding.kind is not FindingKind.SCRIPT
    return printable(finding.meaning + where + " (rendered)" * is_marked)


def by_target(findings: Iterable[Finding]) -> list[Target]:
    """Return the findings by where they lead, those on most pages first."""
    found_by_key: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        key = finding.target or finding.href, problem_of(finding)
        found_by_key.setdefault(key, []).append(finding)
    targets = [Target(*key, found) for key, found in found_by_key.items()]
    return sorted(targets, key=lambda target: -target.pages)


def template_of(url: str) -> str:
    """Return what the URLs of pages that one template makes have in common, roughly.

    >>> template_of("http://a.test/shop/lamp-17?color=red")
    'http://a.test/shop/*'
    """
    return f"{bare_path(url).rpartition('/')[0]}/*"
