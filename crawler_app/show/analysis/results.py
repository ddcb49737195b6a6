"""Writes the result of a query: as a table for people, CSV or JSON lines.

A result is read in pieces, so that a large one needs little memory.
"""

import datetime
import itertools
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TextIO

from crawler_app.base.text.escaping import printable
from crawler_app.base.text.formatting import cut
from crawler_app.show.analysis import CSV, JSONL
from crawler_app.show.export.tables.exporting import write_csv_rows, write_json_rows

if TYPE_CHECKING:
    import duckdb
from crawler_app.show.export.tables.columns import Row

__all__ = ["write_result"]

# Rows that are read at once; their widths are those of the columns of a table.
ROWS = 1000

# Longer cells are cut in a table.
MAX_CHARS = 80


def write_result(
    result: "duckdb.DuckDBPyConnection", output: TextIO, style: str
) -> None:
    """Write the result of a query.

    Args:
        style: TABLE, CSV or JSONL.
    """
    columns = [str(column[0]) for column in result.description or ()]
    rows = _rows_of(result)
    if style == JSONL:
        write_json_rows(_different(columns), rows, output)
    elif style == CSV:
        write_csv_rows(itertools.chain([columns], rows), output)
    else:
        _write_table(columns, rows, output)


def _different(names: Sequence[str]) -> list[str]:
    """Return names of which each is another, as an object of JSON needs them.

    >>> _different(["a", "b", "a"])
    ['a', 'b', 'a_1']
    """
    found: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}_{number}" for number in itertools.count(1))
        choices = itertools.chain([name], numbered)
        found[next(each for each in choices if each not in found)] = None
    return list(found)


def _rows_of(result: "duckdb.DuckDBPyConnection") -> Iterator[Row]:
    while rows := result.fetchmany(ROWS):
        for row in rows:
            yield list(map(_plain, row))


def _plain(value: Any) -> Any:
    """Return a value as JSON can have it.

    >>> _plain([Decimal("1.5"), datetime.datetime(2026, 1, 2, 3, 4, 5)])
    [1.5, '2026-01-02T03:04:05']
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def _write_table(columns: Sequence[str], rows: Iterator[Row], output: TextIO) -> None:
    first = list(itertools.islice(rows, ROWS))
    texts = [list(map(_cell, row)) for row in [columns, *first]]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    is_number = [
        all(isinstance(row[place], int | float | None) for row in first)
        for place in range(len(columns))
    ]

    def write(cells: Sequence[str]) -> None:
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, is_number, strict=True)
        )
        output.write("  ".join(padded).rstrip() + "\n")

    write(texts[0])
    write(["-" * width for width in widths])
    for cells in itertools.chain(texts[1:], (list(map(_cell, row)) for row in rows)):
        write(cells)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        value = " ".join(map(str, value))
    return "" if value is None else cut(printable(str(value)), MAX_CHARS)
