"""Whole crawls of a small real site, in this process."""

import collections
import contextlib
import fractions
import logging
import threading
import time

import pytest

from crawler_app.base.errors import FetchError, FrontierError
from crawler_app.base.models import Fetched, State
from crawler_app.run.crawl.admission import Admission
from crawler_app.run.results.summary import summarize
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.web.fetcher import HttpFetcher
from gencoro import gen


def test_linked_pages_are_fetched_once_each(site, crawl, record_of):
    site.page("/", "a", "b#top", "/b", "http://elsewhere.test/", "mailto:x@y.test")
    site.page("/a", "b", "/", "a#here", title=" Two \n words ")
    site.page("/b", "c.txt")
    site.answer("/c.txt", b"<a href=d>", headers={"Content-Type": "text/plain"})

    crawler = crawl()

    assert sorted(site.paths) == ["/", "/a", "/b", "/c.txt"]
    assert crawler.frontier.count(State.DONE) == 4
    assert crawler.frontier.is_drained()
    assert crawler.stats["invalid/unsupported_scheme"] == 1
    record = record_of(crawler, "/a")
    assert record.outcome.title == "Two words"
    assert (record.via, record.depth) == (site.url, 1)


@pytest.mark.parametrize(
    ("base", "target"), [(b"/deep/er/", "/deep/er/x"), (b"javascript:0", "/x")]
)
def test_base_href_moves_the_links_of_a_page_if_it_is_usable(site, crawl, base, target):
    site.answer("/", b'<base href="%s"><a href="x">x</a>' % base)

    crawl()

    assert site.paths == ["/", target]


# -- redirects ---------------------------------------------------------------------------


def test_redirects_to_one_page_coalesce(site, crawl, record_of):
    site.page("/", "/old", "/older")
    site.redirect("/old", to="/new")
    site.redirect("/older", to="/old")
    site.page("/new")

    crawler = crawl()

    assert collections.Counter(site.paths).most_common(1)[0][1] == 1
    assert record_of(crawler, "/older").outcome.redirect_to == site.url + "old"
    assert record_of(crawler, "/old").outcome.redirect_to == site.url + "new"
    assert record_of(crawler, "/new").state is State.DONE


@pytest.mark.parametrize(
    ("written", "served"), [("/a//b", "/a/b"), ("/f%28x%29", "/f(x)")]
)
def test_redirect_to_another_spelling_is_followed(
    site, crawl, record_of, written, served
):
    site.page("/", written)
    site.redirect(written, to=served)
    site.page(served, "/found")
    site.page("/found")

    crawler = crawl()

    assert site.paths == ["/", written, served, "/found"]
    assert record_of(crawler, served).state is State.DONE


def test_other_spelling_that_is_out_of_scope_is_not_followed(site, crawl, record_of):
    site.redirect("/%28draft%29", to="/(draft)")
    site.page("/(draft)")
    site.page("/", "/%28draft%29")

    crawler = crawl(exclude=(r"\(draft\)",))

    assert "/(draft)" not in site.paths
    assert record_of(crawler, "/%28draft%29").outcome.redirect_to.endswith("/(draft)")


@pytest.mark.parametrize(
    ("targets", "paths", "reason"),
    [
        ({"/a": "/a"}, ["/a"], "redirect"),
        ({"/a": "/b", "/b": "/a"}, ["/a", "/b"], "redirect"),
        # Two spellings of one URL.
        (
            {"/a//b": "/a/b", "/a/b": "/a//b"},
            ["/a//b", "/a/b", "/a//b", "/a/b", "/a//b"],
            "too_many_redirects",
        ),
        (
            {f"/{i}": f"/{i + 1}" for i in range(9)},
            ["/0", "/1", "/2", "/3", "/4"],
            "too_many_redirects",
        ),
    ],
)
def test_endless_redirects_end(site, crawl, record_of, targets, paths, reason):
    for path, target in targets.items():
        site.redirect(path, to=target)

    crawler = crawl(paths[0], max_redirects=4)

    assert site.paths == paths
    assert crawler.frontier.is_drained()
    last = record_of(crawler, paths[-1]).outcome
    assert last.reason == reason
    assert last.redirect_to == site.url.rstrip("/") + targets[paths[-1]]


