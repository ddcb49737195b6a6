"""Makes findings of references.  Pure."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from crawler_app.base.models import Severity
from crawler_app.show.check.waiting import References
from crawler_app.show.findings.finding import Finding
from crawler_app.show.findings.kinds import FindingKind, missing_place
from crawler_app.web.documents.malformed import REPAIRED
from crawler_app.web.documents.outline import Mention, words_of

if TYPE_CHECKING:
    from crawler_app.web.render.problems import ScriptProblem

__all__ = ["Reporter"]


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
        is_mild = kind is FindingKind.REDIRECT or meaning in REPAIRED
        severity = Severity.WARNING if is_mild else Severity.ERROR
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
            None,
            f"script_{problem.kind}",
            (place if problem.line and not is_here else "") + problem.text,
            rendered=True,
        )
        self._report(finding)
