"""The sections of a report below its broken links, in their order, and advice for each.  Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawler_app.show.report.report_data import Report
from crawler_app.show.report.tables import Limits, Maker, Table
from crawler_app.show.report.tables.broken_links import BrokenList
from crawler_app.show.report.tables.crawl_sections import (
    compared,
    crawl,
    not_checked,
    skipped,
)
from crawler_app.show.report.tables.page_sections import (
    descriptions,
    headings,
    heavy,
    images,
    linked,
    malformed,
    mixed_content,
    moved,
    orphans,
    search,
    soft_404,
    titles,
)
from crawler_app.show.report.tables.site_sections import (
    chains,
    depths,
    duplicates,
    hosts,
    largest,
    loops,
    slowest,
    statuses,
)

__all__ = ["Advice", "advice_for", "tables_of"]


class Advice(NamedTuple):
    """What to do about the findings of one section."""

    anchor: str
    title: str
    text: str


SECTIONS = (
    compared,
    malformed,
    mixed_content,
    loops,
    moved,
    chains,
    soft_404,
    titles,
    headings,
    descriptions,
    images,
    search,
    orphans,
    duplicates,
    heavy,
    linked,
    statuses,
    depths,
    slowest,
    largest,
    hosts,
    skipped,
    not_checked,
    crawl,
)

# What to do about the findings of a section, by its anchor.
ADVICE = {
    "broken": (
        "Correct the link on the page that has it.  If the URL was there before, let it "
        "redirect to what replaces it (301).  An error of the server (500 and above), a "
        "timeout or an unknown host may pass: crawl again before you change a page.  "
        "A link in a menu or a footer is in a template: one change mends every page."
    ),
    "malformed": (
        "Write the reference anew: with the right scheme and two slashes, with %20 for a "
        "blank, with / for a backslash, and with https:// before the name of a host.  "
        "Browsers repair some of these, each program in its own way; others lead nowhere."
    ),
    "mixed-content": (
        "Browsers do not load this over http on an https page, or try https instead.  "
        "Write https:// in the reference; if the other server has no https, keep a copy "
        "of the file on yours."
    ),
    "moved": (
        "Replace the link by the URL that it leads to.  Status 301 and 308 mean that the "
        "URL has moved for good; a link to a temporary redirect (302, 303, 307), such as "
        "a sign-in, may stay."
    ),
    "chains": "Let the first URL redirect to the last one at once.",
    "loops": (
        "No visitor arrives.  Look at the rules of the server that add or remove a slash, "
        "www or https: two of them undo each other."
    ),
    "soft-404": (
        "The host says that a page exists where there is none, so its broken links cannot "
        "be found, and search engines list its error page.  Let the server answer with "
        "status 404; the page that visitors see may stay as it is."
    ),
    "titles": (
        "The title is the line that search engines, tabs and bookmarks show.  Give each "
        "page its own, with the words that tell it apart first, as longer ones are cut."
    ),
    "descriptions": (
        "Search engines may show the content of <meta name=description> below the title.  "
        "Write one or two sentences of its own for each important page; without one, they "
        "choose a piece of the text."
    ),
    "headings": (
        "Screen readers and search engines take the h1 for the name of the page.  Give "
        "each page one."
    ),
    "search": (
        "Check that this is meant.  A page with noindex does not appear in search engines, "
        "and one that names another canonical URL appears under that; links inside the "
        "site should lead to that URL directly."
    ),
    "orphans": (
        "Link to the page where visitors look for it, or remove it from the sitemap and "
        "from the server."
    ),
    "images": (
        'Write in alt what the image says, or alt="" if it is decoration.  Without width '
        "and height the text moves when the image arrives; give both, also where a style "
        "sheet changes the size."
    ),
    "heavy": (
        "Compress images and save them in the size that is shown; minify scripts and style "
        "sheets, let the server compress them, and load what is not needed at once later "
        "(loading=lazy, defer)."
    ),
    "duplicates": (
        "Let one URL redirect to the other, or name one of them in <link rel=canonical>."
    ),
}


def tables_of(report: Report, limits: Limits) -> Iterator[Table]:
    """Return the tables that are not empty."""
    maker = Maker(report, limits)
    tables = (section(maker) for section in SECTIONS)
    return (table for table in tables if table.rows or table.words)


def advice_for(broken: BrokenList, tables: Iterable[Table]) -> list[Advice]:
    """Return what to do about the sections that list something to mend."""
    sections = [(table.anchor, table.title) for table in tables if table.rows]
    if broken.items:
        sections.insert(0, ("broken", "Broken links"))
    return [
        Advice(anchor, title, ADVICE[anchor])
        for anchor, title in sections
        if anchor in ADVICE
    ]