SET = {"Set-Cookie": "id=7; Path=/"}


def moved(to, **headers):
    return {"status": 302, "headers": {"Location": to, **headers}}


@pytest.mark.parametrize(
    "answers",
    [
        {"/a": moved("/a", **SET)},
        {"/a": moved("/in?to=a"), "/in?to=a": moved("/a", **SET)},
        {"/a": moved("/in", **SET), "/in": moved("/out"), "/out": moved("/a")},
    ],
)
def test_loop_in_which_a_cookie_was_set_leads_to_a_page(
    site, crawl, record_of, answers
):
    site.page("/a", "/found", needs_cookie="id=7")
    for path, answer in answers.items():
        site.answer(path, **answer)
    site.page("/found")

    crawler = crawl("/a")

    assert site.paths == [*answers, "/a", "/found"]
    assert record_of(crawler, "/a").outcome.reason == "ok"
    assert summarize(crawler.frontier).loops == []


def test_page_that_lacked_a_cookie_is_fetched_again(site, crawl):
    site.page("/", "/a", "/b")
    for path in "/a", "/b":
        site.page(path, needs_cookie="id=7")
        site.redirect(path, to=f"/in?to={path}")
        site.answer(f"/in?to={path}", needs_cookie="id=7", **moved(path))
        site.answer(f"/in?to={path}", **moved(path, **SET))

    crawler = crawl(concurrency=1)

    assert summarize(crawler.frontier).pages == 3
    assert site.paths[1:] == ["/a", "/b", "/in?to=/a", "/a", "/in?to=/b", "/b"]


@pytest.mark.parametrize(
    ("options", "most"), [({"max_redirects": 4}, 5), ({"cookies": False}, 1)]
)
@pytest.mark.parametrize("loop", [["/a"], ["/a", "/b"]])
def test_loop_that_sets_a_cookie_each_time_is_called_a_loop(
    site, crawl, loop, options, most
):
    for number in range(9):
        for path, to in zip(loop, loop[1:] + loop[:1], strict=True):
            headers = {"Set-Cookie": f"n={number}"}
            site.answer(path, times=1, **moved(to, **headers))

    crawler = crawl("/a", **options)

    assert 1 <= site.paths.count("/a") <= most
    assert len(site.paths) <= max(most, len(loop))
    assert [set(found) for found in summarize(crawler.frontier).loops] == [
        {site.url.rstrip("/") + path for path in loop}
    ]


REFRESHES = {
    "soon": ('<meta http-equiv=refresh content="5; url=/there">', {}, True),
    "later": ('<meta http-equiv=refresh content="30; url=/there">', {}, False),
    "in the header": ("", {"Refresh": "0;url=there"}, True),
    "of a file": ("", {"Refresh": "0;url=/there", "Content-Type": "text/plain"}, True),
    "in a base": (
        "<base href=/a/><meta http-equiv=refresh content=0;../there>",
        {},
        True,
    ),
}


@pytest.mark.parametrize("refresh", REFRESHES)
def test_refresh_leads_where_a_browser_goes(site, crawl, record_of, refresh):
    body, headers, is_soon = REFRESHES[refresh]
    site.answer("/", body.encode(), headers=headers)
    site.page("/there", "/found")
    site.page("/found")

    crawler = crawl()

    assert site.paths == ["/", "/there", "/found"]
    start, there = record_of(crawler, "/"), record_of(crawler, "/there")
    assert (start.outcome.reason, there.via) == ("ok", site.url)
    assert start.outcome.redirect_to == (site.url + "there" if is_soon else "")
    assert there.depth == (0 if is_soon else 1)


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        (b"<meta http-equiv=refresh content=0>", ["/"]),
        (b'<meta http-equiv=refresh content="0;url=/#top">', ["/"]),
        (b'<meta http-equiv=refresh content="0;url=mailto:a@b.test">', ["/"]),
        (b'<meta http-equiv=refresh content="0;url=/x">', ["/", "/x"]),
    ],
)
def test_page_that_reloads_itself_leads_nowhere(site, crawl, body, paths):
    site.answer("/", body)
    site.answer("/x", b"<meta http-equiv=refresh content=0;/>")

    crawler = crawl()

    assert site.paths == paths
    summary = summarize(crawler.frontier)
    assert (summary.loops, len(summary.redirects)) == ([], 0)


