"""What is shown of a conversion."""

import json

from gencoro.porting.fixers import FIXERS
from gencoro.porting.plan import plan_of
from gencoro.porting.reasons import LISTED, REASONS
from gencoro.porting.report import (
    json_of,
    sarif_of,
    summary_of,
    text_of_left,
    text_of_listed,
)
from tests.helpers.porting.converting import HEAD, convert_text

SOURCE = (
    HEAD
    + """\
@gen.coroutine
def good(unknown):
    yield unknown()

@gen.coroutine
def bad():
    yield good(1)

bad()
"""
)
BEFORE = {"m.py": SOURCE.encode()}


def test_left_has_the_reason_and_the_place():
    assert text_of_left(convert_text(SOURCE)).startswith(
        "m.py:8: bad stays: GC930 `bad()` starts it and does not wait for it: an async def would "
        "never run (m.py:11); "
    )


def test_summary_says_bare_and_left_by_reason():
    assert summary_of(convert_text(SOURCE)) == (
        "2 coroutines: 1 bare async def (50 %), 1 left\n"
        "      1 started without waiting\n"
        "1 file changed; 1 place to look at\n"
    )


def test_listed_is_by_kind_and_place():
    shown = text_of_listed(convert_text(SOURCE)).splitlines()

    assert shown[1].startswith("  GC962 an unknown value is awaited; ")
    assert shown[2] == (
        "    m.py:5: `unknown()` is awaited, and may be something else than a Future (good)"
    )


def test_listed_is_cut_unless_all_is_asked_for():
    body = "".join(f"    yield a.x{n}()\n" for n in range(20))
    found = convert_text(f"{HEAD}@gen.coroutine\ndef f(a):\n{body}")

    assert "    and 12 more in this file\n" in text_of_listed(found)
    assert text_of_listed(found, show_all=True).count("m.py:") == 20


def test_json():
    data = json.loads(json_of(BEFORE, convert_text(SOURCE)))

    assert [f["function"] for f in data["bare"]] == ["good"]
    [left] = data["left"]
    [reason] = left["reasons"]
    assert (left["function"], left["line"]) == ("bad", 8)
    assert (reason["code"], reason["file"], reason["line"]) == ("GC930", "m.py", 11)
    assert [(f["code"], f["line"]) for f in data["listed"]] == [("GC962", 5)]


def test_sarif():
    [run] = json.loads(sarif_of(convert_text(SOURCE)))["runs"]

    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert {result["ruleId"] for result in run["results"]} <= set(rules)
    [left] = [r for r in run["results"] if r["ruleId"] == "GC930"]
    [place] = left["relatedLocations"]
    assert left["locations"][0]["physicalLocation"]["region"] == {"startLine": 8}
    assert place["physicalLocation"]["region"] == {"startLine": 11}


def test_codes_are_used_once():
    codes = [r.code for r in (*REASONS.values(), *LISTED.values())]

    assert len(codes) == len(set(codes))
    assert not set(codes) & {fixer.code for fixer in FIXERS}


def test_plan_has_callees_first_groups_and_what_stays():
    source = """\
@gen.coroutine
def top():
    yield even(4)

@gen.coroutine
def even(n):
    raise gen.Return(n == 0 or (yield odd(n - 1)))

@gen.coroutine
def odd(n):
    raise gen.Return(n != 0 and (yield even(n - 1)))

@gen.coroutine
def dropped(): yield None

dropped()
"""
    found = convert_text(HEAD, source)

    data = json.loads(plan_of(found, as_json=True))
    groups = [sorted(f["function"] for f in group) for group in data["steps"]]
    assert groups == [["even", "odd"], ["top"]]
    assert [f["function"] for f in data["left"]] == ["dropped"]
    assert "    2. top  m.py:4\n" in plan_of(found).replace("   2.", "    2.")
    assert "\nThese stay:\n\n      dropped  m.py:16\n          GC930 " in plan_of(found)
