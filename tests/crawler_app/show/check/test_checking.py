"""Checks that end early, and the tracker of references."""

import asyncio

import pytest

from crawler_app.base.models import Outcome, Role, State
from crawler_app.base.reasons import (
    Category,
    Reason,
    meaning_of,
    reason_of_status,
    traits_of,
)
from crawler_app.show.check.check_config import FORMAT_NAMES, CheckConfig
from crawler_app.show.check.checking import Check
from crawler_app.show.check.output import FORMATS
from crawler_app.show.check.reference_tracker import ReferenceTracker
from crawler_app.show.findings.kinds import FindingKind
from crawler_app.web.documents.malformed import problem_in
from crawler_app.web.documents.outline import outline_of
from gencoro import gen

OPTIONS = {"archive": False, "index": False, "robots": False}
DONE = Outcome(State.DONE, Reason.OK, 200, "text/html")


def test_every_format_that_is_offered_has_a_class():
    assert tuple(FORMATS) == FORMAT_NAMES


def test_output_that_cannot_be_written_ends_the_check(site, run_sync):
    site.page("/", "gone", *(f"/{n}" for n in range(50)))
    site.pages(*(f"/{n}" for n in range(50)))

    def write(text):
        raise BrokenPipeError

    check = Check([site.url], OPTIONS, CheckConfig(), FORMATS["jsonl"](write))

    with pytest.raises(BrokenPipeError):
        run_sync(check.run)
    assert len(site.paths) < 50


def test_cancelled_check_prints_its_findings(site, run_sync):
    site.page("/", "gone", "held")
    site.hold("/held")
    written = []
    check = Check([site.url], OPTIONS, CheckConfig(), FORMATS["text"](written.append))

    @gen.coroutine
    def main():
        running = check.run()
        while not check.findings:
            yield gen.sleep(0.01)
        running.cancel()
        try:
            yield running
        except asyncio.CancelledError:
            return True

    assert run_sync(main)
    assert "1 finding: 1 broken" in "".join(written)
    assert "Not checked: 1 (not fetched, because" in "".join(written)


def test_mixed_content_is_found():
    found = []
    tracker = ReferenceTracker(found.append)
    page = b"<img src=http://b.test/a><script src=http://127.0.0.1/b></script>"
    page += b"<a href=http://b.test/>x</a><img src=//b.test/c>"

    tracker.saw_document("https://a.test/", outline_of(page, "text/html"))

    assert [(each.kind, each.href) for each in found] == [
        (FindingKind.MIXED, "http://b.test/a"),
        (FindingKind.MALFORMED, "http://127.0.0.1/b"),  # which no visitor can reach
    ]


@pytest.mark.parametrize("later", [reason_of_status(404), Reason.OK, None])
def test_references_to_a_wall_wait_until_it_is_asked_again(later):
    found = []
    tracker = ReferenceTracker(found.append)
    url = "http://a.test/b"
    tracker.saw_document("http://a.test/", outline_of(b"<a href=b>x</a>", "text/html"))

    tracker.saw_end(url, Outcome(State.FAILED, Reason.BLOCKED, 403), Role.LINK)
    if later is not None:
        state = State.DONE if later is Reason.OK else State.FAILED
        tracker.saw_end(url, Outcome(state, later), Role.LINK)

    assert [each.reason for each in found] == (
        ["http_404"] if later == "http_404" else []
    )
    assert tracker.is_undecided(url) is (later is None)
    unchecked = [] if later else [meaning_of(Reason.BLOCKED)]
    assert [*tracker.finish().unchecked] == unchecked


def test_redirect_through_http_is_mixed_content():
    found = []
    tracker = ReferenceTracker(found.append)
    page = b"<script src=/a></script><a href=/a>x</a>"
    through = Outcome(State.DONE, Reason.REDIRECT, 302, redirect_to="http://a.test/b")
    back = Outcome(State.DONE, Reason.REDIRECT, 302, redirect_to="https://a.test/c")

    tracker.saw_document("https://a.test/", outline_of(page, "text/html"))
    tracker.saw_end("https://a.test/a", through, Role.ASSET)
    tracker.saw_end("http://a.test/b", back, Role.ASSET)

    (mixed,) = found
    assert (mixed.kind, mixed.text) == (FindingKind.MIXED, "<script src>")


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("mailto:me@a.test", ""),
        ("mailto:me@a.test,%20you@a.test?subject=all of us", ""),
        ("MAILTO: me%2Byou@a.test", ""),
        ("mailto:?body=me", ""),
        ('mailto:"a%20b"@a.test', ""),
        ("mailto:a b@a.test", '"a b@a.test" is not a mail address'),
        ("mailto:me@a.test,you", '"you" is not a mail address'),
        ("mailto:me%20at%20a.test", '"me at a.test" is not a mail address'),
    ],
)
def test_invalid_mail_address_is_found(link, problem):
    assert problem_in("http://a.test/", link) == problem


