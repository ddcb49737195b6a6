"""Robots directives of pages and headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.web.robots.directives import directives_in_header, directives_in_meta

BOTH = {"noindex", "nofollow"}


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("noindex", {"noindex"}),
        ("noindex, nofollow", BOTH),
        ("NOINDEX,NoFollow", BOTH),
        (" noindex ;nofollow ", BOTH),
        ("noindex nofollow", BOTH),
        ("none", BOTH),
        ("index, nofollow", {"nofollow"}),
        ("noindex, index", {"noindex"}),
        ("max-snippet: 20, noindex", {"noindex"}),
        ("unavailable_after: 25 Jun 2026 15:00:00 GMT, nofollow", {"nofollow"}),
        # Directives that we ignore.
        ("max-image-preview: none", set()),
        ("", set()),
        ("all", set()),
        ("index, follow", set()),
        ("noarchive, nosnippet, noimageindex, notranslate", set()),
        ("unavailable_after: 25 Jun 2026 15:00:00 GMT", set()),
        ("noindexed, xnofollow, no-index", set()),
    ],
)
def test_meta_directives_are_read(content, asked):
    assert directives_in_meta(content) == asked


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        ("noindex, nofollow", BOTH),
        ("None", BOTH),
        # For others, for us, for both.
        ("otherbot: noindex", set()),
        ("otherbot: noindex, nofollow", set()),
        ("gencoro-crawler: noindex", {"noindex"}),
        ("Gencoro-Crawler:none", BOTH),
        ("gencoro-crawler/0.4: noindex", {"noindex"}),
        ("gencoro-crawler: nofollow, googlebot: noindex", {"nofollow"}),
        ("googlebot: noindex, gencoro-crawler: nofollow", {"nofollow"}),
        ("nofollow, googlebot: noindex", {"nofollow"}),
        ("*: noindex", {"noindex"}),
        ("robots: noindex", {"noindex"}),
        # Two headers joined as Tornado joins them: the second is for all robots.
        ("otherbot: noindex,nofollow", {"nofollow"}),
        ("otherbot: noindex,gencoro-crawler: nofollow", {"nofollow"}),
        # A value is not a directive, and a time of day is not a name.
        ("max-snippet: 20, noindex", {"noindex"}),
        ("max-image-preview:none", set()),
        ("unavailable_after: 25 Jun 2026 15:00:00 GMT", set()),
        ("unavailable_after: 25 Jun 2026 15:00:00 GMT, nofollow", {"nofollow"}),
        ("unavailable_after: Friday, 25-Jun-26 15:00:00 GMT, noindex", {"noindex"}),
        ("unavailable_after: 2026-06-25T15:00:00+00:00, noindex", {"noindex"}),
        ("noindex, unavailable_after: 25 Jun 2026 15:00:00 GMT", {"noindex"}),
        ("otherbot: unavailable_after: 25 Jun 2026 15:00:00 GMT, noindex", set()),
        # Broken headers; if in doubt, they apply to us.
        ("noindex: true", {"noindex"}),
        (",, ,noindex,", {"noindex"}),
        (": noindex", {"noindex"}),
    ],
)
def test_header_directives_for_us_are_read(value, asked):
    assert directives_in_header(value, "gencoro-crawler") == asked


@given(st.text(alphabet="noindexfl:,;* \t\n-bot2é", max_size=60))
def test_any_header_is_read(value):
    assert directives_in_header(value, "bot") <= BOTH
    assert directives_in_meta(value) <= BOTH
