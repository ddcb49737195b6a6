"""What the style and the script in docs/static add to furo's pages."""

import pytest
from selenium.webdriver.common.by import By

from tests.helpers.chromium_page import accessibility_faults, scrolls_sideways


@pytest.fixture
def address(built_docs):
    return (built_docs / "index.html").as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_accessible(chromium, emulate, address, scheme):
    emulate(scheme=scheme)
    chromium.get(address)

    assert accessibility_faults(chromium) == []


def test_page_is_accessible_on_a_phone(phone, address):
    phone.get(address)

    assert accessibility_faults(phone) == []
    assert not scrolls_sideways(phone)


def test_only_what_scrolls_takes_the_focus(phone, address):
    phone.get(address)
    narrow = focusable(phone)
    phone.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    phone.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0]))")

    assert narrow == ["pre", "div", "figure"]
    assert focusable(phone) == []


def focusable(chromium):
    found = chromium.find_elements(By.CSS_SELECTOR, "article [tabindex='0']")
    return [element.tag_name for element in found]


def test_print_shows_the_whole_of_long_lines(phone, emulate, address):
    phone.get(address)
    boxes = "return [...document.querySelectorAll('pre')].map(box => "
    scrolls = boxes + "box.scrollWidth > box.clientWidth)"
    assert phone.execute_script(scrolls) == [False, True]

    emulate(media="print")

    assert phone.execute_script(scrolls) == [False, False]
