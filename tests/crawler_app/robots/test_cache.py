"""The cache of robots.txt: servers of every kind, one fetch of each, time."""

import asyncio
import gc
import itertools
import socket
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tornado.web import Application, RequestHandler

from crawler_app import robots
from crawler_app.config import CrawlConfig
from crawler_app.errors import ArchiveError, FetchError
from crawler_app.fetcher import HttpFetcher
from crawler_app.models import Fetched
from crawler_app.robots import RobotsCache
from crawler_app.robots.rules import Rules
from gencoro import gen

pytestmark = pytest.mark.usefixtures("no_socket_is_left")

USER_AGENT = "gencoro-crawler/0.1 (+mailto:me@a.test)"
A_DAY_S = 24 * 3600.0


class Site:
    """Answers on two origins, and counts.

    Attributes:
        status, body, headers: What robots.txt is.
        requests: The hosts and paths that were asked for.
        gate: Until it is open, no answer is sent.
    """

    def __init__(self):
        self.status, self.body, self.headers = 200, b"", {}
        self.redirects = {}
        self.requests = []
        self.came = asyncio.Event()
        self.left = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()


class Handler(RequestHandler):
    async def get(self):
        site = self.settings["site"]
        site.requests.append(self.request.host.partition(":")[0] + self.request.path)
        site.came.set()
        await site.gate.wait()
        if self.request.path in site.redirects:
            self.set_status(302)
            location = site.redirects[self.request.path]
            if location is not None:
                self.set_header("Location", location)
            return
        self.set_status(site.status, "Reason")
        for name, value in site.headers.items():
            self.set_header(name, value)
        if site.status not in (204, 304):
            self.write(site.body)

    def on_connection_close(self):
        self.settings["site"].left.set()

    def log_exception(self, *exc_info):
        pass


@pytest.fixture
def site(io_loop):
    site = Site()
    site.body = b"User-agent: *\nDisallow: /private\n"
    yield site
    site.gate.set()


@pytest.fixture
def app(site):
    return Application([(".*", Handler)], site=site, log_function=lambda handler: None)


@pytest.fixture
def fetcher(io_loop):
    config = CrawlConfig(("http://127.0.0.1/",), max_body_bytes=100_000)
    fetcher = HttpFetcher(config)
    yield fetcher
    fetcher.close()


@pytest.fixture
def cache(fetcher, virtual_clock):
    return RobotsCache(fetcher.fetch, USER_AGENT, clock=virtual_clock.time)


@pytest.fixture
def page(base_url):
    return f"{base_url}/page"


@pytest.fixture
def private(base_url):
    return f"{base_url}/private"


@gen.coroutine
def test_rules_are_fetched_and_known_from_then_on(cache, site, page, private):
    assert cache.known(page) is None

    rules = yield cache.ask(page)

    assert (rules.allows(page), rules.allows(private)) == (True, False)
    assert cache.known(private) is rules
    assert (yield cache.ask(private)) is rules
    assert site.requests == ["127.0.0.1/robots.txt"]


@gen.coroutine
def test_origins_have_rules_of_their_own(cache, site, page):
    elsewhere = page.replace("127.0.0.1", "localhost")
    yield cache.ask(page)

    assert cache.known(elsewhere) is None
    yield cache.ask(elsewhere)

    assert site.requests == ["127.0.0.1/robots.txt", "localhost/robots.txt"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451, 300, 305])
@gen.coroutine
def test_everything_is_allowed_without_a_file(cache, site, private, status):
    site.status = status  # 2.3.1.3: unavailable

    rules = yield cache.ask(private)

    assert rules == Rules()
    assert rules.allows(private)


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 599, 429, 304])
@gen.coroutine
def test_nothing_is_allowed_while_the_server_fails(cache, site, page, status):
    site.status = status  # 2.3.1.4: unreachable
    site.headers = {"Location": "/moved"}  # which a 304 may have too

    rules = yield cache.ask(page)

    assert rules.is_unreachable
    assert rules.retry_at == 1.0
    assert not rules.allows(page)
    assert rules.allows(page.replace("page", "robots.txt?x"))
    assert len(site.requests) == 1


