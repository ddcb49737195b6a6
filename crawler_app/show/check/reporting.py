"""Makes findings of references.  Pure."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from crawler_app.base.models import Outcome, Severity
from crawler_app.base.reasons import Reason, meaning_of
from crawler_app.show.check.waiting import References
from crawler_app.show.findings.finding import Finding
from crawler_app.show.findings.kinds import (
    REFERENCE_IS_EMPTY,
    FindingKind,
    missing_place,
)
from crawler_app.web.documents.malformed import REPAIRED, is_missing
from crawler_app.web.documents.outline import words_of
from crawler_app.web.documents.references import LOADED_USES, Mention

if TYPE_CHECKING:
    from crawler_app.web.render.problems import ScriptProblem

__all__ = ["Reporter"]

_SEVERITY_BY_KIND = {
    FindingKind.REDIRECT: Severity.WARNING,
    FindingKind.NOTICE: Severity.NOTICE,
}


class Reporter:
    """Reports references that do not work, and scripts that fail.

    Args:
        report: Called with each finding.
        name_of: Returns the name to show for a URL.

    Attributes:
        rendered: The pages whose places are those in the page as its scripts have made it.
    """

    def __init__(
        self, report: Callable[[Finding], object], name_of: Callable[[str], str]
    ) -> None:
        self.rendered: set[str] = set()
        self._report = report
        self._name_of = name_of

    def find(
        self,
        kind: FindingKind,
        group: References,
        mentions: Iterable[Mention],
        reason: str,
        meaning: str,
        status: int | None = None,
    ) -> None:
        """Report some of the references of a group."""
        page, target, redirected_to = group.page, group.target, group.redirected_to
        mild = Severity.WARNING if meaning in REPAIRED else Severity.ERROR
        severity = _SEVERITY_BY_KIND.get(kind, mild)
        for mention in mentions:
            finding = Finding(
                kind,
                self._name_of(page) if page else "",
                mention.line,
                mention.column,
                words_of(mention),
                mention.value,
                self._name_of(target) if target else mention.value,
                status,
                reason,
                meaning,
                self._name_of(redirected_to) if redirected_to else "",
                page in self.rendered,
                severity,
            )
            self._report(finding)

    def find_broken(
        self, kind: FindingKind, group: References, outcome: Outcome
    ) -> None:
        """Report references to a URL that does not work."""
        words = meaning_of(outcome.reason)
        if outcome.error and not outcome.status:
            words += f" ({outcome.error})"
        reason, status = outcome.reason, outcome.status
        self.find(kind, group, group.mentions, reason, words, status)

    def find_moved(self, group: References) -> None:
        """Report the links that lead to a permanent redirect."""
        links = [each for each in group.mentions if each.use not in LOADED_USES]
        words = f"moved permanently to {self._name_of(group.redirected_to)}"
        if group.redirects > 1:
            words += f", through a chain of {group.redirects} redirects"
        status, reason = group.first_status, Reason.REDIRECT
        self.find(FindingKind.REDIRECT, group, links, reason, words, status)

    def find_empty(self, group: References) -> References:
        """Report the references that may not be empty; return the others."""
        missing = [m for m in group.mentions if is_missing(m.value, m.use, m.element)]
        words = REFERENCE_IS_EMPTY
        self.find(FindingKind.MALFORMED, group, missing, "malformed", words)
        others = [each for each in group.mentions if each not in missing]
        return group._replace(mentions=others)

    def find_mixed(self, group: References) -> References:
        """Report what an https page loads over http; return the links, which may do so."""
        needed = [each for each in group.mentions if each.use in LOADED_USES]
        words = "an https page does not load this over http"
        self.find(FindingKind.MIXED, group, needed, "mixed_content", words)
        links = [each for each in group.mentions if each.use not in LOADED_USES]
        return group._replace(mentions=links)

    def find_missing(self, group: References, mention: Mention, fragment: str) -> None:
        """Report a reference to a place that its page does not have."""
        words = missing_place(fragment)
        self.find(FindingKind.FRAGMENT, group, [mention], "no_such_id", words)

    def find_script(self, url: str, problem: "ScriptProblem") -> None:
        """Report what the scripts of a rendered page get wrong."""
        target = problem.url or url
        is_here = problem.url == url
        place = f"{problem.url}:{problem.line}:{problem.column}: "
        finding = Finding(
            FindingKind.SCRIPT,
            self._name_of(url),
            problem.line if is_here else 0,
            problem.column if is_here else 0,
            "script",
            target,
            self._name_of(target),
            reason=f"script_{problem.kind}",
            meaning=(place if problem.line and not is_here else "") + problem.text,
            rendered=True,
        )
        self._report(finding)
