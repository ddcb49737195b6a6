"""The robots.txt cache: responses of every kind, retries, expiry, concurrent callers."""

import asyncio
import gc
import itertools
import weakref
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.base.errors import ArchiveError, FetchError
from crawler_app.base.models import Fetched
from crawler_app.web.robots.cache import RobotsCache
from crawler_app.web.robots.rules import Rules
from gencoro import gen

USER_AGENT = "gencoro-crawler/0.1 (+mailto:me@a.test)"
A_DAY_S = 24 * 3600.0

PAGE, PRIVATE = "http://a.test/page", "http://a.test/private"
ELSEWHERE = "http://b.test/private"
ROBOTS_TXT = "http://a.test/robots.txt"
RULES = b"User-agent: *\nDisallow: /private\n"


class Web:
    """Responds in the same way on every origin, and counts requests.

    Attributes:
        status, body, headers: Those of robots.txt.
        redirects: The Location of each path that redirects; None for no such header.
        error: Raised by every fetch.
        requests: The requested URLs.
        cancelled: Set when a fetch is cancelled.
        gate: Responses wait until it is open.
    """

    def __init__(self):
        self.status, self.body, self.headers = 200, RULES, {}
        self.redirects = {}
        self.error = None
        self.requests = []
        self.cancelled = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    @gen.coroutine
    def fetch(self, url):
        self.requests.append(url)
        try:
            yield self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if self.error is not None:
            raise self.error
        path = urlsplit(url).path
        if path not in self.redirects:
            return Fetched(url, self.status, self.headers, self.body, 0.1)
        location = self.redirects[path]
        headers = {} if location is None else {"Location": location}
        return Fetched(url, 302, headers, b"", 0.1)


@pytest.fixture
def web(io_loop):
    return Web()


@pytest.fixture
def cache(web, clock):
    return RobotsCache(web.fetch, USER_AGENT, clock=clock)


@gen.coroutine
def test_rules_are_fetched_once(cache, web):
    assert cache.known(PAGE) is None

    rules = yield cache.ask(PAGE)

    assert (rules.allows(PAGE), rules.allows(PRIVATE)) == (True, False)
    assert cache.known(PRIVATE) is rules
    assert cache.known(ELSEWHERE) is None
    assert (yield cache.ask(PRIVATE)) is rules
    assert web.requests == [ROBOTS_TXT]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451, 300, 305])
@gen.coroutine
def test_everything_is_allowed_without_a_file(cache, web, status):
    web.status = status  # 2.3.1.3: unavailable

    assert (yield cache.ask(PRIVATE)) == Rules()
    assert Rules().allows(PRIVATE)


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 599, 429, 304])
@gen.coroutine
def test_nothing_is_allowed_while_the_server_fails(cache, web, status):
    web.status = status  # 2.3.1.4: unreachable
    web.headers = {"Location": "/moved"}  # which a 304 may have too

    rules = yield cache.ask(PAGE)

    assert rules.is_unreachable
    assert rules.retry_at == 1.0
    assert not rules.allows(PAGE)
    assert rules.allows(f"{ROBOTS_TXT}?x")
    assert len(web.requests) == 1


@pytest.mark.parametrize(
    ("status", "body", "is_allowed"),
    [
        *((status, RULES, False) for status in (200, 201, 203, 206)),
        (204, b"", True),
        (200, b"<!doctype html><title>Not found</title>" * 1000, True),
    ],
)
@gen.coroutine
def test_any_success_has_the_rules_of_its_body(cache, web, status, body, is_allowed):
    web.status, web.body = status, body

    assert (yield cache.ask(PRIVATE)).allows(PRIVATE) is is_allowed


# Redirects: 2.3.1.2.


@pytest.mark.parametrize(("hops", "is_read"), [(1, True), (5, True), (6, False)])
@gen.coroutine
def test_redirects_are_followed(cache, web, hops, is_read):
    paths = ["/robots.txt", *(f"/r{i}" for i in range(hops))]
    web.redirects = dict(itertools.pairwise(paths))

    rules = yield cache.ask(PRIVATE)

    assert rules.allows(PRIVATE) is not is_read
    assert web.requests == [f"http://a.test{path}" for path in paths[:6]]


@gen.coroutine
def test_redirected_rules_belong_to_the_original_origin(cache, web):
    web.redirects["/robots.txt"] = f"{ELSEWHERE}/caf\u00c3\u00a9"

    rules = yield cache.ask(PRIVATE)

    assert not rules.allows(PRIVATE)
    assert cache.known(ELSEWHERE) is None
    assert web.requests == [ROBOTS_TXT, f"{ELSEWHERE}/caf%C3%A9"]


@pytest.mark.parametrize(
    ("location", "requests"),
    [
        (None, 1),
        ("", 1),
        ("ftp://a.test/", 1),
        ("http://[", 1),
        ("//", 1),
        ("/robots.txt", 6),
    ],
)
@gen.coroutine
def test_redirect_without_a_target_means_no_file(cache, web, location, requests):
    web.redirects["/robots.txt"] = location

    assert (yield cache.ask(PRIVATE)) == Rules()
    assert len(web.requests) == requests


@pytest.mark.parametrize(("status", "is_allowed"), [(404, True), (500, False)])
@gen.coroutine
def test_status_after_a_redirect_counts(cache, web, status, is_allowed):
    web.redirects["/robots.txt"] = "/moved"
    web.status = status

    assert (yield cache.ask(PRIVATE)).allows(PRIVATE) is is_allowed


# No response: 2.3.1.4.

PASSING = ["dns", "refused", "network", "timeout", "connection_closed"]
LASTING = ["tls", "too_large", "bad_response", "bad_request"]