@pytest.mark.parametrize("status", [200, 201, 203, 206])
@gen.coroutine
def test_any_success_has_rules(cache, site, private, status):
    site.status = status

    assert not (yield cache.ask(private)).allows(private)


@pytest.mark.parametrize(
    ("status", "body"),
    [(204, b""), (200, b"<!doctype html><title>Not found</title>" * 1000)],
)
@gen.coroutine
def test_answer_without_rules_allows_everything(cache, site, private, status, body):
    site.status, site.body = status, body

    assert (yield cache.ask(private)).allows(private)


# Redirects: 2.3.1.2.


@pytest.mark.parametrize(("hops", "is_read"), [(1, True), (5, True), (6, False)])
@gen.coroutine
def test_redirects_are_followed(cache, site, private, hops, is_read):
    paths = ["/robots.txt", *(f"/r{i}" for i in range(hops))]
    site.redirects = dict(itertools.pairwise(paths))

    rules = yield cache.ask(private)

    assert rules.allows(private) is not is_read
    assert site.requests == [f"127.0.0.1{path}" for path in paths[:6]]


@gen.coroutine
def test_rules_from_another_host_are_those_of_the_origin_asked(cache, site, private):
    elsewhere = private.replace("127.0.0.1", "localhost")
    site.redirects["/robots.txt"] = f"{elsewhere}/caf\u00e9".encode()

    rules = yield cache.ask(private)

    assert not rules.allows(private)
    assert cache.known(elsewhere) is None
    assert site.requests == ["127.0.0.1/robots.txt", "localhost/private/caf%C3%A9"]


@pytest.mark.parametrize(
    ("location", "requests"),
    [
        (None, 1),
        ("", 1),
        ("ftp://a.test/", 1),
        ("http://[", 1),
        ("//", 6),
        ("/robots.txt", 6),
    ],
)
@gen.coroutine
def test_redirect_that_leads_nowhere_is_no_file(
    cache, site, private, location, requests
):
    site.redirects["/robots.txt"] = location

    assert (yield cache.ask(private)) == Rules()
    assert len(site.requests) == requests


@pytest.mark.parametrize(("status", "is_allowed"), [(404, True), (500, False)])
@gen.coroutine
def test_status_behind_a_redirect_counts(cache, site, private, status, is_allowed):
    site.redirects["/robots.txt"] = "/moved"
    site.status = status

    assert (yield cache.ask(private)).allows(private) is is_allowed


# No answer: 2.3.1.4.


@gen.coroutine
def test_refused_connection_is_asked_again(cache):
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/"

        rules = yield cache.ask(url)

    assert (rules.is_unreachable, rules.retry_at) == (True, 1.0)
    assert not rules.allows(url)


@gen.coroutine
def test_file_beyond_the_size_limit_is_unreachable_for_good(cache, site, page):
    site.body = b"#" * 100_001

    rules = yield cache.ask(page)

    assert (rules.is_unreachable, rules.retry_at) == (True, None)


PASSING = ["dns", "refused", "network", "timeout", "connection_closed"]
LASTING = ["tls", "too_large", "bad_response", "bad_request"]


@pytest.mark.parametrize(
    ("reason", "is_passing"),
    [*((each, True) for each in PASSING), *((each, False) for each in LASTING)],
)
@gen.coroutine
def test_whatever_goes_wrong_nothing_is_allowed(reason, is_passing):
    @gen.coroutine
    def fetch(url):
        raise FetchError(reason, "it failed")

    cache = RobotsCache(fetch, USER_AGENT, clock=lambda: 10.0)
    rules = yield cache.ask("http://a.test/")

    assert rules.is_unreachable
    assert rules.error.reason == reason
    assert rules.retry_at == (11.0 if is_passing else None)
    assert not rules.allows("http://a.test/")