def test_tracker_forgets_references_to_working_urls():
    tracker = ReferenceTracker(lambda finding: None)
    page = b"".join(b"<a href=%d>x</a>" % number for number in range(100))
    tracker.saw_document("http://a.test/", outline_of(page, "text/html"))
    for number in range(99):
        tracker.saw_end(f"http://a.test/{number}", DONE, Role.LINK)

    assert tracker.finish().unchecked.total() == 1


@pytest.mark.parametrize("order", [("a", "b", "c"), ("c", "b", "a"), ("b", "a", "c")])
def test_redirects_are_followed_in_any_order(order):
    found = []
    tracker = ReferenceTracker(found.append)
    to_b = Outcome(State.DONE, Reason.REDIRECT, 302, redirect_to="http://a.test/b")
    to_c = Outcome(State.DONE, Reason.REDIRECT, 302, redirect_to="http://a.test/c")
    gone = Outcome(State.FAILED, Reason.TIMEOUT)
    ends = {"a": to_b, "b": to_c, "c": gone}
    tracker.saw_document("http://a.test/", outline_of(b"<a href=a>x</a>", "text/html"))

    for name in order:
        tracker.saw_end(f"http://a.test/{name}", ends[name], Role.LINK)

    found = [each for each in found if each.page]
    assert [(each.href, each.end) for each in found] == [("a", "http://a.test/c")]


@pytest.mark.parametrize(("hosts", "findings"), [("a", 1), ("abcd", 0)])
def test_start_urls_without_a_network_are_named_once(hosts, findings):
    found, seeds = [], [f"http://{host}.test/" for host in hosts]
    tracker = ReferenceTracker(found.append, seeds)

    for seed in seeds:
        tracker.saw_end(seed, Outcome(State.FAILED, Reason.DNS), Role.LINK)

    incomplete = tracker.finish().incomplete
    assert len(found) == findings
    assert len(incomplete) == (not findings)
    assert all("none of 4 hosts" in why for why in incomplete)


@pytest.mark.parametrize("is_online", [True, False])
@pytest.mark.parametrize("pages", [1, 10_001])
def test_machine_without_a_network_is_named_once(is_online, pages):
    found = []
    tracker = ReferenceTracker(found.append, ["http://127.0.0.1/"])
    hosts = [f"http://{name}.test/" for name in "abc"]
    page = "".join(f"<a href={url}>x</a>" for url in hosts).encode()
    outline = outline_of(page, "text/html")
    for number in range(pages):
        tracker.saw_document(f"http://127.0.0.1/{number}", outline)
    tracker.saw_end("http://127.0.0.1/", DONE, Role.LINK)

    for url in hosts[1:]:
        tracker.saw_end(url, Outcome(State.FAILED, Reason.DNS), Role.EXTERNAL)
    if is_online:
        tracker.saw_end(hosts[0], DONE, Role.EXTERNAL)

    summary = tracker.finish()
    assert len(found) == (2 * pages if is_online else 0)
    assert ["2 URLs could not" in why for why in summary.incomplete] == (
        [] if is_online else [True]
    )


@pytest.mark.parametrize(
    ("reason", "role", "is_missed"),
    [
        (Reason.TOO_MANY_ALIKE, Role.LINK, True),
        (Reason.RATE_LIMITED, Role.LINK, True),
        (Reason.RATE_LIMITED, Role.EXTERNAL, False),
        (Reason.ROBOTS, Role.LINK, False),
        (Reason.TOO_LARGE, Role.LINK, False),
    ],
)
def test_missed_pages_make_a_check_incomplete(reason, role, is_missed):
    tracker = ReferenceTracker(lambda finding: None)
    is_skipped = traits_of(reason).category is Category.SKIP
    outcome = Outcome(State.EXCLUDED if is_skipped else State.FAILED, reason)

    tracker.saw_end("http://a.test/b", outcome, role)

    assert bool(tracker.finish().incomplete) is is_missed
