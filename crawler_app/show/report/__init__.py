"""The report of a crawl: what the owner of a site should know, on one page.

Read `report_data` first, the content of a report as plain values, and then `gathering`, which
makes it.  From the directory of a crawl to the page::

    report_data      the Report                                           pure
    gathering        reads every URL once, and returns a Report
      archived       the archived response of a URL
      page_reading   reads a page again: its references and its metadata
      reference_reading  tells what is wrong with the references of documents
      link_targets   the URLs whose links are listed: broken, moved, mixed content
      temp_tables    what was read, in temporary tables on disk
      page_problems  queries of the tables: page-quality problems, duplicates, rankings
      site_rules     the same for what pages say of each other
      shape          the number of URLs in each folder                    pure
    verdict          the headline, and what was not checked               pure
    priorities       what to fix first                                    pure
    tables           the sections below the headline, with advice         pure
    treemap          the folders of the site as boxes                     pure
    as_html, as_markdown, as_json, as_csv  the output formats             pure

The kinds of problems, and the rules for one page, are in `crawler_app.show.findings`.

Rule: a Report has every link to fix, and the number of everything else; only the output for
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