def test_endless_refreshes_end_by_their_depth(site, crawl):
    for number in range(20):
        site.answer(f"/{number}", headers={"Refresh": f"0;url=/{number + 1}"})

    crawl("/0", max_redirects=2, max_depth=1)

    assert site.paths == [f"/{number}" for number in range(6)]


def test_redirect_out_of_scope_is_not_queued(site, crawl):
    site.redirect("/a", to="http://elsewhere.test/")

    crawler = crawl("/a")

    assert crawler.frontier.urls(State.EXCLUDED) == ["http://elsewhere.test/"]
    assert crawler.frontier.urls(State.QUEUED) == []
    assert crawler.stats["skipped/out_of_scope"] == 1


def test_a_link_restores_the_redirects_that_may_follow(site, crawl):
    site.redirect("/0", to="/1")
    site.page("/1", "/2")
    site.redirect("/2", to="/3")
    site.page("/3")

    crawl("/0", max_redirects=1)

    assert "/3" in site.paths


@pytest.mark.parametrize("status", [100, 199, 600])
def test_status_that_means_nothing_is_a_failure(crawl, status):
    class OddFetcher(HttpFetcher):
        @gen.coroutine
        def fetch(self, request):
            yield gen.moment
            return Fetched(request.url, status, {}, b"", 0.1)

    crawler = crawl(fetcher=OddFetcher)

    (record,) = crawler.frontier.records()
    assert record.outcome.reason == f"http_{status}"


@pytest.mark.parametrize("location", ["", "javascript:0", "http://[", "ftp://a.test/"])
def test_redirect_to_what_is_no_url_fails(site, crawl, record_of, location):
    site.redirect("/a", to=location)

    crawler = crawl("/a")

    assert record_of(crawler, "/a").outcome.reason == "bad_redirect"
    assert crawler.frontier.count(State.FAILED) == 1


# -- scope and limits --------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_depth_is_the_number_of_links_from_the_seed(site, crawl, depth):
    for i in range(4):
        site.page(f"/{i}", f"/{i + 1}")

    crawler = crawl("/0", max_depth=depth)

    assert site.paths == [f"/{i}" for i in range(depth + 1)]
    assert crawler.frontier.urls(State.EXCLUDED) == [f"{site.url}{depth + 1}"]


def test_depth_is_the_shortest_path_even_if_it_is_slower(site, crawl):
    site.page("/", "/slow", "/quick")
    site.page("/quick", "/far")
    site.page("/far", "/x")
    site.page("/slow", "/x")
    site.page("/x", "/y")
    site.hold("/slow")
    timer = threading.Timer(0.3, site.let_go, ["/slow"])
    timer.start()

    crawl(max_depth=3)

    assert "/y" in site.paths  # 3 links by /slow, 5 by /quick


def test_redirect_makes_too_deep_url_reachable(site, crawl):
    site.page("/", "/a", "/b")
    site.page("/a", "/x")
    site.redirect("/b", to="/x")
    site.page("/x")

    crawl(max_depth=1, concurrency=1)

    assert "/x" in site.paths


# -- faults ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "times", "tries", "reason"),
    [(503, 1, 2, "ok"), (500, None, 3, "http_500"), (404, None, 1, "http_404")],
)
def test_error_is_tried_again_if_it_may_pass(
    site, crawl, record_of, status, times, tries, reason
):
    site.page("/", "/a")
    site.page("/a", status=status, times=times)
    site.page("/a")

    crawler = crawl()

    assert site.paths == ["/", *["/a"] * tries]
    assert record_of(crawler, "/a").outcome.reason == reason
    assert record_of(crawler, "/a").tries == crawler.stats["retried"] == tries - 1


