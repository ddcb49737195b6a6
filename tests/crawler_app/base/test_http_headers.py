"""HTTP headers: waits are finite for any header, and content types are those of Fetch."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler_app.base.http_headers import (
    MAX_RETRY_AFTER_S,
    extracted_type,
    retry_after_s,
)

TIMES = st.floats(0, 1e10)


@pytest.fixture
def far_from_greenwich(monkeypatch):
    """Set the time zone of this process to one far from Greenwich."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 7 ", 7.0),
        ("000000000000120", 120.0),
        ("86401", MAX_RETRY_AFTER_S),
        ("9" * 5_000, MAX_RETRY_AFTER_S),
        ("Thu, 01 Jan 1970 00:03:20 GMT", 100.0),
        ("Thursday, 01-Jan-70 00:03:20 GMT", 100.0),
        ("Thu Jan  1 00:03:20 1970", 100.0),
        ("Thu, 01 Jan 1970 00:03:20 -0000", 100.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Thu, 01 Jan 2970 00:00:00 GMT", MAX_RETRY_AFTER_S),
        ("Thu, 41 Jan 1970 00:00:00 GMT", None),
        ("Thu, 01 Jan 1970 25:00:00 GMT", None),
        ("-5", None),
        ("1.5", None),
        ("1e3", None),
        ("soon", None),
        ("\u0663", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_header(header, wait_s, far_from_greenwich):
    assert retry_after_s(header, now=100.0) == wait_s


@given(
    st.one_of(
        st.text(),
        st.text(st.sampled_from("0123456789:, -+GMTJanhu")),
        st.tuples(st.integers(), st.integers(), st.integers()).map(
            lambda n: f"Thu, {n[0]} Jan {n[1]} 00:{n[2]}:00 GMT"
        ),
    ),
    TIMES,
)
@example("Thu, 01 Jan 9999 00:00:00 -9999999999", 0.0)
@example("1 Jan 1 0:0:0 +2359", 0.0)
def test_any_retry_after_is_none_or_finite(header, now):
    wait_s = retry_after_s(header, now)

    assert wait_s is None or 0.0 <= wait_s <= MAX_RETRY_AFTER_S


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        # web-platform-tests, fetch/content-type/resources/content-types.json, commit
        # 15a98d8, 3-Clause BSD License: the values, the type and the charset in use.
        (["", "text/plain"], "text/plain"),
        (["text/plain", ""], "text/plain"),
        (["text/html", "text/plain"], "text/plain"),
        (["text/plain;charset=gbk", "text/html"], "text/html"),
        (
            ["text/plain;charset=gbk", "text/html;charset=windows-1254"],
            "text/html;charset=windows-1254",
        ),
        (["text/plain;charset=gbk", "text/plain"], "text/plain;charset=gbk"),
        (
            ["text/plain;charset=gbk", "text/plain;charset=windows-1252"],
            "text/plain;charset=windows-1252",
        ),
        (
            ["text/html;charset=gbk", 'text/html;x=",text/plain'],
            "text/html;charset=gbk",
        ),
        (["text/html;charset=gbk", "text/plain", "text/html"], "text/html"),
        (["text/plain", "*/*"], "text/plain"),
        (["text/html", "*/*"], "text/html"),
        (["*/*", "text/html"], "text/html"),
        (["text/plain", "*/*;charset=gbk"], "text/plain"),
        (["text/html", "*/*;charset=gbk"], "text/html"),
        (['text/html;x="', "text/plain"], "text/html"),
        (['text/html;"', "text/plain"], "text/html"),
        # Ours.
        (["text/html", "text/html"], "text/html"),
        (['a/b;x="\\";charset=no";charset="UTF-8"'], "a/b;charset=UTF-8"),
        (["Text/HTML ; Charset=latin1 ; charset=no"], "text/html;charset=latin1"),
        *(
            ([bad], "")
            for bad in ("html", "*/*", "", ";", "text/", "a/b c", "\u20ac/b")
        ),
    ],
)
def test_content_type_is_extracted_as_in_fetch(values, wanted):
    assert extracted_type(", ".join(values)) == wanted


@given(st.text('a/;=,"\\ ', max_size=5_000))
@example('"' * 200_000)
@example('a/b;x="' + "\\" * 200_000)
@example("," * 200_000)
@example("a/b;" * 50_000)
@example("a/b" + ";charset" * 20_000)
@example("a/b" + " " * 200_000 + "c")
def test_content_type_is_extracted_in_linear_time(header):
    started_at = time.process_time()

    extracted_type(header)

    assert time.process_time() - started_at < 1.0
