"""Several workers share a frontier in PostgreSQL, and any of them may end at any time."""

import asyncio
import collections
import contextlib
import json
import random

import asyncpg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from crawler_app.base.errors import LeaseLostError
from crawler_app.base.models import Candidate, Outcome, Role, State
from crawler_app.base.urls import dedup_key, host_of
from crawler_app.store.frontier.count_types import RANKED
from crawler_app.store.frontier.postgres import blocking_reader, worker_state
from crawler_app.store.frontier.postgres.blocking_reader import (
    ENDED,
    FIND,
    SLOWEST,
    PostgresReader,
)
from crawler_app.store.frontier.postgres.caches import OriginNews
from crawler_app.store.frontier.postgres.location import StoreLocation
from crawler_app.store.frontier.postgres.postgres_frontier import PostgresFrontier
from crawler_app.store.frontier.postgres.step_changes import digest_of
from crawler_app.store.frontier.postgres.step_sender import ALIVE_S, StepSender
from crawler_app.store.frontier.postgres.worker_state import (
    FrontierObserver,
    LeaseRules,
)
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.fuzzing import examples
from tests.helpers.postgres import (
    LEASE_S,
    PAGE,
    SteppedFrontier,
    found,
    make_crawl,
    paths,
    run_sql,
)

# What is kept across all workers.

LEASE_TWO = """
INSERT INTO claim SELECT nextval('claim_token'), id, 9e9, 1, host_id, 0, 0, 0, 0
FROM queue LIMIT 2
"""


def test_gap_is_kept_across_workers(workers):
    one, two = workers(gap_s=10.0), workers()
    one.add([found(n) for n in range(5)] + [found("x", host="b.test")])

    first = one.claim(0.0, LEASE_S)
    assert paths([first, two.claim(0.0, LEASE_S)]) == ["0", "x"]
    # Only its worker knows when the fetch begins.
    assert two.claim(9.0, LEASE_S) is None
    one.hold_host("a.test", 19.0)
    assert two.claim(18.5, LEASE_S) is None
    assert two.next_at(18.5) == 19.0
    second = two.claim(19.0, LEASE_S)
    assert paths([second, one.claim(20.0, LEASE_S)]) == ["1", None]
    # A claim that ends without a fetch leaves no gap.
    two.finish(second, Outcome(State.EXCLUDED, "robots"), 20.0)
    assert paths([one.claim(20.0, LEASE_S)]) == ["2"]

    two.set_gap("a.test", 0.0)
    two.settle()
    assert paths([two.claim(20.0, LEASE_S), one.claim(20.0, LEASE_S)]) == ["3", "4"]


def test_gap_is_kept_after_a_worker_that_dies(workers):
    dead, other = workers(gap_s=50.0), workers()
    dead.add([found("x")])
    dead.claim(0.0, LEASE_S)

    assert other.claim(ALIVE_S, LEASE_S) is None
    assert other.next_at(ALIVE_S) == ALIVE_S + 50.0


def test_hold_that_another_worker_made_can_be_shortened(workers):
    one, two = workers(gap_s=10.0), workers()
    one.add([found("x"), found("y")])
    one.claim(0.0, LEASE_S)
    one.hold_host("a.test", 10.0)

    two.shorten_hold("a.test", 5.0, 1.0)  # there is another hold, which ends later
    assert two.next_at(0.0) == 10.0
    two.skew_s = 0.5
    two.shorten_hold("a.test", 10.0, 5.0)
    two.skew_s = 0.0
    assert paths([two.claim(4.0, LEASE_S), two.claim(5.0, LEASE_S)]) == [None, "y"]


def test_per_host_limit_and_holds_apply_across_workers(workers):
    one, two = workers(), workers()
    for worker in (one, two):
        worker.limit_hosts(2)
    one.add([found(n) for n in range(4)])
    first, second = one.claim(0.0, LEASE_S), two.claim(0.0, LEASE_S)

    assert one.claim(0.0, LEASE_S) is None is two.claim(0.0, LEASE_S)
    two.finish(second, PAGE, 1.0)
    one.hold_host("a.test", 5.0)
    assert two.claim(4.0, LEASE_S) is None
    assert paths([two.claim(5.0, LEASE_S), one.claim(5.0, LEASE_S)]) == ["2", None]
    one.release(first)
    assert paths([two.claim(5.0, LEASE_S)]) == ["0"]