@gen.coroutine
def test_missing_answer_keeps_nothing_of_the_exchange_alive():
    class Body:
        """What a frame of the fetcher had in hand."""

    bodies = weakref.WeakSet()

    @gen.coroutine
    def fetch(url):
        body = Body()
        bodies.add(body)
        try:
            raise ConnectionResetError("in the middle")
        except ConnectionResetError as exc:
            raise FetchError("tls", "lost") from exc

    rules = yield RobotsCache(fetch, USER_AGENT).ask("http://a.test/")
    gc.collect()

    assert (rules.error.reason, str(rules.error)) == ("tls", "lost")
    assert not rules.error.is_passing
    assert not bodies


@gen.coroutine
def test_fault_that_is_no_answer_reaches_whoever_asks_and_is_not_kept():
    faults = [ArchiveError("the disk is full")]

    @gen.coroutine
    def fetch(url):
        yield gen.moment
        if faults:
            raise faults.pop()
        return Fetched(url, 404, {}, b"", 0.1)

    cache = RobotsCache(fetch, USER_AGENT)
    answers = [cache.ask("http://a.test/") for _ in range(2)]

    for answer in answers:
        with pytest.raises(ArchiveError):
            yield answer
    assert (yield cache.ask("http://a.test/")) == Rules()


HEADERS = st.dictionaries(
    st.sampled_from(["Location", "Retry-After"]),
    st.text(st.characters(max_codepoint=255)),
)


@given(
    st.integers(-1, 1000),
    HEADERS,
    st.binary(),
    st.sampled_from([*PASSING, *LASTING, *([""] * 9)]),
)
@gen.coroutine
def test_no_answer_makes_the_cache_raise(status, headers, body, reason):
    @gen.coroutine
    def fetch(url):
        if reason:
            raise FetchError(reason, "it failed")
        lookup = {"Location": "", **headers}
        return Fetched(url, status, lookup, body, 0.1)

    cache = RobotsCache(fetch, USER_AGENT)
    rules = yield cache.ask("http://a.test/x")

    assert isinstance(rules, Rules)
    assert rules.allows("http://a.test/robots.txt")
    assert rules.allows("http://a.test/x") in (True, False)


# Later.


@gen.coroutine
def test_rules_are_fetched_anew_after_a_day(cache, site, private, virtual_clock):
    yield cache.ask(private)
    asked_at = virtual_clock.time()
    site.body = b""

    yield virtual_clock.advance(A_DAY_S - 60)
    assert not cache.known(private).allows(private)
    yield virtual_clock.advance(asked_at + A_DAY_S - virtual_clock.time())
    assert cache.known(private) is None

    assert (yield cache.ask(private)).allows(private)
    assert len(site.requests) == 2


@gen.coroutine
def test_old_rules_go_on_while_the_server_fails(cache, site, private, virtual_clock):
    rules = yield cache.ask(private)
    site.status = 503
    yield virtual_clock.advance(A_DAY_S)

    assert (yield cache.ask(private)) is rules  # 2.4
    assert cache.known(private) is rules
    yield virtual_clock.advance(1.0)
    assert cache.known(private) is None

    site.status, site.body = 200, b""
    assert (yield cache.ask(private)).allows(private)


@gen.coroutine
def test_failing_server_is_asked_ever_less_and_then_not(
    cache, site, page, virtual_clock
):
    site.status = 500
    pauses = []
    while (rules := (yield cache.ask(page))).retry_at is not None:
        assert cache.known(page) is rules
        pauses.append(rules.retry_at - virtual_clock.time())
        yield virtual_clock.advance(pauses[-1])
        assert cache.known(page) is None

    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    assert rules.is_unreachable
    assert len(site.requests) == 8
    assert cache.known(page) is rules

    yield virtual_clock.advance(A_DAY_S)
    assert (yield cache.ask(page)).retry_at is None
    assert len(site.requests) == 9


@gen.coroutine
def test_pauses_begin_anew_after_an_answer(cache, site, page, virtual_clock):
    site.status = 500
    yield cache.ask(page)
    yield virtual_clock.advance(1.0)
    site.status = 404
    yield cache.ask(page)
    yield virtual_clock.advance(A_DAY_S)
    site.status = 500

    yield cache.ask(page)
    yield virtual_clock.advance(1.0)

    assert cache.known(page) is None


