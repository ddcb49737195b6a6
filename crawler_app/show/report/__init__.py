"""The report of a crawl: what the owner of a site should know, on one page.

From the directory of a crawl to the page::

    gathering      reads the directory, and returns a Report
    listing        finds in all URLs what is listed beside the summary
    archived       reads archived pages
    page_reading   reads a page again: its links and its metadata
    temp_tables    temporary tables of what was read, on disk
    link_targets   the URLs whose links are listed: broken, moved, mixed content
    page_problems  page-quality problems, from the tables
    report_data    the Report, as plain values                          pure
    coverage                 what was checked, and what not             pure
    priorities               what to mend first                         pure
    shape, kinds, treemap    the folders of the site, and their picture pure
    verdict, tables, advice  the headline and the sections, for people  pure
    as_html, as_markdown, as_json, as_csv  the output formats           pure

Rule: a Report has every link to mend, and the number of everything else; only the output for
people is shortened.  Links are read from the tables when they are needed, so memory does not
grow with the site, except by what is shown.
"""

from crawler_app.show.report.as_csv import write_csv
from crawler_app.show.report.as_html import render_html
from crawler_app.show.report.as_json import to_json
from crawler_app.show.report.as_markdown import render_markdown
from crawler_app.show.report.gathering import gather
from crawler_app.show.report.report_data import Report

__all__ = ["Report", "gather", "render_html", "render_markdown", "to_json", "write_csv"]
