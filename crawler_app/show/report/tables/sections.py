"""The sections of a report below its broken links, in their order, and advice for each.  Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from crawler_app.show.report.report_data import Report
from crawler_app.show.report.tables import Limits, Table, TableMaker
from crawler_app.show.report.tables.broken_links import BrokenList
from crawler_app.show.report.tables.crawl_sections import (
    compared,
    crawl,
    not_checked,
    skipped,
)
from crawler_app.show.report.tables.page_sections import (
    fragments,
    heavy,
    images,
    linked,
    malformed,
    mixed_content,
    moved,
    problem_table,
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


def _problems(section: str, title: str) -> Callable[[TableMaker], Table]:
    return lambda maker: problem_table(maker, section, title)


SECTIONS: tuple[Callable[[TableMaker], Table], ...] = (
    compared,
    malformed,
    mixed_content,
    loops,
    fragments,
    moved,
    chains,
    _problems("soft-404", "Soft 404"),
    _problems("markup", "Markup"),
    _problems("search", "Search engines"),
    _problems("sitemap", "Sitemap"),
    _problems("titles", "Titles"),
    _problems("headings", "Main headings"),
    _problems("descriptions", "Descriptions"),
    _problems("access", "Accessibility"),
    images,
    _problems("orphans", "Orphans"),
    _problems("structure", "Structure"),
    _problems("headers", "Headers"),
    duplicates,
    _problems("alike", "Nearly the same"),
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
        "Correct the link on the page that has it.  If the URL used to work, redirect it "
        "to its replacement (301).  Server errors (500 and above), timeouts and unknown hosts "
        "may be temporary: crawl again before you change a page.  "
        "A link in a menu or a footer is in a template: one change fixes every page."
    ),
    "malformed": (
        "Correct the reference: it needs the right scheme and two slashes, %20 for a space, "
        "/ for a backslash, and https:// before a host name.  Browsers repair some of these, "
        "not all in the same way; others lead nowhere."
    ),
    "mixed-content": (
        "Browsers do not load this over http on an https page, or try https instead.  "
        "Write https:// in the reference; if the other server has no https, keep a copy "
        "of the file on yours."
    ),
    "moved": (
        "Replace the link by the URL that it leads to.  Status 301 and 308 mean that the "
        "URL has moved permanently; a link to a temporary redirect (302, 303, 307), such as "
        "a sign-in, may stay."
    ),
    "chains": "Redirect the first URL directly to the last one.",
    "loops": (
        "No visitor reaches a page.  Check the server's rules that add or remove a slash, www "
        "or https: two of them undo each other."
    ),
    "soft-404": (
        "A host that answers with status 200 where nothing is hides its broken links, and "
        "search engines list its error page.  Let the server answer with "
        "status 404; the page that visitors see can stay the same."
    ),
    "fragments": (
        "The link leads to the right page, but not to a place on it.  Correct the part after "
        "#, or give the heading that id again."
    ),
    "markup": (
        "Correct the program whose error a page shows, and switch display_errors off.  "
        "Close what takes the rest of the page; send the charset in the Content-Type header, "
        "and save the file in it; check JSON-LD with a validator.  Begin each page with "
        "<!DOCTYPE html>, and give each id once."
    ),
    "sitemap": (
        "List the URLs that search engines are to show, and no others: those that answer with "
        "status 200, have no noindex, and are their own canonical URL."
    ),
    "access": (
        "Give each link and frame a text or an aria-label, and the page a language "
        "(<html lang>) and a viewport that can be zoomed.  Screen readers depend on them, and "
        "so do small screens."
    ),
    "structure": (
        "Link to deep pages from an overview, and keep session ids in cookies: each id "
        "makes another URL of the same page."
    ),
    "headers": (
        "Set the headers once, in the configuration of the server.  Security headers limit "
        "what a script that was smuggled in can do; caching and compression make pages load "
        "faster."
    ),
    "alike": (
        "Put the pages together, or let all but one name that one in <link rel=canonical>."
    ),
    "titles": (
        "The title is the line that search engines, tabs and bookmarks show.  Give each "
        "page its own, beginning with the words that distinguish it, because long titles are cut."
    ),
    "descriptions": (
        "Search engines may show the content of <meta name=description> below the title.  "
        "Write one or two unique sentences for each important page; otherwise they choose a "
        "piece of the text."
    ),
    "headings": (
        "Screen readers and search engines take the h1 as the name of the page.  Give "
        "each page one."
    ),
    "search": (
        "Check that this is intended.  A page with noindex does not appear in search engines, "
        "and one that names another canonical URL appears under that; links inside the "
        "site should lead to that URL directly.  A canonical URL is one page with status 200, "
        "named once, in the head.  Versions in other languages name each other and themselves."
    ),
    "orphans": (
        "Link to the page where visitors look for it, or remove it from the sitemap and "
        "from the server."
    ),
    "images": (
        'Describe the image in alt, or write alt="" if it is decoration.  Without width '
        "and height the text moves when the image loads; set both, even where a style "
        "sheet changes the size."
    ),
    "heavy": (
        "Compress images and save them at the size that is displayed; minify scripts and style "
        "sheets, let the server compress them, and load later what is not needed immediately "
        "(loading=lazy, defer)."
    ),
    "duplicates": (
        "Redirect one URL to the other, or name one of them in <link rel=canonical>."
    ),
}


def tables_of(report: Report, limits: Limits) -> Iterator[Table]:
    """Return the tables that are not empty."""
    maker = TableMaker(report, limits)
    tables = (section(maker) for section in SECTIONS)
    return (table for table in tables if table.rows or table.words)


def advice_for(broken: BrokenList, tables: Iterable[Table]) -> list[Advice]:
    """Return the advice for the sections that list something to fix."""
    sections = [(table.anchor, table.title) for table in tables if table.rows]
    if broken.items:
        sections.insert(0, ("broken", "Broken links"))
    return [
        Advice(anchor, title, ADVICE[anchor])
        for anchor, title in sections
        if anchor in ADVICE
    ]
