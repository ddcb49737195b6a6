"""The findings of a check, and the counts of its summary.  Pure."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from crawler_app.base.models import Severity
from crawler_app.base.urls import origin_of
from crawler_app.show.findings.kinds import FindingKind

__all__ = [
    "Change",
    "CheckSummary",
    "Finding",
    "soft_404",
]


class Change(StrEnum):
    """How a finding compares with those known before."""

    NEW = "new"
    STILL = "still"
    FIXED = "fixed"


@dataclass(slots=True, frozen=True)
class Finding:
    """A reference that does not work.

    Attributes:
        page: The URL, or the name of the file, that has the reference; empty if no
            document has it.
        line: From 1; 0 if there is no place.
        column: From 1, in characters.
        text: The text of the link, or its element; without a page, "start URL" or "header or
            robots.txt".
        href: As written.
        target: Where it leads.
        status: The HTTP status at the end; None if there was none.
        reason: In one word.
        meaning: In words.
        end: The end of its redirects; empty if there are none.
        rendered: Whether the place is in the page as its scripts have made it.
        severity: How bad it is; a warning if browsers repair it.
        change: Empty if there is nothing to compare with.
        since: When it was first seen, in UTC as ISO 8601 has it; empty if that is unknown.
        is_accepted: Whether it is known, and so does not count.
        source: The source file that has it; empty if there is none, or it is unknown.
        source_line: From 1; 0 without a source.
        source_column: From 1, in characters; 0 without a source.
    """

    kind: FindingKind
    page: str = ""
    line: int = 0
    column: int = 0
    text: str = ""
    href: str = ""
    target: str = ""
    status: int | None = None
    reason: str = ""
    meaning: str = ""
    end: str = ""
    rendered: bool = False
    severity: Severity = Severity.ERROR
    change: Change | Literal[""] = ""
    since: str = ""
    is_accepted: bool = False
    source: str = ""
    source_line: int = 0
    source_column: int = 0

    @property
    def file(self) -> tuple[str, int, int]:
        """The file to change, with line and column: the source if it is known."""
        if self.source:
            return self.source, self.source_line, self.source_column
        return self.page, self.line, self.column

    @property
    def place(self) -> str:
        """The file, with line and column if there are any.

        A PDF file has pages in place of lines, and no columns.
        """
        file, line, column = self.file
        name = file or self.text
        if line and not column:
            return f"{name} page {line}"
        return f"{name}:{line}:{column}" if line else name

    @property
    def key(self) -> tuple[str, ...]:
        """The part that stays the same when another part of the page is edited."""
        return self.kind.value, self.page, self.href, self.target, str(self.reason)

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        return asdict(self)


def soft_404(url: str) -> Finding:
    """Return the finding about a host that has a page for a URL that does not exist."""
    return Finding(
        FindingKind.BROKEN,
        text="host",
        target=f"{origin_of(url)}/",
        status=200,
        reason="soft_404",
        meaning="it answers a URL that does not exist with a page, which hides broken links",
    )


@dataclass(slots=True)
class CheckSummary:
    """The counts of a check.

    Attributes:
        pages: Pages and style sheets that were read.
        references: References in them.
        urls: URLs whose ends are known.
        counts: Findings by kind.
        unchecked: URLs that were not checked, by the meaning of the reason.
        options_off: What the options turn off, in words.
        accepted: Findings that are known, and do not count.
        changes: Findings by how they compare with those known before.
        compared_with: "baseline" or "last check"; empty without either.
        fixed: Known findings that are no longer there.
        ignored: References that ``--ignore`` names.
        unlisted: Findings that are only counted, because there are too many.
        unread: References to a place on an external page that was not read.
        made_by_script: Pages of which a crawl sees neither text nor links.
        is_rendered: Whether the scripts of such pages were run.
        is_all_rendered: Whether the scripts of all pages were run.
        is_empty: Whether nothing could be fetched.
        incomplete: Why a part of the site was not checked, although no option leaves it out.
    """

    pages: int = 0
    references: int = 0
    urls: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    unchecked: Counter[str] = field(default_factory=Counter)
    options_off: list[str] = field(default_factory=list)
    accepted: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    compared_with: str = ""
    fixed: list[Finding] = field(default_factory=list)
    ignored: int = 0
    unlisted: int = 0
    unread: int = 0
    made_by_script: int = 0
    is_rendered: bool = False
    is_all_rendered: bool = False
    is_empty: bool = False
    incomplete: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return asdict(self) | {
            "counts": {kind.value: self.counts[kind] for kind in FindingKind},
            "unchecked": dict(self.unchecked),
            "changes": {change.value: self.changes[change] for change in Change},
        }
