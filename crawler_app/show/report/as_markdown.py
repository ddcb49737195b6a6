"""The report as Markdown, for a ticket, a pull request or a mail.

Pure.  Rule: text from the site is never interpreted as Markdown or HTML.
"""

import re
from collections.abc import Iterator

from crawler_app.base.text.formatting import number, sentence, size, time_of_day
from crawler_app.show.report.priorities import priorities_of
from crawler_app.show.report.report_data import Report
from crawler_app.show.report.tables import (
    Cell,
    DisplayUrl,
    Limits,
    Table,
    home_of,
    shown,
)
from crawler_app.show.report.tables.broken_links import (
    BrokenItem,
    LinkingPage,
    broken_list,
)
from crawler_app.show.report.tables.sections import advice_for, tables_of
from crawler_app.show.report.verdict import caveats, explanation, headline

__all__ = ["render_markdown"]

# Many issue trackers limit a comment to 65 000 characters.
LIMITS = Limits(items=50, linking_pages=5, rows=10, href_chars=300)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!])")

# A character reference, which is replaced in a URL too.
_REFERENCE = re.compile(r"&(?=#?\w+;)")


def render_markdown(report: Report) -> str:
    """Return the report as Markdown, with a newline at the end."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {_text(headline(report))}: {_text(report.site)}"
    yield ""
    yield sentence(f"{_text(explanation(report))}.")
    for words in caveats(report):
        yield from ("", f"> {_text(words)}")
    yield from ("", _numbers(report))
    yield from _first(report)
    broken = broken_list(report, LIMITS)
    if broken.items:
        yield from ("", "## Broken links", "")
        for item in broken.items:
            yield from _item(item)
        if broken.more:
            yield from ("", _text(broken.more))
    tables = list(tables_of(report, LIMITS))
    for table in tables:
        yield from _table(table)
    if advice := advice_for(broken, tables):
        yield from ("", "## What to do", "")
        for each in advice:
            yield f"- **{each.title}**: {_text(each.text)}"


def _numbers(report: Report) -> str:
    summary = report.summary
    external = f"{summary.external:,} external, " if summary.external else ""
    return (
        f"{summary.done:,} done ({number(summary.pages, 'page')}, "
        f"{number(summary.files, 'file')}, {external}"
        f"{number(len(summary.redirects), 'redirect')}), {size(summary.size_bytes)}; "
        f"{summary.failed:,} failed ({summary.broken:,} broken, "
        f"{summary.not_checked:,} not checked), {summary.skipped:,} skipped, "
        f"{summary.left:,} left; as of "
        f"{time_of_day(summary.last_at or report.made_at)}."
    )


def _first(report: Report) -> Iterator[str]:
    found = priorities_of(report)
    if found:
        yield from ("", "## Fix first", "")
    for each in found:
        url = [_link(shown(each.url, home_of(report), LIMITS))] if each.url else []
        words = [_text(words) for words in (each.words, each.where) if words]
        yield f"1. {', '.join([*url, *words])}"


def _item(item: BrokenItem) -> Iterator[str]:
    url = _link(DisplayUrl(item.name, item.href))
    yield f"- **{_text(item.badge)}** {url}: {_text(item.words)}"
    for each in [*item.linking_pages, *item.others]:
        yield f"  - {_linking_page(each)}"
    if item.more:
        yield f"  - {_text(item.more)}"


def _linking_page(each: LinkingPage) -> str:
    text = f" “{_text(each.text)}”" if each.text else ""
    note = f" ({_text(each.note)})" if each.note else ""
    return _link(each) + text + note


def _table(table: Table) -> Iterator[str]:
    yield from ("", f"## {table.title}")
    if table.words:
        yield from ("", _text(table.words))
    if table.rows:
        yield from ("", f"| {' | '.join(table.heads)} |")
        yield (
            "|"
            + "|".join(
                " ---: " if head in table.numbers else " --- " for head in table.heads
            )
            + "|"
        )
        for row in table.rows:
            yield f"| {' | '.join(map(_cell, row))} |"
    if table.more:
        yield from ("", _text(table.more))


def _cell(cell: Cell) -> str:
    own = [_link(DisplayUrl(cell.text, cell.href))] if cell.text else []
    return "<br>".join([*own, *map(_line, cell.lines)])


def _line(url: DisplayUrl) -> str:
    return f"{_link(url)} ({_text(url.note)})" if url.note else _link(url)


def _link(url: DisplayUrl) -> str:
    if not url.href:
        return _text(url.name)
    # Within angle brackets, only characters that no canonical URL has could end a link.
    href = url.href.replace("|", "%7C").replace("<", "%3C").replace(">", "%3E")
    href = _REFERENCE.sub("&amp;", href)
    return f"[{_text(url.name)}](<{href}>)"


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " "))