@pytest.mark.parametrize(
    ("status", "tries", "paths"),
    [
        (503, 3, ["/a", "/b", "/c", "/a"]),
        # It holds the whole host.
        (429, 3, ["/a", "/a", "/b", "/c"]),
        # At the end, it is asked again.
        (429, 1, ["/a", "/b", "/c", "/a"]),
    ],
)
def test_retry_after_is_obeyed(site, crawl, status, tries, paths):
    site.page("/", "/a", "/b", "/c")
    site.answer("/a", status=status, headers={"Retry-After": "1"}, times=1)
    site.pages("/a", "/b", "/c")
    started_at = time.monotonic()

    crawl(concurrency=1, tries=tries)

    assert site.paths == ["/", *paths]
    assert time.monotonic() - started_at >= 1.0


class OutageFetcher(HttpFetcher):
    """Simulates an outage: after a number of fetches, a number of them fail."""

    good, bad = 3, 6

    @gen.coroutine
    def fetch(self, request):
        self.good -= 1
        if self.good < 0 < self.bad:
            self.bad -= 1
            raise FetchError("refused", "Connection refused")
        return (yield super().fetch(request))


class GoneFetcher(OutageFetcher):
    bad = 10_000


@pytest.mark.parametrize(
    ("fetcher", "done", "outages"), [(OutageFetcher, 31, 6), (GoneFetcher, 3, 7)]
)
def test_short_outage_of_a_host_fails_no_url(site, crawl, fetcher, done, outages):
    paths = [f"/{i}" for i in range(30)]
    site.page("/", *paths)
    site.pages(*paths)

    crawler = crawl(fetcher=fetcher, concurrency=1, retry_pause_s=0.001)

    assert crawler.frontier.count(State.DONE) == done
    assert crawler.frontier.count(State.FAILED) == 31 - done
    assert all(
        record.tries == 0
        for record in crawler.frontier.records()
        if record.state is State.DONE
    )
    assert crawler.stats["outages"] == outages


BAD = [[5], range(0, 30, 5), range(10, 20), range(26, 30), range(30)]


@pytest.mark.parametrize("concurrency", [1, 10])
@pytest.mark.parametrize("bad", BAD, ids=str)
def test_reset_connection_uses_up_tries_without_a_pause(
    site, crawl, record_of, bad, concurrency
):
    paths = [f"/{i}" for i in range(30)]
    bad_paths = {f"/{i}" for i in bad}
    site.page("/", *paths)
    site.pages(*paths)
    site.resets = bad_paths.__contains__

    crawler = crawl(concurrency=concurrency)

    assert crawler.stats["outages"] == 0
    for path in paths:
        record = record_of(crawler, path)
        is_bad = path in bad_paths
        assert record.outcome.reason == ("connection_closed" if is_bad else "ok")
        assert record.tries == (2 if is_bad else 0)


@pytest.mark.parametrize("concurrency", [1, 10])
def test_outage_with_reset_connections_fails_no_url(site, crawl, concurrency):
    paths = [f"/{i}" for i in range(30)]
    site.page("/", *paths)
    site.pages(*paths)
    stats = collections.Counter()
    site.resets = lambda path: len(site.times) > 10 and stats["outages"] < 3

    crawler = crawl(concurrency=concurrency, stores={"stats": stats})

    assert crawler.frontier.count(State.DONE) == 31
    assert stats["outages"] >= 3


@pytest.mark.parametrize("robots", [True, False])
@pytest.mark.parametrize("reason", ["refused", "connection_closed", "timeout"])
def test_resumed_crawl_waits_for_a_host_that_is_down(
    site, crawl, tmp_path, robots, reason
):
    class DownFetcher(HttpFetcher):
        missing = 6

        @gen.coroutine
        def fetch(self, request):
            yield gen.moment
            self.missing -= 1
            if self.missing >= 0:
                raise FetchError(reason, "no answer")
            return (yield super().fetch(request))

    paths = [f"/{i}" for i in range(30)]
    site.page("/", *paths)
    site.pages(*paths)
    path = tmp_path / "frontier.sqlite"
    crawl(frontier=SqliteFrontier(path), robots=robots, max_pages=3)

    crawler = crawl(
        frontier=SqliteFrontier(path), fetcher=DownFetcher, robots=robots, concurrency=1
    )

    assert crawler.frontier.count(State.DONE) == 31
    assert crawler.stats["outages"] > 0


