"""The examples of each fixer: converted, left alone and refused."""

import runpy
import textwrap
from pathlib import Path

import pytest

from gencoro.compat.doctor.conversions import CONVERSIONS, IO_LOOP
from gencoro.porting.converting import convert
from gencoro.porting.fixers.to_async import TO_ASYNC
from gencoro.porting.fixers.to_coroutine import TO_COROUTINE
from gencoro.porting.reasons import REASONS
from gencoro.porting.selection import Selection

pytestmark = pytest.mark.once

DOCS = Path(__file__).parents[2] / "docs"

EXAMPLES = [
    pytest.param(target, example, id=f"{fixer.code} {example.about}")
    for target, fixers in (("coroutine", TO_COROUTINE), ("async", TO_ASYNC))
    for fixer in fixers
    for example in fixer.examples
]


@pytest.mark.parametrize(("target", "example"), EXAMPLES)
def test_example_becomes_what_it_says(target, example):
    conversion = convert({"m.py": example.before.encode()}, Selection(target))

    after = conversion.sources.get("m.py", example.before.encode()).decode()
    assert after == example.after
    codes = {refusal.code for refusal in conversion.refusals}
    assert ", ".join(sorted(codes)) == example.refused


@pytest.mark.parametrize(("target", "example"), EXAMPLES)
def test_converted_example_stays_when_it_is_converted_again(target, example):
    again = convert({"m.py": example.after.encode()}, Selection(target))

    assert again.sources == {}


def test_page_has_every_example_and_every_reason():
    page = (DOCS / "convert.rst").read_text(encoding="utf-8")
    drawing = runpy.run_path(str(DOCS / "draw_fixers.py"))
    shown = textwrap.dedent(drawing["draw_fixers"]()).replace("\n   ", "\n")

    assert {".. fixers::", ".. reasons::"} <= set(page.splitlines())
    for _, example in (param.values for param in EXAMPLES):
        assert example.before.replace("\n\n", "\n") in shown.replace("\n\n", "\n")
        assert example.after.replace("\n\n", "\n") in shown.replace("\n\n", "\n")
    table = drawing["draw_reasons"]()
    assert all(f"* - {reason.code}\n" in table for reason in REASONS.values())


def test_doctor_names_fixers_that_exist():
    assert {*CONVERSIONS.values(), IO_LOOP} <= {fixer.code for fixer in TO_COROUTINE}


def test_codes_are_unique():
    codes = [fixer.code for fixer in (*TO_COROUTINE, *TO_ASYNC)]
    codes += [reason.code for reason in REASONS.values()]

    assert len(codes) == len(set(codes))
