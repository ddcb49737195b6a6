"""What a check keeps of a hostile site is bounded, and what was cut is said."""

import pytest

from crawler_app.base.models import Outcome, Role, State
from crawler_app.base.reasons import Reason
from crawler_app.show.check import checking, places, waiting
from crawler_app.show.check.check_config import CheckConfig
from crawler_app.show.check.checking import Check
from crawler_app.show.check.output import FORMATS
from crawler_app.show.check.reference_tracker import ReferenceTracker
from crawler_app.web.documents import resolving
from crawler_app.web.documents.outline import outline_of
from tests.helpers.memory import peak_below

OPTIONS = {"archive": False, "index": False, "robots": False}
GONE = Outcome(State.FAILED, Reason.TIMEOUT)


def saw_page(tracker, name, markup):
    tracker.saw_document(f"http://a.test/{name}", outline_of(markup, "text/html"))


def checked(site, run_sync):
    written = []
    check = Check([site.url], OPTIONS, CheckConfig(), FORMATS["text"](written.append))
    assert run_sync(check.run) is False
    return "".join(written)


@pytest.mark.parametrize("max_bytes", [0, 1_500, waiting.MAX_BYTES])
def test_references_are_found_in_their_order_wherever_they_wait(max_bytes, monkeypatch):
    monkeypatch.setattr(waiting, "MAX_BYTES", max_bytes)
    found = []
    tracker = ReferenceTracker(found.append)
    for page in range(4):
        saw_page(tracker, page, b"<a href=gone>x</a><a href=later#x>y</a>")

    for _ in range(2):  # an end that comes again finds nothing again
        tracker.saw_end("http://a.test/gone", GONE, Role.LINK)

    assert [each.page for each in found] == [f"http://a.test/{n}" for n in range(4)]
    assert tracker.finish().unchecked.total() == 1


def test_references_that_wait_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(waiting, "MAX_BYTES", 100_000)
    monkeypatch.setattr(resolving, "MAX_LINKS", 100)
    tracker = ReferenceTracker(lambda finding: None)
    with peak_below(3_000_000):  # of 7 MB
        for page in range(10):
            markup = b"".join(b"<a href=%d/%d>x</a>" % (page, n) for n in range(1_000))
            saw_page(tracker, page, markup)

    assert tracker.finish().unchecked.total() == 10_000


def test_places_on_pages_with_too_many_ids_are_not_checked(monkeypatch):
    monkeypatch.setattr(places, "MAX_IDS", 3)
    found = []
    tracker = ReferenceTracker(found.append)
    saw_page(tracker, "a", b"<p id=1><p id=2><a href=#x>x</a><a href=b#x>y</a>")
    saw_page(tracker, "b", b"<p id=1><p id=2>")
    for name in "ab":
        done = Outcome(State.DONE, Reason.OK, 200, "text/html")
        tracker.saw_end(f"http://a.test/{name}", done, Role.LINK)

    assert [each.href for each in found] == ["#x"]
    assert dict(tracker.finish().unchecked) == {"places on pages that are too large": 1}


def test_findings_that_are_too_many_are_counted(site, run_sync, monkeypatch):
    monkeypatch.setattr(checking, "MAX_FINDINGS_CHARS", 1_000)
    site.page("/", *(f"gone{n}" for n in range(20)))

    written = checked(site, run_sync)

    assert "20 findings: 20 broken" in written
    assert written.count("404 Not Found") == 4
    assert "Only counted, not listed: 16 findings." in written
