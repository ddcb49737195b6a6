"""No terminal, spreadsheet or workflow runner obeys what a site has written."""

import csv
import io
import json
import re

import pytest

from crawler_app.base.models import Outcome, State, UrlRecord
from crawler_app.base.reasons import Reason
from crawler_app.show.check.output import FORMATS
from crawler_app.show.export.tables.exporting import write_csv_rows, write_json_rows
from crawler_app.show.export.tables.urls import url_row
from crawler_app.show.findings.finding import CheckSummary, Finding
from crawler_app.show.findings.kinds import FindingKind
from crawler_app.store.index.hits import Hit, SearchResult, Snippet
from crawler_app.store.index.rendering import render_hits

# Of a terminal, a text that reads backwards, line ends, a formula, and two commands.
HOSTILE = "=::error::a\x1b[31m\x9b31m\u202e\u2028\x85\r\nx ##[add-matcher]b \U000e0001"
COMMAND = re.compile(r"##\[|^\s*::(?!(error|notice)\b.*::)", re.MULTILINE)


def assert_harmless(text):
    assert not [each for each in text if not each.isprintable() and each != "\n"]
    assert not COMMAND.search(text)


@pytest.mark.parametrize("name", FORMATS)
def test_finding_of_a_hostile_page_is_harmless(name):
    written = []
    finding = Finding(
        FindingKind.BROKEN,
        *(HOSTILE, 1, 1, HOSTILE, HOSTILE, HOSTILE, 404),
        *("reason", HOSTILE, HOSTILE),
    )

    output = FORMATS[name](written.append)
    output.begin()
    output.add(finding)
    output.end([finding], CheckSummary(pages=1))

    text = "".join(written)
    assert_harmless(text)
    if name == "json":
        assert json.loads(text)["findings"] == [finding.to_json()]
    if name == "csv":
        (row,) = csv.DictReader(io.StringIO(text))
        assert row["href"].startswith("'=::error::a\\x1b")


@pytest.mark.parametrize("style", ["jsonl", "csv"])
def test_exported_url_of_a_hostile_site_is_harmless(style):
    file = io.StringIO()
    outcome = Outcome(State.DONE, Reason.OK, title=HOSTILE, error=HOSTILE)

    row = url_row(UrlRecord("http://a.test/", State.DONE, 0, outcome=outcome))
    if style == "csv":
        write_csv_rows([row], file)
    else:
        write_json_rows(list(map(str, range(len(row)))), [row], file)

    assert_harmless(file.getvalue())


def test_hit_on_a_hostile_page_is_harmless():
    snippet = Snippet(f"::error::{HOSTILE}##[x]", [])
    hit = Hit("http://a.test/", HOSTILE, snippet, 1.0)

    assert_harmless(render_hits(SearchResult("x", 1, 0, [hit]), bold=False))
