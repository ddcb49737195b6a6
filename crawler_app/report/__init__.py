"""The report of a crawl: what the owner of a site should know, on one page.

From the directory of a crawl to the page::

    gathering    reads the directory, and returns a Report
    listing      finds in all URLs what is listed beside the summary
    holders      finds the pages that hold broken links, in the archive
    targets      the URLs that those links lead to                      pure
    findings     the Report, as plain values                            pure
    coverage                 what was checked, and what not             pure
    shape, kinds, treemap    the folders of the site, and their picture pure
    verdict, tables          the headline and the sections, for people  pure
    html, markdown, as_json  the output formats                         pure

Rule: a Report has complete lists; only the output for people is shortened.
"""

from crawler_app.report.as_json import to_json
from crawler_app.report.findings import Report
from crawler_app.report.gathering import gather
from crawler_app.report.html import render_html
from crawler_app.report.markdown import render_markdown

__all__ = ["Report", "gather", "render_html", "render_markdown", "to_json"]
