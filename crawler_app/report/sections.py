"""The tables of a report: what each tells, cut and in words.

Pure.  One method of ``_Maker`` is one section.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler_app.report.findings import Chain, Duplicates, Ranked, Report
from crawler_app.report.reasons import meaning_of
from crawler_app.report.tables import (
    ALL_IN_JSON,
    Cell,
    Limits,
    Shown,
    Table,
    home_of,
    shown,
)
from crawler_app.words import (
    cut,
    duration,
    number,
    percent,
    seconds,
    sentence,
    size,
)

__all__ = ["tables_of"]

# Levels of a histogram; what is deeper is one level more.
MAX_DEPTHS = 24

# That are told.
MAX_SEEDS = 10

# URLs in one cell.
LINES = 4

OPTION_CHARS = 120
ERROR_CHARS = 160


def tables_of(report: Report, limits: Limits) -> Iterator[Table]:
    """Return the tables that have something to tell, in the order to read them."""
    maker = _Maker(report, limits)
    tables = (
        maker.statuses(),
        maker.depths(),
        maker.loops(),
        maker.chains(),
        maker.slowest(),
        maker.largest(),
        maker.duplicates(),
        maker.hosts(),
        maker.compared(),
        maker.refused(),
        maker.failed_otherwise(),
        maker.crawl(),
    )
    return (table for table in tables if table.rows or table.words)


@dataclass(slots=True)
class _Maker:
    report: Report
    limits: Limits
    home: str = field(init=False)

    def __post_init__(self) -> None:
        self.home = home_of(self.report)

    def statuses(self) -> Table:
        count_by_name = {
            meaning_of(f"http_{status}"): (status, count)
            for status, count in self.report.count_by_status.items()
        }
        if self.report.unanswered:
            count_by_name["no answer"] = (999, self.report.unanswered)
        most = max((count for _, count in count_by_name.values()), default=0)
        rows = [
            [
                Cell(name, badge=_badge(status)),
                Cell(f"{count:,}", bar=percent(count, most)),
            ]
            for name, (status, count) in count_by_name.items()
        ]
        return self._table(
            "statuses", "Answers", ["Status", "URLs"], rows, is_half=True
        )

    def depths(self) -> Table:
        pages_by_depth = self.report.pages_by_depth
        deeper = sum(n for depth, n in pages_by_depth.items() if depth >= MAX_DEPTHS)
        bars = [(str(d), n) for d, n in pages_by_depth.items() if d < MAX_DEPTHS]
        if deeper:
            bars.append((f"{MAX_DEPTHS} and more", deeper))
        most = max((n for _, n in bars), default=0)
        rows = [[Cell(name), Cell(f"{n:,}", bar=percent(n, most))] for name, n in bars]
        return Table(
            "depths",
            "Depth",
            ["Links from the start", "Pages"],
            rows,
            words="How many clicks lead to a page, at the least." if rows else "",
            is_half=True,
        )

    def loops(self) -> Table:
        loops = self.report.loops
        rows = [
            [Cell(lines=self._way([*loop, loop[0]]))]
            for loop in loops[: self.limits.rows]
        ]
        return self._table(
            "loops",
            "Redirect loops",
            ["From one to the next, and back"],
            rows,
            len(loops),
        )

    def chains(self) -> Table:
        chains = self.report.chains
        words = ""
        if self.report.totals.redirects:
            redirects = number(self.report.totals.redirects, "redirect")
            several = number(len(chains), "chain") + " of two or more"
            words = f"{redirects}; {several}.  A link to the last URL saves the detour."
        rows = [self._chain(chain) for chain in chains[: self.limits.rows]]
        table = self._table(
            "chains", "Redirect chains", ["Way", "Ends with"], rows, len(chains)
        )
        table.words = words
        return table

    def _chain(self, chain: Chain) -> list[Cell]:
        if not chain.reason:
            end = Cell("not fetched")
        elif chain.status is None:
            end = Cell(meaning_of(chain.reason), badge="bad")
        else:
            end = Cell(meaning_of(f"http_{chain.status}"), badge=_badge(chain.status))
        return [Cell(lines=self._way(chain.urls)), end]

    def _way(self, urls: Sequence[str]) -> list[Shown]:
        """Show the URLs of a way, of a long one the beginning and the end."""
        if len(urls) <= 2 * LINES:
            return self._lines(urls, len(urls))
        left_out = Shown(f"and {len(urls) - 2 * LINES + 1:,} more")
        return [
            *self._lines(urls, LINES),
            left_out,
            *self._lines(urls[-LINES + 1 :], LINES),
        ]

    def _lines(self, urls: Iterable[str], most: int) -> list[Shown]:
        some = [url for url, _ in zip(urls, range(most), strict=False)]
        return [shown(url, self.home, self.limits) for url in some]

    def slowest(self) -> Table:
        table = self._ranking("slowest", "Slowest", self.report.slowest)
        table.words = "From the request to the last byte." if table.rows else ""
        return table

    def largest(self) -> Table:
        table = self._ranking("largest", "Largest", self.report.largest)
        table.words = "After decompression." if table.rows else ""
        return table

    def _ranking(self, anchor: str, title: str, ranked: Sequence[Ranked]) -> Table:
        rows = [
            [
                self._link(each.url),
                Cell(seconds(each.took_s)),
                Cell(size(each.size_bytes)),
            ]
            for each in ranked[: min(10, self.limits.rows)]
        ]
        heads = ["URL", "Time", "Size"]
        return Table(anchor, title, heads, rows, numbers=("Time", "Size"), is_half=True)

    def _link(self, url: str) -> Cell:
        link = shown(url, self.home, self.limits)
        return Cell(link.name, link.href)

    def duplicates(self) -> Table:
        groups = [g for g in self.report.duplicates if not g.canonical]
        declared = len(self.report.duplicates) - len(groups)
        words = ""
        if groups:
            wasted = size(sum(group.wasted_bytes for group in groups))
            words = (
                f"Pages that are equal byte for byte; once each would save {wasted}."
            )
        if declared:
            words += (
                f"  {number(declared, 'group')} left out, whose pages all name the same "
                "canonical URL."
            )
        rows = [self._group(group) for group in groups[: self.limits.rows]]
        table = self._table(
            "duplicates",
            "Duplicates",
            ["Pages", "URLs", "Could be saved"],
            rows,
            len(groups),
        )
        table.words = words.strip()
        table.numbers = ("Pages", "Could be saved")
        return table

    def _group(self, group: Duplicates) -> list[Cell]:
        lines = self._lines(group.urls, LINES)
        if len(group.urls) > LINES:
            lines.append(Shown(f"and {len(group.urls) - LINES:,} more"))
        title = cut(group.title, OPTION_CHARS) or "without a title"
        return [
            Cell(f"{len(group.urls):,}"),
            Cell(title, lines=lines),
            Cell(size(group.wasted_bytes)),
        ]

    def hosts(self) -> Table:
        hosts = self.report.hosts
        rows = [
            [
                Cell(cut(host.name, self.limits.url_chars)),
                Cell(f"{host.urls:,}"),
                Cell(f"{host.pages:,}"),
                Cell(f"{host.failures:,}", badge="bad" if host.failures else ""),
                Cell(size(host.size_bytes)),
                Cell("" if host.mean_s is None else seconds(host.mean_s)),
            ]
            for host in hosts[: self.limits.rows]
        ]
        heads = ["Host", "URLs", "Pages", "Broken", "Size", "Mean time"]
        table = self._table("hosts", "Hosts", heads, rows, len(hosts))
        table.numbers = tuple(heads[1:])
        return table

    def compared(self) -> Table:
        comparison = self.report.comparison
        table = self._table(
            "compared",
            "Since the crawl before",
            ["What", "URLs", "For example"],
            [],
        )
        if comparison is None:
            return table
        if not comparison.was_whole:
            table.words = "The crawl before had not come to its end."
        table.numbers = ("URLs",)
        vanished = [page.url for page in comparison.vanished]
        for what, urls in (
            ("New", comparison.new),
            ("Changed", comparison.changed),
            ("Vanished", vanished),
            ("Not reached this time", comparison.unreachable),
        ):
            lines = self._lines(urls, LINES)
            table.rows.append([Cell(what), Cell(f"{len(urls):,}"), Cell(lines=lines)])
        table.rows.append(
            [Cell("Unchanged"), Cell(f"{comparison.unchanged:,}"), Cell()]
        )
        return table

    def refused(self) -> Table:
        refused = self.report.refused
        rows = [
            [
                Cell(sentence(meaning_of(refusal.reason))),
                Cell(f"{refusal.count:,}"),
                Cell(lines=self._lines(refusal.examples, LINES)),
            ]
            for refusal in refused
        ]
        table = self._table(
            "refused", "Not to be fetched", ["Why", "URLs", "For example"], rows
        )
        table.count = f"{self.report.totals.refused:,}" if rows else ""
        table.words = "Links that were met and not followed." if rows else ""
        table.numbers = ("URLs",)
        return table

    def failed_otherwise(self) -> Table:
        failures = self.report.failed_otherwise
        rows = [
            [
                self._link(failure.url),
                Cell(sentence(meaning_of(failure.reason))),
                Cell(cut(failure.error, ERROR_CHARS)),
            ]
            for failure in failures[: self.limits.rows]
        ]
        table = self._table(
            "otherwise", "Not fetched", ["URL", "Why", "In detail"], rows, len(failures)
        )
        table.words = (
            "For reasons of the crawl, and not known to be broken." if rows else ""
        )
        return table

    def crawl(self) -> Table:
        report = self.report
        values: dict[str, Any] = {}
        if report.started_at is not None and report.ended_at is not None:
            values["Took about"] = duration(report.ended_at - report.started_at)
        archive = report.kept.archive
        if archive.captures:
            values["Archive"] = (
                f"{number(archive.captures, 'capture')}, "
                f"{number(archive.revisits, 'revisit')}, {size(archive.size_bytes)}"
            )
        if report.kept.pages is not None:
            values["Index"] = number(report.kept.pages, "page")
        for name, value in report.options.items():
            words = ", ".join(value) if isinstance(value, tuple) else str(value)
            values[name] = words
        rows = [
            [Cell(cut(name, OPTION_CHARS)), Cell(cut(str(value), OPTION_CHARS))]
            for name, value in values.items()
        ]
        seeds = Cell(
            lines=[shown(url, "", self.limits) for url in report.seeds[:MAX_SEEDS]]
        )
        rows.insert(0, [Cell("Began at"), seeds])
        return self._table("crawl", "This crawl", ["What", "Value"], rows)

    def _table(
        self,
        anchor: str,
        title: str,
        heads: list[str],
        rows: list[list[Cell]],
        total: int = 0,
        *,
        is_half: bool = False,
    ) -> Table:
        more = ""
        if total > len(rows):
            more = f"And {total - len(rows):,} more.  {ALL_IN_JSON}."
        count = f"{total:,}" if total else ""
        return Table(
            anchor, title, heads, rows, count=count, more=more, is_half=is_half
        )


def _badge(status: int) -> str:
    if status < 300 or status == 304:
        return "ok"
    return "moved" if status < 400 else "bad"
