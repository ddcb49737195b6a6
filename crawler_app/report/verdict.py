"""What a report says first, in a sentence or two.

Pure.  The same words stand at the head of the page and of the text.
"""

from crawler_app.report.findings import FINISHED, RUNNING, Report
from crawler_app.words import number

__all__ = ["caveats", "explanation", "headline"]


def headline(report: Report) -> str:
    """Return the verdict."""
    if report.broken:
        return number(len(report.broken), "broken URL")
    if not report.started_at:
        return "Nothing was fetched"
    return "No broken links"


def explanation(report: Report) -> str:
    """Say where, or of how much that is true."""
    totals = report.totals
    if not report.started_at:
        return f"of {report.site}"
    if not report.broken:
        return f"in {number(totals.pages, 'page')} of {report.site}"
    if not report.broken_links:
        return "with which the crawl began"
    links = number(report.broken_links, "link")
    pages = number(report.pages_with_broken_links, "page")
    return f"{links} on {pages} {'leads' if report.broken_links == 1 else 'lead'} there"


def caveats(report: Report) -> list[str]:
    """Say what to know before the numbers are believed."""
    found = []
    left = number(report.totals.left, "URL is", "URLs are")
    if report.state == RUNNING:
        found.append(f"The crawl is running: {left} still to be fetched.")
    elif report.state != FINISHED:
        found.append(
            f"The crawl has not come to its end: {left} still to be fetched.  "
            "“gencrawl resume” goes on with it."
        )
    if report.broken and not report.has_archive:
        found.append(
            "The crawl kept no archive, so of each broken URL only the page is known "
            "that led there first, and not the words of its link."
        )
    elif report.unread:
        pages = number(report.unread, "page is", "pages are")
        found.append(
            f"{pages} not in the archive any more, or damaged there; broken links on "
            "them are not in the list."
        )
    return found
