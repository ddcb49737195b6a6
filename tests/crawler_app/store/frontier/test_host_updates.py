"""Per-host state that workers share: robots.txt, cookies, gaps and outages."""

import itertools

import pytest

from crawler_app.base.errors import FetchError
from crawler_app.base.models import State
from crawler_app.base.reasons import Reason
from crawler_app.run.crawl.host_state import HostStates
from crawler_app.run.crawl.host_updates import HostUpdates
from crawler_app.web.fetcher import HttpFetcher
from gencoro import gen
from tests.helpers.postgres import LEASE_S, found
from tests.helpers.running_crawl import opened
from tests.helpers.site import Site

PATHS = [f"/{n}" for n in range(12)]
NEEDS = {"needs_cookie": "id=7"}


def moved(to, **headers):
    return {"status": 302, "headers": {"Location": to, **headers}}


def robots(site):
    """A file with rules and a sitemap, first in an outage."""
    site.answer("/robots.txt", status=503, times=2)
    body = f"# \0\x1a\xff\nUser-agent: *\nDisallow: /no\nSitemap: {site.url}map.xml"
    site.answer("/robots.txt", body.encode("latin-1"))
    listed = f"<url><loc>{site.url}listed</loc></url>"
    site.answer("/map.xml", f"<urlset>{listed}</urlset>".encode())
    site.page("/", "/no", "/a", "/b")
    site.pages("/a", "/b", "/listed")


def login(site):
    """A session, which begins and ends."""
    site.page("/", "/in", headers={"Set-Cookie": "other=1"})
    site.page("/in", "/a", "/out", headers={"Set-Cookie": "id=7; Max-Age=3600"})
    site.page("/a", **NEEDS)
    site.page("/out", "/b", headers={"Set-Cookie": "id=; Max-Age=0"})
    site.page("/b")


def loops(site):
    """Redirects that come back with a cookie."""
    site.page("/", "/a", "/b")
    for path in "/a", "/b":
        site.page(path, **NEEDS)
        site.redirect(path, to=f"/in?to={path}")
        site.answer(f"/in?to={path}", **moved(path), **NEEDS)
        site.answer(f"/in?to={path}", **moved(path, **{"Set-Cookie": "id=7"}))


def calendar(site):
    """A trap."""
    for month in range(8):
        site.page(f"/?month={month}", *(f"/?month={month + n}" for n in (1, 2)))


@pytest.fixture
def crawl_alone(run_sync):
    """Crawl from a seed by one worker, which shares nothing."""

    def run(seed, **options):
        @gen.coroutine
        def work():
            with opened(seed, retry_pause_s=0.01, **options) as crawl:
                yield crawl.run()

        run_sync(work)

    return run


@pytest.mark.parametrize(
    ("build", "options"),
    [
        (robots, {}),
        (login, {}),
        (login, {"cookies": False}),
        (loops, {}),
        (calendar, {"max_queries_per_path": 3}),
    ],
)
def test_workers_with_one_fetch_each_send_the_requests_of_one_worker(
    crawl_alone, crawl_shared, build, options
):
    def asked_by(crawl):
        site = Site()
        try:
            build(site)
            crawl(
                site.url,
                **{"robots": build is robots} | options,
                concurrency=1,
            )
            return [(path, headers.get("Cookie")) for path, headers in site.requests]
        finally:
            site.stop()

    assert asked_by(crawl_shared) == asked_by(crawl_alone)


def test_redirect_is_fetched_again_after_a_cookie_from_another_host(
    site, other, crawl_shared
):
    # As single sign-on does: the way back sets the cookie that the page needs.
    site.page("/0", needs_cookie="session=1", title="Inside")
    site.redirect("/0", to=f"{other.url}login")
    other.redirect("/login", to=f"{site.url}back")
    headers = {"Location": "/0", "Set-Cookie": "session=1"}
    site.answer("/back", status=302, headers=headers)

    found = crawl_shared(f"{site.url}0", scope="any").reader.records()

    pages = [record.url for record in found if record.outcome.reason == "ok"]
    assert pages == [f"{site.url}0"]