def test_time_out_is_no_sign_that_a_host_is_there(crawl):
    class SilentFetcher(OutageFetcher):
        @gen.coroutine
        def fetch(self, request):
            yield gen.moment
            self.good -= 1
            reason = "timeout" if self.good > 0 else "refused"
            raise FetchError(reason, "no answer")

    crawler = crawl(fetcher=SilentFetcher)

    (record,) = crawler.frontier.records()
    assert (record.state, record.tries) == (State.FAILED, 2)
    assert crawler.stats["outages"] == 0


class BrokenFetcher(HttpFetcher):
    """Fails on one path with an error that no fetcher should raise."""

    @gen.coroutine
    def fetch(self, request):
        if request.url.endswith("/bad"):
            raise ZeroDivisionError("a fault of ours")
        return (yield super().fetch(request))


class UnbindableFetcher(HttpFetcher):
    """Gives one response a duration that SQLite cannot keep."""

    @gen.coroutine
    def fetch(self, request):
        fetched = yield super().fetch(request)
        if request.url.endswith("/bad"):
            fetched.took_s = fractions.Fraction(1, 2)
        return fetched


@pytest.mark.parametrize(
    ("fetcher", "error"),
    [(BrokenFetcher, "a fault of ours"), (UnbindableFetcher, "Fraction")],
)
def test_unexpected_error_fails_only_its_url(
    site, crawl, record_of, caplog, tmp_path, fetcher, error
):
    site.page("/", "/bad", "/good")
    site.page("/bad", "/lost")
    site.page("/good")
    frontier = SqliteFrontier(tmp_path / "frontier.sqlite3")
    with caplog.at_level(logging.CRITICAL, logger="crawler_app.run.crawl"):
        crawler = crawl(frontier=frontier, fetcher=fetcher, concurrency=1)

    assert record_of(crawler, "/bad").outcome.reason == "internal_error"
    assert error in record_of(crawler, "/bad").outcome.error
    assert record_of(crawler, "/good").state is State.DONE
    assert "/lost" not in site.paths


class HastyFrontier(SqliteFrontier):
    """Gives its second claim out twice."""

    claims = 0

    def claim(self, now, lease_s, max_depth=None):
        lease_s = 0.0 if self.claims == 1 else lease_s
        claim = super().claim(now, lease_s, max_depth)
        self.claims += claim is not None
        return claim


class ForgetfulFrontier(HastyFrontier):
    """Takes its second claim back before it is finished, once."""

    def finish(self, claim, outcome, now, *found):
        self._ring_alarms(now)
        return super().finish(claim, outcome, now, *found)


@pytest.mark.parametrize(
    ("frontier_class", "concurrency"), [(ForgetfulFrontier, 1), (HastyFrontier, 2)]
)
def test_lost_lease_is_logged_and_stops_no_worker(
    site, crawl, caplog, frontier_class, concurrency
):
    site.page("/", "/a")
    site.page("/a", "/b")
    site.page("/b", status=404)

    with caplog.at_level(logging.WARNING, logger="crawler_app.run.crawl"):
        crawler = crawl(frontier=frontier_class(), concurrency=concurrency)

    assert "it will be fetched again" in caplog.text
    assert site.paths == ["/", "/a", "/a", "/b"]
    assert crawler.frontier.count(State.FAILED) == 1
    assert not crawler.under_way


class FailingFrontier(SqliteFrontier):
    """Cannot write, as on a full disk, and counts the attempts."""

    def __init__(self, error):
        super().__init__()
        self.error = error
        self.finishes = 0

    def finish(self, claim, outcome, now, *found):
        self.finishes += 1
        raise self.error("the disk is full")


