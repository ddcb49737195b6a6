"""The page of a watch, as Chromium shows it."""

import pytest

from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.publishing import render_history
from tests.crawler_app.show.watch.conftest import look_of, rule_of, sighting
from tests.helpers.chromium_page import (
    accessibility_faults,
    console_errors,
    requested_urls,
    scrolls_sideways,
)

DAY_S = 86400.0
LONG = "http://a.test/" + "long" * 400


@pytest.fixture
def address(tmp_path):
    memory = Memory()
    found = ["http://a.test/x", LONG, "http://b.test/mended", "http://c.test/once"]
    for day in range(30):
        seen = [sighting(target) for target in found[: 1 + day % 4]]
        for site in ("docs", "blog"):
            memory.note(site, look_of(*seen), day * DAY_S, rule_of)
    path = tmp_path / "page.html"
    path.write_text(render_history(memory, ["docs", "blog"], 30 * DAY_S))
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_shows_every_finding_and_is_accessible(chromium, address, emulate, scheme):
    emulate(scheme=scheme)
    chromium.get(address)

    assert chromium.title == "Watched sites"
    assert chromium.page_source.count("<rect") > 16
    assert requested_urls(chromium) == [address]
    assert console_errors(chromium) == []
    assert accessibility_faults(chromium) == []


def test_page_fits_a_phone(phone, address):
    phone.get(address)

    assert not scrolls_sideways(phone)
