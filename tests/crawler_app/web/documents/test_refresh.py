"""Refreshes in headers and <meta> elements."""

import time

import pytest

from crawler_app.web.documents.html import parse_html
from crawler_app.web.documents.refresh import parse_refresh
from tests.helpers.refreshes import REFERENCE_BY_VALUE

META = "<meta http-equiv=refresh content='{}'>"
TO = META.format("0;url=/to")


@pytest.mark.parametrize("value", REFERENCE_BY_VALUE)
def test_reference_is_what_chromium_reads(value):
    refresh = parse_refresh(value)

    assert (refresh.reference if refresh else "") == REFERENCE_BY_VALUE[value]


@pytest.mark.parametrize("text", ["{}x", " {}", "{};url=/to"])
@pytest.mark.parametrize("piece", ["1", ".", " ", "1.", ";", "url", "url=", "'"])
def test_refresh_of_any_length_is_read_quickly(text, piece):
    started_at = time.process_time()

    parse_refresh("0" + text.format(piece * 200_000))

    assert time.process_time() - started_at < 1.0


# As Chromium does with JavaScript enabled.
@pytest.mark.parametrize(
    ("markup", "found"),
    [
        (TO, ("/to", 0)),
        ("<META HTTP-EQUIV='Refresh' CONTENT='7 , /to'>", ("/to", 7)),
        (f"<body><p>{TO}", ("/to", 0)),
        (f"<textarea>{TO}</textarea><!-- {TO} -->", None),
        ("<meta name=refresh content='0;url=/to'>", None),
        ("<meta http-equiv=' refresh ' content='0;url=/to'>", None),
        ("<meta http-equiv=refresh>", None),
        (TO + META.format("0;url=/2"), ("/2", 0)),
        (TO + META.format("1;url=/2"), ("/to", 0)),
        (META.format("300") + META.format("x") + TO, ("/to", 0)),
    ],
)
def test_refresh_of_a_page_is_the_first_due(markup, found):
    assert parse_html(markup.encode()).refresh == found


@pytest.mark.parametrize("tag", ["noscript", "template"])
def test_refresh_that_takes_no_effect_is_none(tag):
    assert parse_html(f"<{tag}>{TO}</{tag}>".encode()).refresh is None
