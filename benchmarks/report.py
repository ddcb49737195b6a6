"""Renders results as text for the terminal, and as tables and a chart for the docs.

Pure: results in, text out.
"""

from chart import Group, bar_chart
from peers import TITLES

__all__ = ["as_picture", "as_tables", "as_text"]

LABEL_COLUMNS = 40
CELL_COLUMNS = 17
UNITS = {"us": "µs", "bytes": "bytes"}


def as_text(results, rows, peers):
    """Return lines of figures, each with its ratio."""
    lines = [line("", [TITLES[peer] for peer in peers])]
    for row in rows:
        cells = [text_cell(results, row, peer) for peer in peers]
        lines.append(line(f"{row.title}, {row.unit}", cells))
    return "\n".join(lines)


def line(label, cells):
    cells = "".join(f"{cell:>{CELL_COLUMNS}}" for cell in cells)
    return f"{label:{LABEL_COLUMNS}}{cells}".rstrip()


def text_cell(results, row, peer):
    if not results.has(row, peer):
        return ""
    figure = rounded(results.median(row, peer))
    if peer == "gencoro":
        return figure
    return f"{figure} {ratio_text(results, row, peer):>7}"


def ratio_text(results, row, peer):
    return f"{results.ratio(row, peer):.2f}x"


def rounded(figure):
    """Return a figure with its significant digits.

    >>> [rounded(figure) for figure in (0.0617, 12.34, 456.7)]
    ['0.06', '12.3', '457']
    """
    digits = 2 if figure < 10 else 1 if figure < 100 else 0
    return f"{figure:.{digits}f}"


def as_tables(results, rows, peers, notes):
    """Return a table of ratios, a table of figures, and the notes, as reStructuredText."""
    others = [peer for peer in peers if peer != "gencoro"]
    ratios = list_table(
        "gencoro's figure, and how many times as much the others take",
        ["gencoro", *others],
        [
            [row.title, with_unit(results, row, "gencoro")]
            + [if_any(ratio_text, results, row, peer) for peer in others]
            for row in rows
        ],
    )
    figures = list_table(
        "The same in figures",
        peers,
        [
            [f"{row.title}, {UNITS[row.unit]}"]
            + [if_any(figure_text, results, row, peer) for peer in peers]
            for row in rows
        ],
    )
    return "\n".join(
        [".. Written by benchmarks/bench_runner.py.", "", ratios, figures, *notes, ""]
    )


def if_any(text_of, results, row, peer):
    return text_of(results, row, peer) if results.has(row, peer) else ""


def figure_text(results, row, peer):
    return rounded(results.median(row, peer))


def with_unit(results, row, peer):
    return f"{figure_text(results, row, peer)} {UNITS[row.unit]}"


def list_table(title, peers, rows):
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for cells in [["", *(TITLES[peer] for peer in peers)], *rows]:
        marks = ["*", *[" "] * (len(cells) - 1)]
        lines += [
            f"   {mark} - {cell}".rstrip()
            for mark, cell in zip(marks, cells, strict=True)
        ]
    return "\n".join([*lines, ""])


def as_picture(results, rows, peers, note):
    """Return the ratios as a bar chart in SVG."""
    others = [peer for peer in peers if peer != "gencoro"]
    groups = [
        Group(
            row.title,
            {
                TITLES[peer]: results.ratio(row, peer)
                for peer in others
                if results.has(row, peer)
            },
        )
        for row in rows
    ]
    return bar_chart("The same work, done by others", "gencoro", groups, note)
