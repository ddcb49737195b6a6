"""What the tests of pages look for is found where it is, and only there."""

import pytest

from tests.helpers.chromium_page import (
    accessibility_faults,
    console_errors,
    requested_urls,
    screenshot,
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


# What is wrong in the other pages, the policy would refuse.
OPEN = GOOD.replace("default-src 'none'", "")

# Port 1 of this machine, where nobody listens.
NOWHERE = "127.0.0.1:1/nothing"


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


def test_image_without_text_is_a_fault(chromium, page):
    chromium.get(page(OPEN.replace("<p>", "<img src='data:,'><p>")))

    (fault,) = accessibility_faults(chromium)

    assert fault.startswith("image-alt: ")
    assert fault.endswith('<img src="data:,">')


def test_rule_of_best_practice_counts(chromium, page):
    chromium.get(page(GOOD.replace("<main>", "<div>")))

    faults = accessibility_faults(chromium)

    assert "landmark-one-main" in {fault.partition(":")[0] for fault in faults}


@pytest.mark.parametrize(
    ("html", "error"),
    [
        (OPEN + "<script>console.error('it is wrong')</script>", "it is wrong"),
        (OPEN + "<script>nobody()</script>", "nobody is not defined"),
        (GOOD + "<script>1</script>", "Content Security Policy"),
    ],
    ids=["written", "not caught", "refused by the policy"],
)
def test_error_in_the_console_is_found_once(chromium, page, html, error):
    chromium.get(page(OPEN + "<script>console.log('no error')</script>"))
    chromium.get(page(html))

    (message,) = console_errors(chromium)

    assert error in message
    assert console_errors(chromium) == []


@pytest.mark.parametrize(
    ("html", "asked"),
    [
        (f"<img alt src='http://{NOWHERE}'>", f"http://{NOWHERE}"),
        (f"<script>new WebSocket('ws://{NOWHERE}')</script>", f"ws://{NOWHERE}"),
        (f"<iframe title=I src='http://{NOWHERE}'></iframe>", f"http://{NOWHERE}"),
    ],
    ids=["image", "socket", "frame"],
)
def test_what_a_page_asks_for_is_seen_though_nobody_answers(
    chromium, page, html, asked
):
    url = page(OPEN + html)
    chromium.get(url)

    assert requested_urls(chromium) == [url, asked]


def test_logs_of_the_test_before_are_gone(chromium):
    assert chromium.current_url in {"about:blank", "data:,"}
    assert requested_urls(chromium) == []
    assert console_errors(chromium) == []


@pytest.mark.parametrize(
    ("html", "is_too_wide"),
    [
        (GOOD + "<style>p { width: 391px }</style>", False),  # the policy refuses it
        (OPEN + "<style>p { width: 391px }</style>", True),
        (OPEN.replace('name="viewport"', ""), True),
    ],
    ids=["fits", "too wide", "made for a desk"],
)
def test_page_wider_than_a_phone_is_found(phone, page, html, is_too_wide):
    phone.get(page(html))

    assert scrolls_sideways(phone) is is_too_wide


def test_picture_holds_what_is_below_the_window(phone, page, tmp_path):
    phone.get(page(OPEN + "<style>p { height: 1000px }</style>"))

    screenshot(phone, tmp_path / "page.png")

    png = (tmp_path / "page.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    height = int.from_bytes(png[20:24], "big")
    assert height > 1000 * 3  # a phone has three dots to a pixel