def test_url_waiting_for_its_level_does_not_count_for_its_host(workers):
    one, two = workers(), workers()
    for worker in (one, two):
        worker.limit_hosts(1)
    two._state.buffered = 2
    one.add([found("deep", depth=4), found("deep", depth=4, host="b.test")])
    assert two.claim(0.0, LEASE_S).host == "a.test"  # and the other waits

    one.add([found("late", depth=3, host="b.test")])
    assert one.claim(0.0, LEASE_S, 3) is None

    assert paths([two.claim(0.0, LEASE_S, 3)]) == ["late"]


def test_worker_that_is_held_leaves_its_urls_to_others(workers):
    one, two = workers(), workers()
    one._state.buffered = 3
    one.add([found(number) for number in range(3)])
    assert paths([one.claim(0.0, LEASE_S), two.claim(0.0, LEASE_S)]) == ["0", None]

    one.hold(True)
    one.settle()

    assert paths([two.claim(0.0, LEASE_S), one.claim(0.0, LEASE_S)]) == ["1", None]
    one.hold(False)
    assert paths([one.claim(0.0, LEASE_S)]) == ["2"]


def test_one_url_of_a_host_is_leased_while_it_is_unknown_or_down(workers):
    one, two = workers(), workers()
    one._state.rules = LeaseRules(asks_robots=True)
    one.add([found(n) for n in range(9)])

    def claimed():
        """Let both claim twice; return which had a claim, and give them back."""
        claims = [(w, w.claim(one.now, LEASE_S)) for w in (one, two, one, two)]
        for worker, claim in claims:
            if claim is not None:
                worker.release(claim)
        return [claim is not None for _, claim in claims]

    assert claimed() == [True, False, False, False]
    two.note_robots("http://a.test", {"body": ""}, until=20.0)
    two.settle()
    assert claimed() == [True] * 4
    one.note_pauses("http://a.test", 1, is_down=True)
    one.settle()
    assert claimed() == [True, False, False, False]
    two.note_pauses("http://a.test", 0, is_down=False)
    two.settle()
    assert claimed() == [True] * 4
    one.now = 20.0
    assert claimed() == [True, False, False, False]

    # More are under way than may be.
    one.now = 0.0
    held = [two.claim(0.0, LEASE_S) for _ in "ab"]
    one.note_pauses("http://a.test", 1, is_down=True)
    one.settle()
    assert held[1] is not None and claimed() == [False] * 4


def test_limit_of_pages_is_counted_once_for_all_workers(workers):
    one, two = workers(max_pages=3), workers()
    one.add([found(n) for n in range(9)] + [found("image", role=Role.ASSET)] * 2)
    claims = [worker.claim(0.0, LEASE_S) for worker in (one, two, one, two, one)]

    assert paths(claims) == ["image", "0", "1", "2", None]
    assert one.limit_reached == "max_pages"
    two.finish(claims[1], Outcome(State.EXCLUDED, "robots"), 1.0)
    two.release(claims[3])
    one.finish(claims[2], PAGE, 1.0)
    assert paths([one.claim(1.0, LEASE_S), one.claim(1.0, LEASE_S)]) == ["2", "3"]
    assert two.claim(1.0, LEASE_S) is None


def test_limit_of_pages_is_exact_although_workers_die(postgres_url):
    chosen, now, most = random.Random(1), 0.0, 12
    crowd = [SteppedFrontier.of_new_crawl(postgres_url, max_pages=most)]
    crowd += [crowd[0].another() for _ in range(3)]
    claims = []
    crowd[0].add([found(n) for n in range(20)])
    while True:
        now += 2.0
        index = chosen.randrange(len(crowd))
        worker = crowd[index]
        claim = worker.claim(now, LEASE_S)
        if claim is not None:
            claims.append((worker, claim))
        elif now > 140.0 and not claims:
            break
        if chosen.random() < 0.2 and now < 60.0:
            worker.die()
            crowd[index] = worker.another()
            claims = [each for each in claims if each[0] is not worker]
        if claims and chosen.random() < 0.7:
            holder, ended = claims.pop(chosen.randrange(len(claims)))
            holder.now = now
            with contextlib.suppress(LeaseLostError):
                holder.finish(ended, PAGE, now)

    worker.settle()
    assert worker.count(State.DONE) == most
    assert worker.limit_reached == "max_pages"
    for worker in crowd:
        worker.close()