@pytest.mark.parametrize(
    ("reason", "is_passing"),
    [*((each, True) for each in PASSING), *((each, False) for each in LASTING)],
)
@gen.coroutine
def test_any_error_disallows_everything(cache, web, reason, is_passing):
    web.error = FetchError(reason, "it failed")

    rules = yield cache.ask(PAGE)

    assert rules.is_unreachable
    assert rules.error.reason == reason
    assert rules.retry_at == (1.0 if is_passing else None)
    assert not rules.allows(PAGE)


@gen.coroutine
def test_missing_response_keeps_no_exchange_alive():
    class Body:
        """An object in a frame of the fetcher."""

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
def test_internal_error_is_raised_and_not_cached(cache, web):
    web.error = ArchiveError("the disk is full")
    answers = [cache.ask(PAGE) for _ in range(2)]

    for answer in answers:
        with pytest.raises(ArchiveError):
            yield answer
    web.error = None
    assert (yield cache.ask(PAGE)).allows(PAGE)


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
def test_any_response_is_accepted(status, headers, body, reason):
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
def test_rules_are_fetched_again_after_a_day(cache, web, clock):
    yield cache.ask(PRIVATE)
    web.body = b""

    clock.now += A_DAY_S - 60
    assert not cache.known(PRIVATE).allows(PRIVATE)
    clock.now += 60
    assert cache.known(PRIVATE) is None

    assert (yield cache.ask(PRIVATE)).allows(PRIVATE)
    assert len(web.requests) == 2


@gen.coroutine
def test_old_rules_are_used_while_the_server_fails(cache, web, clock):
    rules = yield cache.ask(PRIVATE)
    web.status = 503
    clock.now += A_DAY_S

    assert (yield cache.ask(PRIVATE)) is rules  # 2.4
    assert cache.known(PRIVATE) is rules
    clock.now += 1.0
    assert cache.known(PRIVATE) is None

    web.status, web.body = 200, b""
    assert (yield cache.ask(PRIVATE)).allows(PRIVATE)


@gen.coroutine
def test_failing_server_is_asked_less_and_less_often(cache, web, clock):
    web.status = 500
    pauses = []
    while (rules := (yield cache.ask(PAGE))).retry_at is not None:
        assert cache.known(PAGE) is rules
        pauses.append(rules.retry_at - clock.now)
        clock.now += pauses[-1]
        assert cache.known(PAGE) is None

    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    assert rules.is_unreachable
    assert len(web.requests) == 8
    assert cache.known(PAGE) is rules

    clock.now += A_DAY_S
    assert (yield cache.ask(PAGE)).retry_at is None
    assert len(web.requests) == 9


@gen.coroutine
def test_pauses_restart_after_a_response(cache, web, clock):
    web.status = 500
    yield cache.ask(PAGE)
    clock.now += 1.0
    web.status = 404
    yield cache.ask(PAGE)
    clock.now += A_DAY_S
    web.status = 500

    yield cache.ask(PAGE)
    clock.now += 1.0

    assert cache.known(PAGE) is None


@pytest.mark.parametrize(
    ("first_pause_s", "retry_after", "pause_s"),
    [(1.0, "120", 120.0), (1.0, "0", 1.0), (1.0, "soon", 1.0), (0.25, "", 0.25)],
)
@gen.coroutine
def test_first_pause_is_the_longer_one(web, clock, first_pause_s, retry_after, pause_s):
    cache = RobotsCache(web.fetch, USER_AGENT, first_pause_s, clock)
    web.status, web.headers = 429, {"Retry-After": retry_after}

    assert (yield cache.ask(PAGE)).retry_at == pause_s


# Concurrent callers.


@gen.coroutine
def test_fifty_callers_share_one_fetch(cache, web):
    web.gate.clear()
    answers = [cache.ask(PAGE if i % 2 else PRIVATE) for i in range(50)]
    yield gen.moment
    answers.append(cache.ask(PAGE))
    web.gate.set()

    rules = yield answers

    assert len(set(map(id, rules))) == 1
    assert not rules[0].allows(PRIVATE)
    assert web.requests == [ROBOTS_TXT]


@gen.coroutine
def test_cancelled_callers_do_not_affect_others(cache, web):
    web.gate.clear()
    answers = [cache.ask(PAGE) for _ in range(3)]

    answers[0].cancel()
    answers[2].cancel()
    yield gen.moment
    web.gate.set()

    assert (yield answers[1]).allows(PAGE)
    assert len(web.requests) == 1


@gen.coroutine
def test_fetch_is_cancelled_with_the_last_caller(cache, web):
    @gen.coroutine
    def asks():
        yield cache.ask(PAGE)

    web.gate.clear()
    answers = [cache.ask(PAGE), cache.ask(PAGE), asks()]

    for answer in answers:
        answer.cancel()
    yield web.cancelled.wait()
    with pytest.raises(asyncio.CancelledError):
        yield answers[2]

    assert cache.known(PAGE) is None
    web.gate.set()
    assert (yield cache.ask(PAGE)).allows(PAGE)
    assert len(web.requests) == 2


@gen.coroutine
def test_new_caller_during_a_cancellation_starts_another_fetch():
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


# The size of the cache.


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
        (1, "b", "b"),  # one origin is kept with any number of rules
        (12, "baaaaa", "b"),  # asking repeatedly drops no other
    ],
)
@gen.coroutine
def test_oldest_origins_are_forgotten_beyond_the_limit(
    ten_rules, monkeypatch, most, asked, kept
):
    monkeypatch.setattr("crawler_app.web.robots.cache.MAX_KEPT", most)

    for name in asked:
        yield ten_rules.ask(f"http://{name}.test/")

    origins = sorted(set(asked) - {"a"})
    known = [name for name in origins if ten_rules.known(f"http://{name}.test/")]
    assert known == list(kept)