@pytest.mark.parametrize(
    ("first_pause_s", "retry_after", "pause_s"),
    [(1.0, "120", 120.0), (1.0, "0", 1.0), (1.0, "soon", 1.0), (0.25, "", 0.25)],
)
@gen.coroutine
def test_first_pause_is_the_longer_of_ours_and_the_servers(
    fetcher, site, page, virtual_clock, first_pause_s, retry_after, pause_s
):
    cache = RobotsCache(fetcher.fetch, USER_AGENT, first_pause_s, virtual_clock.time)
    site.status, site.headers = 429, {"Retry-After": retry_after}

    assert (yield cache.ask(page)).retry_at == pause_s


# Many callers.


@gen.coroutine
def test_fifty_callers_are_one_fetch(cache, site, page, private):
    site.gate.clear()
    answers = [cache.ask(page if i % 2 else private) for i in range(50)]
    yield site.came.wait()
    answers.append(cache.ask(page))
    site.gate.set()

    rules = yield answers

    assert len(set(map(id, rules))) == 1
    assert not rules[0].allows(private)
    assert site.requests == ["127.0.0.1/robots.txt"]


@gen.coroutine
def test_cancelled_callers_leave_the_others_alone(cache, site, page):
    site.gate.clear()
    answers = [cache.ask(page) for _ in range(3)]
    yield site.came.wait()

    answers[0].cancel()
    answers[2].cancel()
    yield gen.moment
    site.gate.set()

    assert (yield answers[1]).allows(page)
    assert len(site.requests) == 1


@gen.coroutine
def test_fetch_is_cancelled_with_the_last_caller(cache, site, page):
    @gen.coroutine
    def asks():
        yield cache.ask(page)

    site.gate.clear()
    answers = [cache.ask(page), cache.ask(page), asks()]
    yield site.came.wait()

    for answer in answers:
        answer.cancel()
    yield site.left.wait()
    with pytest.raises(asyncio.CancelledError):
        yield answers[2]

    assert cache.known(page) is None
    site.gate.set()
    assert (yield cache.ask(page)).allows(page)
    assert len(site.requests) == 2


@gen.coroutine
def test_asking_while_the_fetch_is_being_cancelled_begins_another():
    fetches = []

    @gen.coroutine
    def fetch(url):
        fetches.append(url)
        try:
            yield gate.wait()
        finally:
            yield end_gate.wait()
        return Fetched(url, 404, {}, b"", 0.1)

    gate, end_gate = asyncio.Event(), asyncio.Event()
    cache = RobotsCache(fetch, USER_AGENT)
    first = cache.ask("http://a.test/")
    first.cancel()
    yield gen.moment
    second = cache.ask("http://a.test/")
    end_gate.set()
    for _ in range(9):  # until the first fetch has ended
        yield gen.moment
    third = cache.ask("http://a.test/")
    gate.set()

    assert (yield [second, third]) == [Rules(), Rules()]
    assert first.cancelled()
    assert len(fetches) == 2


# What is kept.


@pytest.fixture
def ten_rules():
    """A cache of sites with ten lines of rules each; that of a.test does not answer."""
    now = itertools.count(step=1000)

    @gen.coroutine
    def fetch(url):
        if "//a." in url:
            raise FetchError("timeout", "it failed")
        return Fetched(url, 200, {}, b"User-agent: *\n" + b"Disallow: /a\n" * 9, 0.1)

    return RobotsCache(fetch, USER_AGENT, clock=lambda: float(next(now)))


@pytest.mark.parametrize(
    ("most", "asked", "kept"),
    [
        (30, "bcdef", "def"),  # the oldest are forgotten
        (1, "b", "b"),  # one origin is kept however many rules it has
        (12, "baaaaa", "b"),  # asking again and again forgets no other
    ],
)
@gen.coroutine
def test_oldest_origins_are_forgotten_beyond_the_limit(
    ten_rules, monkeypatch, most, asked, kept
):
    monkeypatch.setattr(robots, "MAX_KEPT", most)

    for name in asked:
        yield ten_rules.ask(f"http://{name}.test/")

    origins = sorted(set(asked) - {"a"})
    known = [name for name in origins if ten_rules.known(f"http://{name}.test/")]
    assert known == list(kept)
