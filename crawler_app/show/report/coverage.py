"""What a crawl has checked, and what not, in words.

Pure.  It stands beside the headline, so that "No broken links" does not promise too much.
"""

from collections.abc import Iterator
from typing import Any

from crawler_app.base.models import State
from crawler_app.base.reasons import Reason
from crawler_app.base.text.formatting import number
from crawler_app.run.results.summary import FINISHED
from crawler_app.show.report.report_data import ProblemKind, Report

__all__ = ["checks", "is_complete", "unchecked"]


def checks(report: Report) -> dict[str, Any]:
    """Return which kinds of URLs were checked, for programs."""
    skipped = report.summary.count_by_reason[State.EXCLUDED]
    options = report.options
    return {
        "links": True,
        "external": bool(options.get("external", False)),
        "assets": bool(options.get("assets", options.get("archive", True))),
        "other_sites_not_checked": skipped[Reason.OUT_OF_SCOPE],
        "fragments": False,
    }


def is_complete(report: Report) -> bool:
    """Return whether every URL that was found was checked.

    Fragments are left to ``gencrawl check``: a link with a wrong one shows its page.
    """
    summary = report.summary
    return (
        report.state == FINISHED
        and checks(report)["assets"]
        and ProblemKind.SOFT_404 not in report.problem_counts
        and not (summary.skipped or summary.not_checked or summary.left)
    )


def unchecked(report: Report) -> str:
    """Return the sentence about what was not checked."""
    return f"Not checked: {', '.join(_kinds(report))}."


def _kinds(report: Report) -> Iterator[str]:
    skipped = report.summary.count_by_reason[State.EXCLUDED]
    if not checks(report)["assets"]:
        yield "images, style sheets, scripts and frames"
    elsewhere = skipped[Reason.OUT_OF_SCOPE]
    if elsewhere:
        yield number(elsewhere, "URL outside the scope", "URLs outside the scope")
    if others := skipped.total() - elsewhere:
        other = "other " if elsewhere else ""
        yield number(
            others, f"{other}URL that was skipped", f"{other}URLs that were skipped"
        )
    if failed := len(report.not_checked):
        limits = "that failed by a limit or a fault of the crawl"
        yield number(failed, f"URL {limits}", f"URLs {limits}")
    if hosts := report.problem_counts.get(ProblemKind.SOFT_404):
        yield number(
            hosts, "host that answers every URL", "hosts that answer every URL"
        )
    yield "fragments (#...)"