def test_limit_that_is_set_counts_what_a_step_has_begun(workers, run_sync):
    worker = workers()
    worker.add([found(n) for n in range(3)])
    settings = {"search_path": worker.location.schema}

    @gen.coroutine
    def limit_meanwhile():
        one, two = yield [
            asyncpg.connect(worker.location.url, server_settings=settings) for _ in "12"
        ]
        transaction = one.transaction()
        yield transaction.start()
        yield one.execute("SELECT FROM worker WHERE id = 1 FOR NO KEY UPDATE")
        limiting = two.execute("SELECT frontier_limit('{}', 3, NULL)")
        limiting = gen.convert_yielded(limiting)
        waits = "SELECT FROM pg_locks WHERE NOT granted AND pid = $1"
        while not limiting.done() and not (
            yield one.fetch(waits, two.get_server_pid())
        ):
            yield gen.moment
        yield one.execute(LEASE_TWO)
        yield transaction.commit()
        yield limiting
        left = yield one.fetchval("SELECT pages_left FROM crawl")
        yield [one.close(), two.close()]
        return left

    assert run_sync(limit_meanwhile) == 1


def test_limit_of_bytes_is_counted_once_for_all_workers(workers):
    one, two = workers(max_bytes=150), workers()
    one.add([found(n) for n in range(9)])
    for worker in (one, two):
        worker.finish(worker.claim(0.0, LEASE_S), PAGE, 1.0)

    assert one.claim(1.0, LEASE_S) is None is two.claim(1.0, LEASE_S)
    assert one.limit_reached == two.limit_reached == "max_bytes"


def test_queries_of_a_path_are_counted_once_for_all_workers(workers):
    one, two = workers(), workers()
    one._state.rules = two._state.rules = LeaseRules(max_queries=3)
    one.add([found("?seed"), found("other")])
    seed, other = one.claim(0.0, LEASE_S), two.claim(0.0, LEASE_S)
    refused = Candidate("http://a.test/?out", "a.test", 1, 5, "out_of_scope")
    external = found("?external", 1, role=Role.EXTERNAL)

    one.add([found(f"?{n}", 1) for n in (1, 2)] + [refused, external], seed)
    two.add([found(f"?{n}", 1) for n in (2, 3)], other)
    two.finish(other, PAGE, 1.0, [found(f"?{n}", 1) for n in (4, 1)])
    one.finish(seed, PAGE, 1.0, [found("x?4", 1), found("?4", 1), found(";5", 1)])

    reasons = {each.url: each.outcome.reason for each in one.records(State.EXCLUDED)}
    assert reasons.pop(refused.url) == "out_of_scope"
    assert reasons == {found(n).url: "too_many_queries" for n in ("?4", ";5")}
    counts_are_those_of_the_records(one)


def test_crawl_has_drained_only_when_no_worker_has_anything(workers):
    one, two = workers(), workers()
    one.add([found("x")])
    claim = one.claim(0.0, LEASE_S)
    assert two.claim(0.0, LEASE_S) is None
    assert not two.is_drained()

    one.finish(claim, PAGE, 1.0, [found("y", 1)])
    last = two.claim(1.0, LEASE_S)
    assert one.claim(1.0, LEASE_S) is None and not one.is_drained()
    two.finish(last, PAGE, 2.0)

    assert one.claim(2.0, LEASE_S) is None and one.is_drained()
    assert two.is_drained()


