"""The sections of a report about the site.

Pure.  Each public function makes one section.
"""

from collections.abc import Sequence

from crawler_app.base.reasons import is_broken, meaning_of, reason_of_status
from crawler_app.base.text.formatting import bar_percent, cut, number, seconds, size
from crawler_app.run.results.ranking import Ranked
from crawler_app.show.report.report_data import Chain, Duplicates
from crawler_app.show.report.tables import LINES, Cell, DisplayUrl, Table, TableMaker

__all__ = [
    "chains",
    "depths",
    "duplicates",
    "hosts",
    "largest",
    "loops",
    "slowest",
    "statuses",
]

# Bars of the histogram of depths; one more bar is for all deeper pages.
MAX_DEPTHS = 24

# Twice the length of a title that search engines show in full.
TITLE_CHARS = 120


def statuses(maker: TableMaker) -> Table:
    """Return the number of URLs by HTTP status."""
    report = maker.report
    counts = sorted(report.summary.count_by_status.items())
    ends = [(_status(status), n) for status, n in counts]
    not_checked = sum(failure.status is None for failure in report.not_checked)
    unanswered = report.summary.unanswered - not_checked
    ends.append((Cell("no status", badge="bad"), unanswered))
    ends.append((Cell("not checked"), not_checked))
    most = max(n for _, n in ends)
    rows = [[end, Cell(f"{n:,}", bar=bar_percent(n, most))] for end, n in ends if n]
    return maker.table("statuses", "Responses", ["Status", "URLs"], rows, is_half=True)


def depths(maker: TableMaker) -> Table:
    """Return the number of pages by depth."""
    pages_by_depth = sorted(maker.report.summary.pages_by_depth.items())
    deeper = sum(n for depth, n in pages_by_depth if depth >= MAX_DEPTHS)
    bars = [(str(d), n) for d, n in pages_by_depth if d < MAX_DEPTHS]
    if deeper:
        bars.append((f"{MAX_DEPTHS} and more", deeper))
    most = max((n for _, n in bars), default=0)
    rows = [[Cell(name), Cell(f"{n:,}", bar=bar_percent(n, most))] for name, n in bars]
    return Table(
        "depths",
        "Depth",
        ["Clicks", "Pages"],
        rows,
        words="The smallest number of clicks from a start URL to a page."
        if rows
        else "",
        is_half=True,
    )


def loops(maker: TableMaker) -> Table:
    """Return the redirect loops."""
    loops = maker.report.summary.loops
    rows = [
        [Cell(lines=maker.chain([*loop, loop[0]]))]
        for loop in loops[: maker.limits.rows]
    ]
    return maker.table(
        "loops",
        "Redirect loops",
        ["URLs of the loop"],
        rows,
        len(loops),
    )


def chains(maker: TableMaker) -> Table:
    """Return the redirect chains, and the response at their ends."""
    chains = maker.report.chains
    words = ""
    if maker.report.summary.redirects:
        redirects = number(len(maker.report.summary.redirects), "redirect")
        several = number(len(chains), "chain") + " of two or more"
        words = f"{redirects}; {several}.  A link to the last URL saves the detour."
    rows = [_chain(maker, chain) for chain in chains[: maker.limits.rows]]
    table = maker.table(
        "chains", "Redirect chains", ["Chain", "Ends with"], rows, len(chains)
    )
    table.words = words
    return table


def _chain(maker: TableMaker, chain: Chain) -> list[Cell]:
    if chain.reason is None:
        end = Cell("not fetched")
    elif chain.status is None:
        badge = "bad" if is_broken(chain.reason) else ""
        end = Cell(meaning_of(chain.reason), badge=badge)
    else:
        end = _status(chain.status)
    return [Cell(lines=maker.chain(chain.urls)), end]


def slowest(maker: TableMaker) -> Table:
    """Return the slowest fetches."""
    table = _ranking(maker, "slowest", "Slowest", maker.report.summary.slowest)
    table.words = "From the request to the last byte." if table.rows else ""
    return table


def largest(maker: TableMaker) -> Table:
    """Return the largest bodies."""
    table = _ranking(maker, "largest", "Largest", maker.report.largest)
    table.words = "After decompression." if table.rows else ""
    return table


def _ranking(
    maker: TableMaker, anchor: str, title: str, ranked: Sequence[Ranked]
) -> Table:
    rows = [
        [
            maker.link(each.url),
            Cell(seconds(each.took_s), value=each.took_s),
            Cell(size(each.size_bytes), value=each.size_bytes),
        ]
        for each in ranked[: min(10, maker.limits.rows)]
    ]
    heads = ["URL", "Time", "Size"]
    return Table(anchor, title, heads, rows, numbers=("Time", "Size"), is_half=True)


def duplicates(maker: TableMaker) -> Table:
    """Return the identical pages that do not declare one common canonical URL."""
    groups = [g for g in maker.report.duplicates if not g.canonical]
    declared = len(maker.report.duplicates) - len(groups)
    words = ""
    if groups:
        wasted = size(sum(group.wasted_bytes for group in groups))
        words = f"Pages that are identical byte for byte; keeping one of each would save {wasted}."
    if declared:
        words += (
            f"  Not listed: {number(declared, 'group')} whose pages all name the same "
            "canonical URL."
        )
    rows = [_group(maker, group) for group in groups[: maker.limits.rows]]
    table = maker.table(
        "duplicates",
        "Duplicates",
        ["Pages", "URLs", "Possible saving"],
        rows,
        len(groups),
    )
    table.words = words.strip()
    table.numbers = ("Pages", "Possible saving")
    return table


def _group(maker: TableMaker, group: Duplicates) -> list[Cell]:
    lines = maker.lines(group.urls, LINES)
    if len(group.urls) > LINES:
        lines.append(DisplayUrl(f"and {len(group.urls) - LINES:,} more"))
    title = cut(group.title, TITLE_CHARS) or "(no title)"
    return [
        Cell(f"{len(group.urls):,}"),
        Cell(title, lines=lines),
        Cell(size(group.wasted_bytes), value=group.wasted_bytes),
    ]


def hosts(maker: TableMaker) -> Table:
    """Return the counts of each host."""
    hosts = maker.report.summary.hosts
    rows = [
        [
            Cell(cut(host.name, maker.limits.url_chars)),
            Cell(f"{host.broken:,}", badge="bad" if host.broken else ""),
            Cell(f"{host.urls:,}"),
            Cell(f"{host.pages:,}"),
            Cell(size(host.size_bytes), value=host.size_bytes),
            Cell(
                "" if host.mean_s is None else seconds(host.mean_s), value=host.mean_s
            ),
        ]
        for host in hosts[: maker.limits.rows]
    ]
    heads = ["Host", "Broken", "URLs", "Pages", "Size", "Mean time"]
    table = maker.table("hosts", "Hosts", heads, rows, len(hosts))
    table.numbers = tuple(heads[1:])
    return table


def _status(status: int) -> Cell:
    name = meaning_of(reason_of_status(status))
    badge = "ok" if status < 300 else "moved" if status < 400 else "bad"
    return Cell(name, badge=badge)
