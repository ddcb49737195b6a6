"""The report of a crawl: what its owner should know of the site, in one page.

From the directory of a crawl to the page::

    gathering    the directory -> findings; the one that reads
    tally        the URLs, counted in one pass
    holders      the pages that hold certain links, read in the archive
    targets      what those links lead to                               pure
    findings     all that was found, as plain values                    pure
    reasons      what each reason means to a person                     pure
    shape, treemap               the site's folders, and their picture  pure
    verdict, broken_list, tables, sections, ...    as a person reads it pure
    html, markdown, as_json                        the ways to write it pure

Rule: findings have whole lists, and only what is for a person is cut.
"""

from crawler_app.report.as_json import to_json
from crawler_app.report.findings import Report
from crawler_app.report.gathering import gather
from crawler_app.report.html import render_html
from crawler_app.report.markdown import render_markdown

__all__ = ["Report", "gather", "render_html", "render_markdown", "to_json"]