def test_what_is_known_of_an_origin_comes_before_its_claims(workers):
    one, two = workers(), workers()
    news = []

    class Recording(FrontierObserver):
        def origin_learned(self, learned):
            news.append(learned)
            yield from ()

    two.observer = one.observer = Recording()
    one.add([found(n) for n in range(9)] + [found("x", host="b.test")])
    one.note_response("http://a.test", "http://a.test/0")
    one.note_robots("http://a.test", {"body": "x", "pauses": 0}, until=20.0)
    one.note_cookies("http://a.test", {"a": [1.0, "1"], "b": [2.0, "2"]})
    one.settle()

    two.claim(0.0, LEASE_S)
    assert PostgresFrontier.known_url(two, "http://a.test") == "http://a.test/0"
    robots, cookies = {"body": "x", "pauses": 0}, {"a": [1.0, "1"], "b": [2.0, "2"]}
    assert news == [OriginNews("http://a.test", 0, robots, cookies)]
    # It is sent once, and not at all to the worker that it comes from.
    two.claim(0.0, LEASE_S)
    one.claim(0.0, LEASE_S)
    assert len(news) == 1

    # Each tells what has changed, and the newest cookies are kept.
    two.note_cookies("http://a.test", {"a": [1.0, ""]})
    one.note_cookies("http://a.test", {f"c{n}": [3.0, ""] for n in range(49)})
    one.note_robots("http://a.test", {"pauses": 1}, until=30.0)
    for worker in (two, one):
        worker.settle()
        worker.claim(0.0, LEASE_S)
    two.claim(0.0, LEASE_S)
    assert news[1] == news[2]
    assert news[2].robots == {"body": "x", "pauses": 1}
    assert news[2].cookies.keys() == {"b", *(f"c{n}" for n in range(49))}


@pytest.mark.parametrize("skew_s", [60.0, -60.0])
def test_worker_with_a_wrong_clock_uses_the_servers_time(workers, skew_s):
    right, wrong = workers(), workers()
    wrong.skew_s = skew_s
    right.add([found("x")])

    claim = wrong.claim(skew_s, LEASE_S)
    assert claim.lease_ends_at == skew_s + LEASE_S
    wrong.retry(claim, due_at=skew_s + 5.0)
    wrong.hold_host("a.test", skew_s + 10.0)

    assert [right.next_at(0.0), right.next_at(5.0)] == [5.0, None]
    assert right.claim(9.5, LEASE_S) is None and right.next_at(9.5) == 10.0
    assert paths([right.claim(10.0, LEASE_S)]) == ["x"]


def test_numbers_stay_fresh_when_a_clock_is_set_back(workers):
    one, other = workers(), workers()
    one.now = 5_000.0
    one.settle()
    other.add([found("x")])

    one.now = 0.0
    one._loop.run_sync(one.exchange)

    assert one.count(State.QUEUED) == 1


def test_counts_are_asked_for_once_more_after_the_last_change(
    workers, run_sync, monkeypatch
):
    # Of two workers with a change at the same time, neither counts that of the other.
    monkeypatch.setattr(worker_state, "COUNTS_EVERY_S", 0.01)
    monkeypatch.setattr(StepSender, "alive_s", 3600.0)
    other, now = workers(), [1_000.0]
    one = PostgresFrontier(other.location, LeaseRules(), clock=lambda: now[0])

    @gen.coroutine
    def change_at_once():
        yield one.open()
        one.add([found("x")])
        one.flush()
        running = one.run()
        while not one.count(State.QUEUED):
            yield gen.moment
        yield asyncio.to_thread(other.add, [found("y")])
        now[0] += 1.0
        while one.count(State.QUEUED) == 1:
            yield gen.moment
        one.leave()
        yield running

    with contextlib.closing(one):
        run_sync(change_at_once)

    assert one.count(State.QUEUED) == 2


# Workers that go.


def test_urls_of_a_dead_worker_go_to_others_without_a_try(workers):
    one, two = workers(), workers()
    one.add([found("x")])
    claim = one.claim(0.0, LEASE_S)
    assert two.claim(ALIVE_S - 0.5, LEASE_S) is None

    again = two.claim(ALIVE_S, LEASE_S)

    assert (again.url, again.tries) == (claim.url, 0)