def test_robots_txt_that_no_worker_can_fetch_fails_the_url(site, crawl_shared):
    site.resets = lambda path: True

    (record,) = crawl_shared(site.url, robots=True).reader.records()

    assert record.outcome.reason == "connection_closed"
    assert record.outcome.error.startswith("robots.txt: ")
    assert record.tries == 2
    assert set(site.paths) == {"/robots.txt"} and len(site.paths) <= 3


@pytest.fixture
def begun(monkeypatch):
    """Return the times at which fetches begin, as their workers have them."""
    times = []
    begin = HostStates.begin_fetch

    def note(self, host, now):
        times.append(now)
        return begin(self, host, now)

    monkeypatch.setattr(HostStates, "begin_fetch", note)
    return times


@pytest.mark.parametrize("buffered", [0, 10])
@pytest.mark.parametrize(
    ("delay", "options"), [("", {"host_gap_s": 0.04}), ("Crawl-delay: 0.04", {})]
)
def test_gap_between_fetches_is_that_of_one_worker(
    site, crawl_shared, begun, buffered, delay, options
):
    site.answer("/robots.txt", f"User-agent: *\n{delay}\nDisallow: /1".encode())
    site.page("/", *PATHS)
    site.pages(*PATHS)

    shared = crawl_shared(
        site.url,
        4,
        buffered=buffered,
        gap_s=options.get("host_gap_s", 0.0),
        robots=True,
        **options,
    )

    allowed = {path for path in PATHS if not path.startswith("/1")}
    assert sorted(site.paths) == sorted(["/robots.txt", "/", *allowed])
    assert shared.reader.is_drained()
    # Before robots.txt is read, its delay is not known.
    waits = [after - before for before, after in itertools.pairwise(begun)]
    assert min(waits[bool(delay) :]) >= 0.04


def test_gap_that_one_worker_learns_is_known_to_the_others(workers):
    one, two = workers(gap_s=10.0), workers()
    one.add([found("x"), found("y"), found("z")])
    assert one.claim(0.0, LEASE_S) is not None
    assert two.claim(0.0, LEASE_S) is None

    HostUpdates(one).gap_changed("a.test", 0.0)
    one.settle()

    assert two.claim(0.0, LEASE_S) is not None


def test_gap_of_a_slow_host_is_longer_for_all_workers(site, crawl_shared, begun):
    class SlowOnce(HttpFetcher):
        @gen.coroutine
        def fetch(self, request):
            fetched = yield super().fetch(request)
            fetched.took_s = 0.3 if len(begun) == 1 else 0.0
            return fetched

    site.page("/", "/a", "/b")
    site.pages("/a", "/b")

    crawl_shared(site.url, gap_s=0.01, host_gap_s=0.01, fetcher=SlowOnce)

    assert begun[2] - begun[1] >= 0.3


@pytest.mark.parametrize("robots", [True, False])
def test_limit_of_fetches_from_a_host_is_that_of_all_workers(
    site, crawl_shared, robots
):
    site.page("/", *PATHS)
    site.pages(*PATHS)
    for path in PATHS:
        site.hold(path)
    released = site.let_go_when(at_once=3)

    shared = crawl_shared(site.url, 4, robots=robots, per_host=3, concurrency=5)

    assert released.done() and site.most_at_once == 3
    assert shared.reader.count(State.DONE) == 1 + len(PATHS)
    assert site.paths.count("/robots.txt") == robots


@pytest.mark.parametrize(("bad", "outages"), [(3, 3), (99, 7)])
def test_outage_is_waited_out_by_all_workers_together(site, crawl_shared, bad, outages):
    fetched = itertools.count()

    class OutageFetcher(HttpFetcher):
        @gen.coroutine
        def fetch(self, request):
            if next(fetched) in range(2, 2 + bad):
                raise FetchError(Reason.CONNECTION_REFUSED, "Connection refused")
            return (yield super().fetch(request))

    site.page("/", "/a", "/b")
    site.pages("/a", "/b")

    shared = crawl_shared(
        site.url, fetcher=OutageFetcher, concurrency=1, retry_pause_s=0.001
    )

    ends = [(each.state, each.tries) for each in shared.reader.records()]
    last = (State.DONE, 0) if bad == outages else (State.FAILED, 2)
    assert ends == [(State.DONE, 0), (State.DONE, 0), last]
    assert shared.total("outages") == outages
