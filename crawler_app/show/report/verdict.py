"""The headline of a report, its explanation, and its caveats: what was not checked.

Pure.  The HTML page and the Markdown text begin with the same words.  What was not checked
stands beside the headline, so that "No broken links" does not promise too much.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from crawler_app.base.config import ALWAYS, NONE, OWN
from crawler_app.base.models import Severity, State
from crawler_app.base.reasons import (
    WALLS,
    AnyReason,
    Reason,
    meaning_of,
    never_checked,
    words_of_scripted,
)
from crawler_app.base.text.formatting import cut, number
from crawler_app.run.results.summary import FINISHED, RUNNING
from crawler_app.show.findings.kinds import ProblemKind
from crawler_app.show.report.report_data import Report
from crawler_app.show.report.tables import command

__all__ = [
    "caveats",
    "checks",
    "explanation",
    "headline",
    "is_complete",
    "mood",
    "scripted",
    "severities",
    "unchecked",
]

# The error is quoted inside a sentence.
ERROR_CHARS = 100


def headline(report: Report) -> str:
    """Return the headline."""
    if report.broken or report.malformed:
        loops = len(report.summary.loops)
        counts = (
            (len(report.broken) - loops, "broken URL"),
            (loops, "redirect loop"),
            (len(report.malformed), "malformed reference"),
        )
        *others, last = [number(count, noun) for count, noun in counts if count]
        return f"{', '.join(others)} and {last}" if others else last
    if report.is_empty:
        return "Nothing was fetched"
    return "No broken links" if is_complete(report) else "No broken links found"


def severities(report: Report) -> dict[Severity, int]:
    """Return the number of findings of each severity; one for all links to one URL."""
    counts = Counter({severity: 0 for severity in Severity})
    counts[Severity.ERROR] += len(report.broken) + len(report.malformed)
    counts[Severity.ERROR] += len(report.mixed_content) + len(report.fragments)
    counts[Severity.WARNING] += len(report.moved)
    for kind, count in report.problem_counts.items():
        has_subject = any(p.subject for p in report.problems if p.kind is kind)
        counts[kind.severity] += count if has_subject else 1
    return counts


def mood(report: Report) -> str:
    """Return the mood of the headline: "bad", "good", or "idle" if nothing is certain."""
    if report.broken or report.malformed:
        return "bad"
    return "good" if is_complete(report) and not report.is_empty else "idle"


def explanation(report: Report) -> str:
    """Return the sentence below the headline: the place, or why nothing is known."""
    if report.is_empty:
        return _why_nothing(report)
    if not report.broken:
        pages = f"in {number(report.summary.pages, 'page')} of {report.site}"
        return pages if is_complete(report) else f"{pages}; not everything was checked"
    if not report.broken_links:
        several = len(report.broken) > 1
        return f"the crawl began with {'them' if several else 'it'}"
    links = number(report.broken_links, "link")
    pages = number(report.pages_with_broken_links, "page")
    return f"{links} on {pages} {'leads' if report.broken_links == 1 else 'lead'} there"


def _why_nothing(report: Report) -> str:
    if report.not_checked:
        failure = report.not_checked[0]
        detail = f" ({cut(failure.error, ERROR_CHARS)})" if failure.error else ""
        return meaning_of(failure.reason) + detail
    skipped = report.summary.count_by_reason[State.EXCLUDED]
    reasons = [reason for reason, _ in skipped.most_common()]
    if Reason.ROBOTS in reasons:
        asked = meaning_of(Reason.ROBOTS)
        return f"{asked}; if the site is yours, use “gencrawl crawl --no-robots”"
    if reasons and not report.summary.left:
        where = "what it redirects to: " if report.summary.redirects else ""
        return where + meaning_of(reasons[0])
    if report.state == RUNNING:
        return "the crawl has not fetched its first page yet"
    return "the crawl was stopped before its first page"


def caveats(report: Report) -> list[str]:
    """Return why the numbers may be incomplete."""
    found = [] if report.is_empty else [unchecked(report)]
    for reason, count in _walled(report).items():
        found.append(f"{number(count, 'URL')}: {meaning_of(reason)}.")
    if report.summary.made_by_script:
        pages = number(report.summary.made_by_script, "page")
        found.append(f"{pages}: {scripted(report)}.")
    left = number(report.summary.left, "URL is", "URLs are")
    if report.state == RUNNING:
        found.append(f"The crawl is running: {left} still to be fetched.")
    elif report.state != FINISHED:
        found.append(
            f"The crawl has not finished: {left} still to be fetched.  "
            f"{command(report, 'resume')} continues it."
        )
    if not report.has_archive and not report.is_empty:
        found.append(
            "The crawl has no archive, so its pages could not be read again: for each "
            "broken URL only the first page that links to it is known, and what the pages "
            "say and load is not."
        )
    elif report.unread:
        pages = number(report.unread, "page is", "pages are")
        found.append(
            f"{pages} missing from the archive or damaged; what is wrong on "
            f"{'it' if report.unread == 1 else 'them'} is not listed."
        )
    return found


def scripted(report: Report) -> str:
    """Return what is known of the pages that scripts make, and what to do."""
    # Options with their defaults are left out.
    return words_of_scripted(is_rendered="render" in report.options)


def checks(report: Report) -> dict[str, Any]:
    """Return the kinds of URLs that were checked, for programs."""
    skipped = report.summary.count_by_reason[State.EXCLUDED]
    options = report.options
    default = OWN if options.get("archive", True) else NONE
    fetches_assets = options.get("assets", default) != NONE
    return {
        "links": True,
        "external": bool(options.get("external", False)),
        "assets": fetches_assets,
        "other_sites_not_checked": skipped[Reason.OUT_OF_SCOPE],
        "fragments": report.has_archive,
    }


def is_complete(report: Report) -> bool:
    """Return whether every URL that was found was checked."""
    summary = report.summary
    return (
        report.state == FINISHED
        and checks(report)["assets"]
        and ProblemKind.SOFT_404 not in report.problem_counts
        and not (summary.skipped or summary.not_checked or summary.left)
        and not (summary.made_by_script or report.unasked)
    )


def unchecked(report: Report) -> str:
    """Return the sentence about what was not checked."""
    return f"Not checked: {', '.join(_kinds(report))}."


def _walled(report: Report) -> Counter[AnyReason]:
    """Return the number of URLs that a wall stands before, by reason."""
    failed = report.summary.count_by_reason[State.FAILED]
    return Counter({reason: failed[reason] for reason in WALLS if failed[reason]})


def _kinds(report: Report) -> Iterator[str]:
    skipped = report.summary.count_by_reason[State.EXCLUDED]
    if not (checks(report)["assets"] or report.unasked):
        yield "images, style sheets, scripts and frames"
    elsewhere = skipped[Reason.OUT_OF_SCOPE]
    if elsewhere:
        yield number(elsewhere, "external URL")
    if others := skipped.total() - elsewhere:
        other = "other " if elsewhere else ""
        yield number(
            others, f"{other}URL that was skipped", f"{other}URLs that were skipped"
        )
    walled = _walled(report)
    if walled:
        yield (
            number(walled.total(), "URL", "URLs") + " that the host keeps from programs"
        )
    if failed := len(report.not_checked) - walled.total():
        limits = "that failed because of a limit or an error of the crawl"
        yield number(failed, f"URL {limits}", f"URLs {limits}")
    if shells := report.summary.made_by_script:
        yield number(shells, "page made by a script", "pages made by a script")
    if hosts := report.problem_counts.get(ProblemKind.SOFT_404):
        yield number(
            hosts,
            "host that has a page for every URL",
            "hosts that have a page for every URL",
        )
    if report.unasked:
        kinds = ", ".join(f"{n:,} in {kind}" for kind, n in report.unasked.items())
        urls = number(sum(report.unasked.values()), "URL", "URLs")
        yield f"{urls} that the crawl did not request, unlike “gencrawl check” ({kinds})"
    if report.unread_places:
        yield number(report.unread_places, "fragment") + " on other sites"
    yield never_checked(is_rendered=report.options.get("render") == ALWAYS)