def test_urls_of_a_dead_worker_are_free_at_once_if_its_directory_has_another(workers):
    other = workers()
    place = StoreLocation("00000000-0000-0000-0000-00000000000a", "here", "/crawl")
    url, crawl = other.location.url, other.location.crawl
    with contextlib.closing(SteppedFrontier(url, crawl, store=place)) as dead:
        dead.add([found("x")])
        dead.claim(0.0, LEASE_S)
        assert other.claim(1.0, LEASE_S) is None

        with contextlib.closing(SteppedFrontier(url, crawl, store=place)) as again:
            assert paths([again.claim(1.0, LEASE_S)]) == ["x"]


def test_worker_whose_steps_the_server_has_lost_finds_its_links_again(workers):
    worker = workers()
    worker.add([found("x")])
    claim = worker.claim(0.0, LEASE_S)
    forgotten = []
    worker.observer = FrontierObserver()
    worker.observer.links_forgotten = lambda: forgotten.append(True)
    schema = worker.location.schema
    run_sql(worker.location.url, f'UPDATE "{schema}".worker SET step = step - 2')

    worker.settle()

    assert forgotten == [True]
    assert not PostgresFrontier.knows(worker, dedup_key(claim.url))
    with pytest.raises(LeaseLostError):
        worker.finish(claim, PAGE, 0.0)


def test_tokens_are_not_given_again_by_a_server_that_has_crashed(workers):
    worker = workers()
    worker.add([found("x"), found("y", host="b.test")])
    claim = worker.claim(0.0, LEASE_S)
    (token,) = worker._state.leases._claim_by_token
    worker.finish(claim, PAGE, 0.0)
    schema = worker.location.schema
    run_sql(worker.location.url, f'ALTER SEQUENCE "{schema}".claim_token RESTART')

    worker.claim(0.0, LEASE_S)

    assert list(worker._state.leases._claim_by_token) != [token]


def test_worker_that_fetches_for_long_keeps_its_claims(workers, clock):
    other = workers()
    other.add([found("x")])
    worker = PostgresFrontier(
        other.location, LeaseRules(), clock=clock, server_clock=clock
    )

    @gen.coroutine
    def fetch_for_long():
        yield worker.open()
        running = worker.run()
        while worker.claim(clock(), LEASE_S) is None:
            yield gen.moment
        for _ in range(6):
            clock.now += ALIVE_S / 3
            worker._exchange.wake()
            while worker._state.stepped_at < clock.now:
                yield gen.moment
        return [running]

    running = other._loop.run_sync(fetch_for_long)

    assert other.claim(clock.now, LEASE_S) is None
    worker.leave()
    other._loop.run_sync(lambda: running[0])
    worker.close()
    assert other.claim(clock.now, LEASE_S).url == found("x").url


@pytest.mark.parametrize("has_been_replaced", [False, True])
def test_late_outcome_of_a_stopped_worker_is_not_recorded(
    workers, caplog, has_been_replaced
):
    stopped, other = workers(), workers()
    stopped.add([found("x"), found("y")])
    late = [stopped.claim(0.0, LEASE_S) for _ in "xy"]
    claims = [other.claim(ALIVE_S, LEASE_S) for _ in "xy"]
    if has_been_replaced:
        workers()

    stopped.finish(late[0], PAGE, ALIVE_S, [found("z", 1)])
    with pytest.raises(LeaseLostError, match=late[1].url):
        stopped.finish(late[1], PAGE, ALIVE_S)

    assert f"the lease on {late[0].url} has expired" in caplog.text
    assert other.urls(State.CLAIMED) == other.urls() == [each.url for each in claims]
    # It goes on, and finds again what was not taken.
    other.finish(claims[0], PAGE, ALIVE_S)
    other.release(claims[1])
    again = stopped.claim(ALIVE_S, LEASE_S)
    assert again.url == claims[1].url
    stopped.finish(again, PAGE, ALIVE_S, [found("z", 1)])
    assert stopped.urls(State.QUEUED) == ["http://a.test/z"]


