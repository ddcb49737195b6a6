"""Groups findings by their cause, and pages by their template.  Pure.

Findings have one cause if they have the same problem and lead to one URL, or are the same
reference on many pages, as of a navigation bar or a footer: if it is relative, it leads to another
URL from each folder.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from crawler_app.base.text.escaping import printable
from crawler_app.base.urls import bare_path
from crawler_app.show.findings.finding import Finding
from crawler_app.show.findings.kinds import FindingKind

__all__ = ["MAX_FIRST", "FirstPlaces", "Group", "grouped", "problem_of", "template_of"]

# The places of one cause that are shown; longer lists are not read.  A reference on more pages
# than these is that of a template.
MAX_FIRST = 3


@dataclass(frozen=True, slots=True)
class Group:
    """Findings with one cause, at least one."""

    found: list[Finding]

    @property
    def first(self) -> Finding:
        """The finding that was found first."""
        return self.found[0]

    @property
    def pages(self) -> int:
        """The number of pages that they are on."""
        return len({finding.page for finding in self.found})

    @property
    def targets(self) -> int:
        """The number of URLs that they lead to."""
        return len({_target_of(finding) for finding in self.found})

    @property
    def template(self) -> tuple[str, int]:
        """The text that most of the pages have in common, and their number; 0 if they are few."""
        texts = Counter(text for _, text in {(f.page, f.text) for f in self.found})
        text, pages = texts.most_common(1)[0]
        is_same = pages > MAX_FIRST and 2 * pages > self.pages
        return (text, pages) if is_same else ("", 0)

    def to_json(self) -> dict[str, Any]:
        """Return what they have in common, and their numbers."""
        return {
            "target": _target_of(self.first),
            "problem": problem_of(self.first),
            "severity": self.first.severity,
            "change": self.first.change,
            "references": len(self.found),
            "pages": self.pages,
            "targets": self.targets,
            "template_pages": self.template[1],
        }


class FirstPlaces:
    """Tells which findings are among the first of their cause, while the others are unknown.

    Attributes:
        left_out: The number of those that are not.
    """

    def __init__(self) -> None:
        self.left_out = 0
        self._counts: Counter[Hashable] = Counter()

    def has(self, finding: Finding) -> bool:
        """Return whether a finding is one of the first; to be asked once for each."""
        keys = [_target_key(finding), _reference_key(finding)]
        self._counts.update(keys)
        is_first = all(self._counts[key] <= MAX_FIRST for key in keys)
        self.left_out += not is_first
        return is_first


def problem_of(finding: Finding) -> str:
    """Return what is wrong, in a few words."""
    is_elsewhere = finding.end and finding.kind is not FindingKind.REDIRECT
    where = f" (redirected to {finding.end})" if is_elsewhere else ""
    is_marked = finding.rendered and finding.kind is not FindingKind.SCRIPT
    return printable(finding.meaning + where + " (rendered)" * is_marked)


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """Return the findings by their cause: errors first, and then those on most pages.

    What is new and what was known already are apart.
    """
    findings = list(findings)
    by_reference = defaultdict(list)
    for finding in findings:
        by_reference[_reference_key(finding)].append(finding)
    templates = {
        key
        for key, found in by_reference.items()
        if (group := Group(found)).targets > 1 and group.pages > MAX_FIRST
    }
    groups: dict[Hashable, Group] = {}
    for finding in findings:
        key = _reference_key(finding)
        if key not in templates:
            key = _target_key(finding)
        groups.setdefault(key, Group([])).found.append(finding)
    return sorted(groups.values(), key=_place_in_list)


def _place_in_list(group: Group) -> tuple[int, int, str]:
    return group.first.severity.rank, -group.pages, _target_of(group.first)


def _target_of(finding: Finding) -> str:
    return finding.target or finding.href


def _target_key(finding: Finding) -> Hashable:
    return _target_of(finding), problem_of(finding), finding.change


def _reference_key(finding: Finding) -> Hashable:
    """Return what the same reference has on each page; another key where no page has it.

    One that is wrong as written, as a canonical URL with the path of a file, may name its page:
    the same one stands in the same column.
    """
    if not finding.page or finding.text == "page":
        return _target_key(finding)
    is_malformed = finding.kind is FindingKind.MALFORMED
    return (
        *(
            finding.column if is_malformed else finding.href,
            finding.text,
            finding.kind,
            problem_of(finding),
        ),
        finding.change,
    )


def template_of(url: str) -> str:
    """Return what the URLs of pages that one template makes have in common, roughly.

    >>> template_of("http://a.test/shop/lamp-17?color=red")
    'http://a.test/shop/*'
    """
    return f"{bare_path(url).rpartition('/')[0]}/*"
