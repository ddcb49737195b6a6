"""The helpers of the page tests find faults, and nothing on a good page."""

import pytest

from tests.helpers.chromium_page import (
    accessibility_faults,
    console_errors,
    requested_urls,
    scrolls_sideways,
)

GOOD = """
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<title>A page</title>
<main><h1>A page</h1><p>Nothing is wrong with it.</main>
"""


# The policy would block the faults of the other pages.
OPEN = GOOD.replace("default-src 'none'", "")

# Port 1 of this machine, where no server listens.
NOWHERE = "127.0.0.1:1"


@pytest.fixture
def page(tmp_path):
    """Return a function that writes a page and returns its address."""

    def page(html):
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        return path.as_uri()

    return page


def test_nothing_is_found_on_a_good_page(phone, page):
    url = page(GOOD)
    phone.get(url)

    assert accessibility_faults(phone) == []
    assert console_errors(phone) == []
    assert requested_urls(phone) == [url]
    assert not scrolls_sideways(phone)


def test_accessibility_faults_are_found(chromium, page):
    html = OPEN.replace("<main>", "<div>").replace("<p>", "<img src='data:,'><p>")
    chromium.get(page(html))

    faults = accessibility_faults(chromium)

    assert "landmark-one-main" in {fault.partition(":")[0] for fault in faults}
    (image,) = (fault for fault in faults if fault.startswith("image-alt: "))
    assert image.endswith('<img src="data:,">')


def test_each_console_error_is_returned_once(chromium, page):
    bad = "<script>console.log('none'); console.error('it is wrong'); nobody()</script>"
    chromium.get(page(OPEN + bad))
    written, uncaught = console_errors(chromium)
    chromium.get(page(GOOD + bad))
    (refused,) = console_errors(chromium)

    assert "it is wrong" in written
    assert "nobody is not defined" in uncaught
    assert "Content Security Policy" in refused
    assert console_errors(chromium) == []


def test_unanswered_requests_are_returned_too(chromium, page):
    url = page(
        f"{OPEN}<img alt src='http://{NOWHERE}/image'>"
        f"<script>new WebSocket('ws://{NOWHERE}/socket')</script>"
        f"<iframe title=I src='http://{NOWHERE}/frame'></iframe>"
    )
    chromium.get(url)

    first, *others = requested_urls(chromium)
    assert first == url
    assert sorted(other.replace(NOWHERE, "a.test") for other in others) == [
        "http://a.test/frame",
        "http://a.test/image",
        "ws://a.test/socket",
    ]


@pytest.mark.parametrize(
    "html",
    [OPEN + "<style>p { width: 391px }</style>", OPEN.replace('name="viewport"', "")],
    ids=["too wide", "made for a desk"],
)
def test_page_wider_than_a_phone_is_found(phone, page, html):
    phone.get(page(html))

    assert scrolls_sideways(phone)