def test_worker_that_joins_gets_the_number_of_one_that_has_gone(workers):
    workers()
    two = workers()
    number, epoch = two._sender._worker
    two.leave()
    two.settle()
    two._loop.run_sync(two._sender.close)

    again, new_epoch = workers()._sender._worker
    assert (again, new_epoch == epoch) == (number, False)


def links_of(url, urls):
    """Return the two links of a page: the site is a tree, with a few links across."""
    number = int(url.rpartition("/")[2])
    below = [n for n in (2 * number + 1, 2 * number + 2, number * 7 % urls) if n < urls]
    return [found(n, depth=1) for n in below]


class Crowd:
    """Workers that crawl one site at once, on one loop, some of which are killed."""

    def __init__(self, location, urls, kills, cuts=0):
        self.now = 0.0
        # Time goes on while all wait, so that the dead are noticed.
        self.step_s = 0.25 if kills else 0.0
        self.location = location
        self.urls = urls
        self.finished = collections.Counter()
        self.chosen = random.Random(1)
        self.deaths = sorted(self.chosen.sample(range(urls // 4, urls), kills))
        self.cuts = sorted(self.chosen.sample(range(urls // 4, urls), cuts))

    @gen.coroutine
    def crawl(self):
        """Crawl until the site is drained."""
        worker = PostgresFrontier(
            self.location,
            LeaseRules(),
            clock=lambda: self.now,
            server_clock=lambda: self.now,
        )
        yield worker.open()
        worker.add([found(0)])
        try:
            while not worker.is_drained():
                claim = worker.claim(self.now, LEASE_S)
                if claim is None:
                    worker.flush()
                    yield worker.exchange()
                    self.now += self.step_s
                    continue
                links = links_of(claim.url, self.urls)
                worker.finish(claim, PAGE, self.now, links)
                self.finished[claim.url] += 1
                if worker.is_due(self.now):
                    worker.flush()
                if self._takes(self.deaths):
                    worker._sender.drop()
                    return (yield self.crawl())
                if self._takes(self.cuts):
                    exchange = worker.exchange()
                    worker._sender._connection.terminate()
                    yield exchange
            worker.leave()
            yield worker.run()
        finally:
            worker.close()

    def _takes(self, events):
        if events and self.finished.total() >= events[0]:
            events.pop(0)
            return True
        return False


@pytest.mark.parametrize(("kills", "cuts"), [(0, 0), (10, 10)])
def test_crowd_of_workers_finishes_every_url_once(postgres_url, kills, cuts):
    crowd = Crowd(make_crawl(postgres_url), examples(1_000), kills, cuts)
    loop = IOLoop(make_current=False)

    loop.run_sync(lambda: [crowd.crawl() for _ in range(8)])

    loop.close()
    with contextlib.closing(PostgresReader(crowd.location)) as reader:
        assert reader.is_drained()
        assert sorted(reader.urls(State.DONE)) == sorted(crowd.finished)
        assert len(crowd.finished) == crowd.urls
        counts_are_those_of_the_records(reader)
        ((deaths,),) = reader._fetch("SELECT count(*) FROM queue")
        assert deaths == 0
    repeated = crowd.finished.total() - crowd.urls
    # What a killed worker had in its batches, or had claimed.
    assert repeated <= kills * 50


# What is read of a large crawl.


@pytest.mark.parametrize(
    ("sql", "argument"),
    [(FIND, lambda digest: digest), (ENDED, lambda digest: [digest])],
    ids=["find", "requeue"],
)
def test_one_url_of_many_is_found_by_its_digest(workers, sql, argument):
    worker = workers()
    worker.add([found(n) for n in range(5_000)])
    worker.retry(worker.claim(0.0, LEASE_S), 9.0)
    worker._fetch("ANALYZE")
    digest = digest_of(dedup_key(found(4_000).url))

    ((text,),) = worker._fetch(
        f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", argument(digest)
    )

    assert rows_read(json.loads(text)[0]["Plan"]) < 100


ENDED_URLS = 2_000


def test_slowest_of_many_are_found_without_reading_the_others(workers):
    worker = workers()
    worker.add([found(n) for n in range(ENDED_URLS)])
    worker._fetch(
        "INSERT INTO outcome SELECT id, 0, id / 1e9, 0, 200, 1, 0, part, true, 'done', 'ok',"
        " '', '', '', '', '', '', '' FROM url"
    )
    worker._fetch("ANALYZE")
    # As for millions: of a small table, all is read at once.
    worker._fetch("SET enable_seqscan = off")
    worker._fetch("SET enable_hashjoin = off")

    ((text,),) = worker._fetch(f"EXPLAIN (ANALYZE, FORMAT JSON) {SLOWEST}", RANKED)

    assert rows_read(json.loads(text)[0]["Plan"]) < ENDED_URLS
    slowest = [record.url for record in worker.slowest()]
    assert slowest == list(reversed(worker.urls()))[:RANKED]


def rows_read(plan):
    """Return how many rows a plan has read, with those that it left out."""
    read = sum(value for key, value in plan.items() if key.startswith("Rows Removed"))
    read += plan["Actual Rows"]
    return read * plan["Actual Loops"] + sum(map(rows_read, plan.get("Plans", ())))


# Random walks beside a model.

HOSTS = ["a.test", "b.test"]
GAP_S = 4.0
PER_HOST = 2
WORKERS = st.integers(0, 2)


class WorkersMachine(RuleBasedStateMachine):
    """Three workers, which stop and are killed, and a model of what the server knows."""

    url = ""

    @initialize()
    def open(self):
        self.now = 0.0
        self.queued, self.done = set(), set()
        # Retries, and when they are due.
        self.due_at = {}
        # By URL: the worker, and when its lease ends.
        self.held = {}
        self.alive_until = {}
        self.free_at = dict.fromkeys(HOSTS, 0.0)
        # The claims whose fetch has begun.
        self.begun = set()
        self.claims = []
        self.workers = [SteppedFrontier.of_new_crawl(self.url, gap_s=GAP_S)]
        self.workers += [self.workers[0].another() for _ in range(2)]
        self.add(0, range(4), HOSTS[0])

    def teardown(self):
        with contextlib.closing(PostgresReader(self.workers[0].location)) as reader:
            counts_are_those_of_the_records(reader)
        for worker in self.workers:
            worker.close()

    def worker(self, number):
        """Return a worker that is about to make a step."""
        worker = self.workers[number]
        worker.now = self.now
        worker.limit_hosts(PER_HOST)
        self.alive_until[worker] = self.now + ALIVE_S
        return worker

    @rule(number=WORKERS, paths=st.sets(st.integers(0, 9)), host=st.sampled_from(HOSTS))
    def add(self, number, paths, host):
        links = [found(path, host=host) for path in paths]
        self.worker(number).add(links)
        self.note_links(links)

    def note_links(self, links):
        known = self.done | self.held.keys() | self.due_at.keys()
        self.queued |= {each.url for each in links} - known

    @rule(wait=st.sampled_from([0.5, GAP_S, ALIVE_S / 2, ALIVE_S]))
    def let_time_pass(self, wait):
        self.now += wait

    @rule(number=WORKERS)
    def claim(self, number):
        worker = self.worker(number)
        claim = worker.claim(self.now, LEASE_S)
        for url, (holder, ends_at) in list(self.held.items()):
            if holder is not worker and self.alive_until[holder] <= self.now:
                ends_at = self.now
            if ends_at <= self.now:
                del self.held[url]
                self.queued.add(url)
                host = host_of(url)
                self.free_at[host] = max(self.free_at[host], self.now + GAP_S)
        for url, due_at in list(self.due_at.items()):
            if due_at <= self.now:
                del self.due_at[url]
                self.queued.add(url)
        free = {url for url in self.queued if self.may_claim(host_of(url))}
        if claim is None:
            assert not free
            left = self.queued | self.due_at.keys() | self.held.keys()
            assert worker.is_drained() == (not left)
            return
        assert claim.url in free
        self.queued.remove(claim.url)
        self.held[claim.url] = worker, self.now + LEASE_S
        self.begun.discard(claim.url)
        self.claims.append((number, worker, claim))

    def may_claim(self, host):
        held = {url for url in self.held if host_of(url) == host}
        may_have_begun = held <= self.begun
        return (
            self.free_at[host] <= self.now and len(held) < PER_HOST and may_have_begun
        )

    @precondition(lambda self: self.claims)
    @rule(which=st.integers(0, 9))
    def begin(self, which):
        number, worker, claim = self.claims[which % len(self.claims)]
        if worker not in self.workers or claim.url in self.begun:
            return
        free_at = self.free_at[claim.host] = self.now + GAP_S
        self.worker(number).hold_host(claim.host, free_at)
        if self.held.get(claim.url) == (worker, claim.lease_ends_at):
            self.begun.add(claim.url)

    @precondition(lambda self: self.claims)
    @rule(
        which=st.integers(0, 9),
        paths=st.sets(st.integers(0, 9)),
        how=st.sampled_from(["done", "release", "retry"]),
    )
    def end(self, which, paths, how):
        number, worker, claim = self.claims.pop(which % len(self.claims))
        if worker not in self.workers:
            return  # it was killed
        self.worker(number)
        links = [found(path, host=HOSTS[1]) for path in paths]
        with contextlib.suppress(LeaseLostError):
            if how == "done":
                worker.finish(claim, PAGE, self.now, links)
            elif how == "retry":
                worker.retry(claim, self.now + GAP_S)
            else:
                worker.release(claim)
        if self.held.get(claim.url) != (worker, claim.lease_ends_at):
            return
        del self.held[claim.url]
        if how == "done":
            self.done.add(claim.url)
            self.note_links(links)
        elif how == "retry":
            self.due_at[claim.url] = self.now + GAP_S
        else:
            self.queued.add(claim.url)

    @rule(number=WORKERS)
    def kill(self, number):
        worker = self.workers[number]
        worker.die()
        self.workers[number] = worker.another()
        self.worker(number).settle()

    @invariant()
    def the_counts_agree(self):
        reader = self.workers[0]
        assert set(reader.urls(State.QUEUED)) == self.queued | self.due_at.keys()
        assert set(reader.urls(State.CLAIMED)) == self.held.keys()
        assert set(reader.urls(State.DONE)) == self.done


def test_random_walks_of_several_workers_match_the_model(postgres_url):
    class Machine(WorkersMachine):
        url = postgres_url

    run_state_machine_as_test(
        Machine,
        settings=settings(max_examples=examples(2), stateful_step_count=30),
    )


def test_reader_is_closed_while_its_records_are_read(workers):
    worker = workers()
    worker.add([found(number) for number in range(3)])
    with contextlib.closing(PostgresReader(worker.location)) as reader:
        records = reader.records()
        assert next(records).url == "http://a.test/0"

    assert not list(records)


def test_records_are_read_once_from_one_snapshot_after_another(workers, monkeypatch):
    monkeypatch.setattr(blocking_reader, "SNAPSHOT_S", 0.0)
    monkeypatch.setattr(blocking_reader, "FIRST_CHUNK", 2)
    monkeypatch.setattr(blocking_reader, "CHUNK", 2)
    worker = workers()
    worker.add([found(number) for number in range(5)])
    with contextlib.closing(PostgresReader(worker.location)) as reader:
        records = reader.records()
        seen = [next(records).url]
        worker.add([found(number) for number in range(5, 8)])
        seen += [each.url for each in records]

    assert seen == [found(number).url for number in range(8)]


def test_claims_that_come_after_a_worker_has_left_are_put_back(postgres_url, run_sync):
    location = make_crawl(postgres_url)

    @gen.coroutine
    def leave_while_claims_come():
        with contextlib.closing(PostgresFrontier(location, LeaseRules())) as frontier:
            yield frontier.open()
            frontier.add([found("x")])
            frontier.flush()
            assert frontier.claim(0.0, LEASE_S) is None  # it asks for one
            exchange = frontier.exchange()
            frontier.leave()
            yield exchange
            yield frontier.run()

    run_sync(leave_while_claims_come)

    with contextlib.closing(PostgresReader(location)) as reader:
        assert reader.count(State.CLAIMED) == 0
        assert reader.count(State.QUEUED) == 1
