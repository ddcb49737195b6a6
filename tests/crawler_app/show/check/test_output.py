"""Each format has each finding; no terminal, spreadsheet or workflow runner obeys a site."""

import csv
import io
import json
import re
from collections import Counter

import pytest

from crawler_app.base.models import Outcome, Severity, State, UrlRecord
from crawler_app.base.reasons import Reason
from crawler_app.show.check.output import FORMATS
from crawler_app.show.export.tables.exporting import write_csv_rows, write_json_rows
from crawler_app.show.export.tables.urls import url_row
from crawler_app.show.findings.finding import Change, CheckSummary, Finding
from crawler_app.show.findings.kinds import FindingKind
from crawler_app.store.index.hits import Hit, SearchResult, Snippet
from crawler_app.store.index.rendering import render_hits

LONG_AGO = "2026-11-01T07:00:00Z"
NEW = Finding(
    *(FindingKind.BROKEN, "a b.html", 2, 13, "Lost", "gone", "x/gone"),
    *(404, "http_404", "404 Not Found", "", False, Severity.ERROR, Change.NEW),
)
KNOWN = Finding(
    *(FindingKind.MALFORMED, "b.html", 3, 5, "x", "c d", "x/c%20d"),
    *(None, "malformed", "a blank", "", False, Severity.WARNING, Change.STILL),
    *(LONG_AGO, True, "b.md", 7, 1),
)
FIXED = Finding(
    *(FindingKind.BROKEN, "b.html", 0, 0, "", "old", "x/old"),
    *(None, "http_404", "fixed", "", False, Severity.ERROR, Change.FIXED, LONG_AGO),
)
SUMMARY = CheckSummary(
    *(2, 3, 4, Counter(broken=1)),
    accepted=1,
    changes=Counter(new=1, still=1, fixed=1),
    compared_with="baseline",
    fixed=[FIXED],
    incomplete=["it was stopped"],
)
LINE = 'a b.html:2:13: "Lost" -> x/gone  404 Not Found (new)'
HEADLINE = "1 finding: 1 broken, but the check is incomplete"
COUNTS = """\
Checked: 3 references in 2 documents, to 4 URLs.
Incomplete: it was stopped.
Compared with the baseline: 1 new, 1 still there, 1 fixed.
Left out: 1 accepted, 0 ignored.
Not checked: forms that are sent with POST, what scripts add."""
TEXT_BY_FORMAT = {
    "text": f"""\
{LINE}

Fixed:
  b.html -> x/old (since 2026-11-01)
{HEADLINE}
{COUNTS}
""",
    "csv": f"""\
{",".join(NEW.to_json())}
broken,a b.html,2,13,Lost,gone,x/gone,404,http_404,404 Not Found,,False,error,new,,False,,0,0
malformed,b.html,3,5,x,c d,x/c%20d,,malformed,a blank,,False,warning,still,{LONG_AGO},True,b.md,7,1
broken,b.html,0,0,,old,x/old,,http_404,fixed,,False,error,fixed,{LONG_AGO},False,,0,0
""",
    "junit": f"""\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
<testsuite name="gencrawl check" tests="4" failures="1" errors="1" skipped="1">
<testcase classname="a b.html" name="a b.html:2:13 gone"><failure type="http_404" \
message="404 Not Found (new)">{LINE.replace(">", "&gt;")}</failure></testcase>
<testcase classname="b.md" name="b.md:7:1 c d">\
<skipped message="warning: a blank (since 2026-11-01)"/></testcase>
<testcase classname="b.html" name="b.html old"></testcase>
<testcase classname="gencrawl" name="whole check">\
<error message="Incomplete: it was stopped"/></testcase>
<system-out>{HEADLINE}
{COUNTS}</system-out>
</testsuite>
</testsuites>
""",
    "github": f"""\
::error file=a b.html,title=404 Not Found,line=2,col=13::{LINE}
::error::{HEADLINE}%0A{COUNTS.replace(chr(10), "%0A")}
""",
    "markdown": f"""\
## {HEADLINE}

{COUNTS}
Fixed:
  b.html -&#62; x/old (since 2026-11-01)

| Places | Reference | Problem |
| --- | --- | --- |
| a b.html:2:13 | Lost → x/gone | 404 Not Found (new) |
""",
}


def written_in(name, findings=(NEW, KNOWN), summary=SUMMARY):
    written = []
    output = FORMATS[name](written.append)
    output.begin()
    findings = [f for f in findings if output.lists_accepted or not f.is_accepted]
    for each in findings:
        output.add(each)
    output.end(findings, summary)
    return "".join(written)


@pytest.mark.parametrize("name", TEXT_BY_FORMAT)
def test_text_has_each_finding_its_place_and_the_counts(name):
    assert written_in(name) == TEXT_BY_FORMAT[name]


def test_data_has_each_finding_its_place_and_the_counts():
    whole = json.loads(written_in("json"))
    lines = list(map(json.loads, written_in("jsonl").splitlines()))
    (run,) = json.loads(written_in("sarif"))["runs"]
    (issue,) = json.loads(written_in("codeclimate"))

    assert whole["findings"] == [NEW.to_json(), KNOWN.to_json()]
    assert whole["summary"] == json.loads(json.dumps(SUMMARY.to_json()))
    assert [each["findings"] for each in whole["targets"]] == [[0], [1]]
    assert lines == [*whole["findings"], {"summary": whole["summary"]}]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"]["text"] == "it was stopped"
    new, known, fixed = run["results"]
    assert new.items() >= {"ruleId": "broken", "level": "error"}.items()
    assert new["message"]["text"] == "gone: 404 Not Found"
    assert known["level"] == "warning" and "suppressions" in known
    assert known["provenance"]["firstDetectionTimeUtc"] == LONG_AGO
    states = [each["baselineState"] for each in run["results"]]
    assert states == ["new", "unchanged", "absent"]
    places = [each["locations"][0]["physicalLocation"] for each in (new, known, fixed)]
    assert [
        (each["artifactLocation"]["uri"], *each.get("region", {}).values())
        for each in places
    ] == [("a%20b.html", 2, 13), ("b.md", 7, 1), ("b.html",)]
    assert len(issue.pop("fingerprint")) == 64
    assert issue == {
        "description": LINE,
        "check_name": "broken",
        "severity": "major",
        "location": {"path": "a b.html", "lines": {"begin": 2}},
    }


@pytest.mark.parametrize("name", FORMATS)
def test_no_finding_is_a_valid_document_too(name):
    text = written_in(name, [], CheckSummary())

    if name == "junit":
        assert 'tests="1" failures="0" errors="0" skipped="0"' in text
    elif name in ("json", "sarif", "codeclimate"):
        json.loads(text)
    assert "::error" not in text


# Of a terminal, a text that reads backwards, line ends, a formula, and two commands.
HOSTILE = "=::error::a\x1b[31m\x9b31m\u202e\u2028\x85\r\nx ##[add-matcher]b \U000e0001"
COMMAND = re.compile(r"##\[|^\s*::(?!(error|notice)\b.*::)", re.MULTILINE)


def assert_harmless(text):
    assert not [each for each in text if not each.isprintable() and each != "\n"]
    assert not COMMAND.search(text)


@pytest.mark.parametrize("name", FORMATS)
def test_finding_of_a_hostile_page_is_harmless(name):
    finding = Finding(
        FindingKind.BROKEN,
        *(HOSTILE, 1, 1, HOSTILE, HOSTILE, HOSTILE, 404),
        *("reason", HOSTILE, HOSTILE),
    )

    text = written_in(name, [finding], CheckSummary(pages=1))

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