# After a FrontierError, the claim that was to be finished is queued again.
@pytest.mark.parametrize(("error", "finishes"), [(OSError, 2), (FrontierError, 1)])
def test_frontier_that_fails_ends_the_crawl_with_its_error(
    site, crawl, error, finishes
):
    site.page("/", "/a")
    frontier = FailingFrontier(error)

    with pytest.raises(error, match="the disk is full"):
        crawl(frontier=frontier)

    assert frontier.finishes == finishes


def test_link_that_all_pages_have_is_admitted_once(site, crawl, monkeypatch):
    paths = [f"/{number}" for number in range(10)]
    for path in ("/", *paths):
        site.page(path, *(site.url.rstrip("/") + each for each in paths))
    admitted, admit = [], Admission.admit
    monkeypatch.setattr(
        Admission,
        "admit",
        lambda self, link, *args, **kwargs: (
            admitted.append(link) or admit(self, link, *args, **kwargs)
        ),
    )

    crawler = crawl(concurrency=1)

    assert crawler.frontier.count(State.DONE) == 11
    assert len(admitted) == 11


@pytest.mark.parametrize("max_pages", [None, 2])
def test_crawl_that_has_ended_is_on_disk(site, crawl, tmp_path, max_pages):
    site.page("/", "/a", "/b")
    site.pages("/a", "/b")
    path = tmp_path / "frontier.sqlite3"

    crawl(frontier=SqliteFrontier(path), max_pages=max_pages)

    with contextlib.closing(SqliteFrontier(path, read_only=True)) as reader:
        assert reader.count(State.DONE) == (max_pages or 3)


# -- workers -----------------------------------------------------------------------------


def test_workers_share_the_frontier_up_to_the_concurrency(site, crawl):
    paths = [f"/{i}" for i in range(12)]
    site.page("/", *paths)
    for path in paths:
        site.hold(path)
    gate = site.let_go_when(at_once=4)

    crawl(concurrency=4)
    gate.result(5)

    assert site.most_at_once == 4
    assert len(site.paths) == 13


def test_waiting_worker_wakes_when_a_page_brings_links(site, crawl):
    site.page("/", "/slow")
    site.page("/slow", "/a", "/b", "/c")
    for path in ("/a", "/b", "/c"):
        site.hold(path)
    gate = site.let_go_when(at_once=3)

    crawl(concurrency=3)
    gate.result(5)

    assert site.most_at_once == 3


class CountingFrontier(SqliteFrontier):
    """Counts how often workers look for a URL."""

    def __init__(self):
        super().__init__()
        self.looks = 0

    def claim(self, *args, **kwargs):
        self.looks += 1
        return super().claim(*args, **kwargs)

    def has_changes(self):
        return False  # or idle workers commit, the more often the slower the machine is


def test_workers_that_a_limit_keeps_idle_cost_nothing(site, crawl):
    """A page that ends must not make every idle worker look for another one."""
    paths = [f"/{i}" for i in range(100)]
    site.page("/", *paths)
    site.pages(*paths)
    frontier = CountingFrontier()

    crawl(frontier=frontier, concurrency=50, per_host=2)

    assert frontier.total() == 101
    assert frontier.looks < 5 * 101


def test_finished_urls_are_on_disk_while_a_slow_page_is_fetched(site, crawl, tmp_path):
    """Other processes see it: the slow page is let go when one does."""
    site.page("/", "/slow", "/a", "/b")
    site.pages("/slow", "/a", "/b")
    site.hold("/slow")
    path = tmp_path / "frontier.sqlite3"
    frontier = SqliteFrontier(path)

    def done():
        with contextlib.closing(SqliteFrontier(path, read_only=True)) as reader:
            return reader.count(State.DONE)

    def look_until_seen():
        while done() < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        seen.append(done())
        site.let_go("/slow")

    seen = []
    deadline = time.monotonic() + 10
    looking = threading.Thread(target=look_until_seen)
    looking.start()
    crawl(frontier=frontier)
    looking.join()

    assert seen == [3]
