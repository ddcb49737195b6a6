"""Durations and sizes: parsing, refused values, rendering."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from crawler_app.base.config.units import (
    BYTES,
    SECONDS,
    parse_duration,
    parse_size,
    render_duration,
    render_size,
)


@pytest.mark.parametrize(
    ("text", "took_s"),
    [
        ("250ms", 0.25),
        ("5m", 300),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("1d2h3m4s5ms", 93_784.005),
        ("1 min 15 s", 75),
        (" 2sec", 2),
        ("5 minutes", 300),
        ("1 day 2 hours", 93_600),
        # A bare number, as before.
        ("90", 90),
        ("0.5", 0.5),
        ("1e3", 1000),
        ("-1", -1),
    ],
)
def test_duration_is_parsed(text, took_s):
    assert parse_duration(text) == took_s


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("10MB", 10_000_000),
        ("1.5GiB", 1_610_612_736),
        ("500k", 500_000),
        ("2 kb", 2000),
        ("1KIB", 1024),
        ("3Ti", 3 * 1024**4),
        ("7B", 7),
        ("90", 90),
        ("-1", -1),
    ],
)
def test_size_is_parsed(text, size_bytes):
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("unit", [SECONDS, BYTES])
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "x",
        "5x",
        "m",
        "5M5",
        "1,5s",
        "nan",
        "inf",
        "5s1m",
        "1m1m",
        "0x1",
        "5mo",
    ],
)
def test_other_text_is_refused(unit, text):
    with pytest.raises(ValueError):
        unit.parse(text)


@pytest.mark.parametrize(
    ("parse", "text"),
    [(parse_size, "1.5"), (parse_duration, "5M"), (parse_duration, "-1s")],
)
def test_ambiguous_text_is_refused(parse, text):
    with pytest.raises(ValueError):
        parse(text)


@given(some.floats(0, 1e9) | some.integers(0, 10**9))
def test_rendered_duration_is_parsed_to_the_same_value(took_s):
    assert parse_duration(render_duration(took_s)) == pytest.approx(took_s, rel=1e-12)


@given(some.integers(0, 10**18))
def test_rendered_size_is_parsed_to_the_same_value(size_bytes):
    assert parse_size(render_size(size_bytes)) == size_bytes


@given(some.text())
def test_any_text_raises_only_value_errors(text):
    for unit in (SECONDS, BYTES):
        try:
            value = unit.parse(text)
        except ValueError:
            continue
        assert unit.render(value)
