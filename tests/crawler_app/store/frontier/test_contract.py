"""The contract of every frontier: the table of moves, order, time, and counts.

Random walks make every move in every situation, beside a model; before them stands what
a walk cannot show.
"""

import contextlib
import dataclasses
import random
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, settings
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
from crawler_app.base.models import (
    Candidate,
    Outcome,
    Role,
    State,
    UrlRecord,
)
from crawler_app.base.reasons import PROVISIONAL, Reason
from crawler_app.base.urls import dedup_key
from crawler_app.store.frontier import PATIENCE_S, schedule, sqlite_reading
from crawler_app.store.frontier.postgres import blocking_reader
from crawler_app.store.frontier.sqlite import SqliteFrontier
from tests.helpers.counting import counts_are_those_of_the_records
from tests.helpers.fuzzing import examples
from tests.helpers.postgres import SteppedFrontier
from tests.helpers.turns import steps_of

LEASE_S = 60.0

# The backends that order claims with a `Schedule`.
SCHEDULED = ["temporary", "sqlite"]

PAGE = Outcome(
    State.DONE,
    "ok",
    200,
    content_type="text/html; charset=utf-8",
    size_bytes=1_234,
    took_s=0.25,
    title="Ein schöner Titel",
    canonical="http://a.test/title",
    digest="0123456789abcdef",
)
SLOW_FILE = Outcome(State.DONE, "ok", 200, "image/png", 99, took_s=3.0)
ERROR = Outcome(State.FAILED, "timeout", error="nothing came for 60 s")
REDIRECT = Outcome(State.DONE, "redirect", 301, redirect_to="http://a.test/new")
FORBIDDEN = Outcome(State.EXCLUDED, "robots")


@pytest.fixture(params=["temporary", "sqlite", "postgres"])
def frontier(request, tmp_path):
    if request.param == "temporary":
        frontier = SqliteFrontier()
    elif request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
        frontier = SteppedFrontier.of_new_crawl(url)
    else:
        frontier = SqliteFrontier(tmp_path / "frontier.sqlite3")
    yield frontier
    counts_are_those_of_the_records(frontier)
    frontier.close()


def url(path, host="a.test"):
    return f"http://{host}/{path}"


def found(path, depth=0, refusal="", host="a.test", redirects_left=0):
    return Candidate(url(path, host), host, depth, redirects_left, refusal)


def test_long_url_is_stored_whole_only_if_it_may_be_fetched(frontier):
    long = "x" * 7000
    refused = [found(f"{long}{n}", refusal=Reason.TOO_DEEP) for n in (1, 2)]
    frontier.add([*refused, *refused, found(f"{long}3")])
    *cut, whole = frontier.urls()

    assert whole == url(f"{long}3")
    assert len(set(cut)) == 2 and all(len(each) < 600 for each in cut)
    assert all(each.startswith(url("xxx")) and "…" in each for each in cut)

    # Another page links to it too, and is nearer to a seed.
    assert frontier.add([found(f"{long}1"), found(f"{long}2", refusal="nofollow")]) == 1
    assert frontier.urls(State.EXCLUDED) == cut[1:]
    assert url(f"{long}1") in frontier.urls(State.QUEUED)


def test_claim_has_the_sitemap_role(frontier):
    frontier.add([dataclasses.replace(found("x"), role=Role.SITEMAP), found("y")])

    assert [frontier.claim(0.0, LEASE_S).role for _ in "xy"] == [
        Role.SITEMAP,
        Role.LINK,
    ]


def test_failing_candidates_change_nothing(frontier):
    def failing():
        yield found("new")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        frontier.add(failing())
    assert list(frontier.records()) == []

    frontier.add([found("x")])
    claimed = frontier.claim(0.0, LEASE_S)
    with pytest.raises(ZeroDivisionError):
        frontier.finish(claimed, PAGE, 1.0, failing())
    assert frontier.urls() == frontier.urls(State.CLAIMED) == [url("x")]
    assert frontier.finish(claimed, PAGE, 1.0, [found("new")]) == 1


def test_record_that_was_handed_out_is_a_copy(frontier):
    frontier.add([found("x")])

    (before,) = frontier.records()
    before.state = State.DONE
    frontier.claim(0.0, LEASE_S)

    assert frontier.urls(State.CLAIMED) == [url("x")]


def test_only_the_newest_queries_are_returned(frontier, monkeypatch):
    for module in (sqlite_reading, blocking_reader):
        monkeypatch.setattr(module, "MAX_QUERIES", 2)
    frontier.add(found(path) for path in ("x?1", "y", "x?2", "x?3"))
    found_queries = list(frontier.queries())
    monkeypatch.undo()

    assert found_queries == [url("x?2"), url("x?3")]


# What a walk meets too rarely.


def test_respelled_url_is_queued_again_as_its_server_spells_it(frontier):
    frontier.add([found("//x", redirects_left=3), found("y")])
    first = frontier.claim(0.0, LEASE_S)

    frontier.respell(first, url("x"))

    again = frontier.claim(0.0, LEASE_S)
    assert (again.url, again.redirects_left, again.id) == (url("x"), 2, first.id)
    assert frontier.urls() == [url("x"), url("y")]


def test_via_is_the_last_spelling_of_the_page(frontier):
    frontier.add([found("//x", redirects_left=1)])
    frontier.finish(frontier.claim(0.0, LEASE_S), PAGE, 1.0, [found("y")])
    frontier.requeue_urls([url("//x")])

    frontier.respell(frontier.claim(2.0, LEASE_S), url("x"))

    assert [record.via for record in frontier.records()] == ["", url("x")]


def test_redirect_is_queued_again_when_its_target_ends(frontier):
    frontier.add([found("x", redirects_left=9), found("y"), found("page")])
    for path, to in [("x", "r"), ("y", "z"), ("page", "new"), ("r", "s")]:
        outcome = PAGE if path == "page" else redirect_to(to)
        claim = frontier.claim(0.0, LEASE_S)
        assert claim.url == url(path)
        frontier.finish(claim, outcome, 1.0, [found(to, redirects_left=8)])

    of_y, of_page, last = (frontier.claim(0.0, LEASE_S) for _ in range(3))
    assert last.url == url("s")
    assert frontier.redirect_before(of_y, url("x")) is None
    assert frontier.redirect_before(of_page, url("page")) is None
    first_id = frontier.redirect_before(last, url("x"))
    frontier.finish(last, redirect_to("x"), 2.0, (), first_id)

    again = frontier.claim(3.0, LEASE_S)
    assert (again.url, again.redirects_left, again.id) == (url("x"), 7, first_id)
    frontier.finish(again, PAGE, 4.0)
    record = next(record for record in frontier.records() if record.url == url("x"))
    assert (record.outcome, record.finished_at) == (PAGE, 4.0)
    counts_are_those_of_the_records(frontier)


def redirect_to(path):
    return dataclasses.replace(REDIRECT, redirect_to=url(path))


def test_failed_urls_are_queued_again_by_their_reason(frontier):
    frontier.add([found("x"), found("y"), found("z")])
    for outcome in (ERROR, Outcome(State.FAILED, "http_404", 404), PAGE):
        frontier.finish(frontier.claim(0.0, LEASE_S), outcome, 1.0)

    assert frontier.requeue_failed(["timeout", "ok"]) == 1

    assert frontier.urls(State.QUEUED) == [url("x")]
    assert frontier.claim(2.0, LEASE_S).tries == 0
    assert frontier.count(State.FAILED) == 1


def test_level_does_not_wait_for_a_retry_that_is_far_off(frontier):
    frontier.add([found("x", depth=1), found("y", depth=2)])
    frontier.retry(frontier.claim(0.0, LEASE_S), due_at=1000.0)

    assert frontier.depth_in_work(1000.0 - PATIENCE_S) == 1
    assert frontier.depth_in_work(1000.0 - PATIENCE_S - 1.0) == 2


@pytest.mark.parametrize("frontier", SCHEDULED, indirect=True)
def test_host_that_is_free_longer_is_first_at_any_depth(frontier):
    frontier.add([found("x", depth=1, host="b.test"), found("y")])

    claims = [frontier.claim(0.0, LEASE_S, max_depth=2) for _ in "xy"]

    assert [claim.url for claim in claims] == [url("x", "b.test"), url("y")]


@pytest.mark.parametrize("step_s", [3_600.0, 400 * 86_400.0])
def test_holds_end_as_much_earlier_as_the_clock_is_set_back(frontier, step_s):
    frontier.add([found("x"), found("y", host="b.test"), found("z", host="c.test")])
    right = 1_000.0
    wrong = right + step_s
    claims = [frontier.claim(wrong, LEASE_S) for _ in "xy"]
    frontier.hold_host("c.test", wrong + 5.0)
    frontier.hold_host("a.test", wrong + 10.0)
    frontier.release(claims[0])
    frontier.retry(claims[1], wrong + 20.0)

    assert frontier.claim(right, LEASE_S) is None
    due_at = [frontier.next_at(right)]
    for _ in "zx":
        frontier.finish(frontier.claim(due_at[-1], LEASE_S), PAGE, due_at[-1])
        due_at.append(frontier.next_at(due_at[-1]))
    assert due_at == [right + 5.0, right + 10.0, right + 20.0]
    assert frontier.claim(right + 20.0, LEASE_S).url == claims[1].url


def test_hold_is_shortened_unless_it_is_held_for_longer(frontier):
    frontier.add([found("x"), found("y", host="b.test"), found("z", host="b.test")])
    frontier.hold_host("a.test", 50.0)
    frontier.hold_host("b.test", 60.0)

    frontier.shorten_hold("a.test", held_to=50.0, free_at=20.0)
    frontier.shorten_hold("b.test", held_to=50.0, free_at=20.0)

    assert frontier.claim(19.0, LEASE_S) is None
    assert frontier.next_at(19.0) == 20.0
    frontier.finish(frontier.claim(20.0, LEASE_S), PAGE, 20.0)
    assert frontier.claim(59.0, LEASE_S) is None
    assert frontier.next_at(59.0) == 60.0
    frontier.hold_host("b.test", 70.0)
    frontier.shorten_hold("b.test", held_to=70.0, free_at=65.0)
    held = [frontier.claim(at, LEASE_S) for at in (64.0, 65.0, 65.0)]
    assert [claim and claim.host for claim in held] == [None, "b.test", "b.test"]


@pytest.mark.parametrize("frontier", SCHEDULED, indirect=True)
@pytest.mark.parametrize("max_depth", [None, 0])
def test_claim_takes_as_many_steps_among_many_hosts(frontier, max_depth):
    def steps_among(hosts, first):
        shallow = hosts if max_depth is None else 20
        depths = [1] * (hosts - shallow) + [0] * shallow
        names = [f"{number}.test" for number in range(first, first + hosts)]
        frontier.add(found("x", *each) for each in zip(depths, [""] * hosts, names))
        return steps_of(one_after_the_other)

    def one_after_the_other():
        for now in range(10):
            claim = frontier.claim(now, LEASE_S, max_depth)
            frontier.hold_host(claim.host, now + 1_000.0)
            frontier.next_at(-1.0)  # as when no host may be asked yet
            frontier.depth_in_work(now)
            frontier.finish(claim, PAGE, now)

    among_few = steps_among(50, first=0)
    assert steps_among(2_000, first=50) < 2 * among_few


def claimed_at_random(seed, held):
    """Return the claims of a random walk, and the records in the end."""
    chosen, claimed, under_way = random.Random(seed), [], []
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.closing(SqliteFrontier()) as frontier,
    ):
        patch.setattr(schedule, "MAX_HELD_PER_HOST", held)
        for n in range(2_000):
            match chosen.choice(
                ["add", "claim", "claim", "release", "finish", "retry"]
            ):
                case "add":
                    frontier.add(
                        found(
                            f"{n}/{i}", chosen.randrange(9), host=chosen.choice(HOSTS)
                        )
                        for i in range(chosen.randrange(8))
                    )
                case "claim":
                    claim = frontier.claim(n, 1e9)
                    claimed.append(claim and claim.url)
                    under_way += [claim] if claim else []
                case move if under_way:
                    arguments = {"finish": [PAGE, n], "retry": [n + 20.0]}.get(move, [])
                    claim = under_way.pop(chosen.randrange(len(under_way)))
                    getattr(frontier, move)(claim, *arguments)
        return claimed, list(frontier.records())


@pytest.mark.parametrize("seed", range(5))
def test_queues_that_are_held_in_part_keep_their_order(seed):
    assert claimed_at_random(seed, held=4) == claimed_at_random(seed, held=10_000)


# Random walks beside a model that is too simple to be wrong.


@dataclasses.dataclass
class Row:
    record: UrlRecord
    host: str
    redirects_left: int
    alarm_at: float | None = None


class Model:
    """A model of the contract that looks at every row each time."""

    def __init__(self):
        self.rows = []
        self.free_at = {}
        self.known_urls = {}
        self.per_host = None

    def known(self, url):
        rows = [r for r in self.rows if dedup_key(r.record.url) == dedup_key(url)]
        return rows[0] if rows else None

    def is_settled(self, url):
        row = self.known(url)
        return row is not None and not (
            row.record.outcome and row.record.outcome.reason in PROVISIONAL
        )

    def add(self, candidates, via=""):
        queued = 0
        for new in candidates:
            known = self.known(new.url)
            if self.is_settled(new.url) or (known and new.refusal in PROVISIONAL):
                continue
            self.free_at.setdefault(new.host, 0.0)
            row = Row(
                UrlRecord(new.url, State.QUEUED, new.depth, via),
                new.host,
                new.redirects_left,
            )
            if new.refusal:
                row.record.state = State.EXCLUDED
                row.record.outcome = Outcome(State.EXCLUDED, new.refusal)
            if known:
                self.rows[self.rows.index(known)] = row
            else:
                self.rows.append(row)
            queued += not new.refusal
        return queued

    def ready(self):
        return [
            r
            for r in self.rows
            if r.record.state is State.QUEUED and r.alarm_at is None
        ]

    def claim(self, now, lease_s, max_depth):
        for row in self.rows:
            if row.alarm_at is not None and row.alarm_at <= now:
                row.record.state, row.alarm_at = State.QUEUED, None
        hosts = list(self.free_at)
        turns = [
            (
                self.free_at[row.host],
                hosts.index(row.host),
                row.record.depth,
                self.rows.index(row),
            )
            for row in self.ready()
            if self.has_room(row.host)
            and self.free_at[row.host] <= now
            and (max_depth is None or row.record.depth <= max_depth)
        ]
        if not turns:
            return None
        row = self.rows[min(turns)[-1]]
        row.record.state, row.alarm_at = State.CLAIMED, now + lease_s
        return row

    def has_room(self, host):
        states = [row.record.state for row in self.rows if row.host == host]
        return self.per_host is None or states.count(State.CLAIMED) < self.per_host

    def owns(self, row, lease_ends_at):
        return row.record.state is State.CLAIMED and row.alarm_at == lease_ends_at

    def next_at(self, now):
        ready = [row.host for row in self.ready() if self.has_room(row.host)]
        times = [self.free_at[host] for host in ready]
        times += [row.alarm_at for row in self.rows if row.alarm_at is not None]
        return min((at for at in times if at > now), default=None)

    def depth_in_work(self, now):
        depths = [
            row.record.depth
            for row in self.rows
            if row.record.state is State.CLAIMED
            or row.record.state is State.QUEUED
            and (row.alarm_at is None or row.alarm_at <= now + PATIENCE_S)
        ]
        return min(depths, default=None)


HOSTS = ["a.test", "b.test", "c.test:8000"]
ORIGINS = ["http://a.test", "https://a.test"]
CANDIDATES = st.builds(
    found,
    st.sampled_from(["x", "y?", "y?z", "%28", "(", "//x", "z"]),
    depth=st.integers(0, 3),
    refusal=st.sampled_from(
        ["", "", "", "", Reason.TOO_DEEP, Reason.NOFOLLOW, "out_of_scope"]
    ),
    host=st.sampled_from(HOSTS),
    redirects_left=st.integers(0, 2),
)
# Quarters are exact, so that times that should be equal are.
WAITS = st.integers(-4, 20).map(lambda quarters: quarters / 4)


NUMBERS = st.integers(0, 3)


def has_claimed(machine):
    return bool(machine.claims)


class FrontierMachine(RuleBasedStateMachine):
    """A backend and the model take the same random walk."""

    # Retries may be late then: the waits of the walk are shorter than our patience.
    looks_back_s = 0.0, PATIENCE_S, PATIENCE_S + 2.0

    @initialize(
        candidates=st.lists(CANDIDATES, min_size=2, max_size=9),
        held=st.sampled_from([2, schedule.MAX_HELD_PER_HOST]),
    )
    def open(self, candidates, held):
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(schedule, "MAX_HELD_PER_HOST", held)
        self.directory = tempfile.TemporaryDirectory()
        self.path = Path(self.directory.name) / "frontier.sqlite3"
        self.now = 0.0
        self.ends = set()
        self.claims = []
        self.model = Model()
        self.backends = self.new_backends()
        self.add(candidates)

    def new_backends(self):
        return [SqliteFrontier(self.path)]

    def reopened(self):
        self.backends[0].close()
        return [SqliteFrontier(self.path)]

    def teardown(self):
        for backend in self.backends:
            backend.close()
        self.directory.cleanup()
        self.patch.undo()

    def each(self, move):
        """Return what a move returns, which is the same of every backend."""
        answers = [move(backend) for backend in self.backends]
        assert answers == answers[:1] * len(answers)
        return answers[0]

    @rule(candidates=st.lists(CANDIDATES, max_size=5))
    def add_more(self, candidates):
        self.add(candidates)

    def add(self, candidates):
        answer = self.each(lambda backend: backend.add(candidates))
        assert answer == self.model.add(candidates)

    @rule(wait=WAITS.map(abs))
    def let_time_pass(self, wait):
        self.now += wait

    @rule()
    def wait_for_the_next_time(self):
        self.now = self.model.next_at(self.now) or self.now

    @rule(
        lease=st.sampled_from([0.25, 2.0, 100.0]),
        max_depth=st.none() | st.integers(0, 2),
    )
    def claim(self, lease, max_depth):
        # Two claims of one URL are distinguished by the time at which they end.
        while self.now + lease in self.ends:
            self.now += 0.25
        self.ends.add(self.now + lease)
        claimed = [b.claim(self.now, lease, max_depth) for b in self.backends]
        row = self.model.claim(self.now, lease, max_depth)
        if row is None:
            assert claimed == [None] * len(self.backends)
            return
        for claim in claimed:
            assert (claim.url, claim.host) == (row.record.url, row.host)
            assert claim.depth == row.record.depth
            assert claim.redirects_left == row.redirects_left
            assert claim.tries == row.record.tries
            assert claim.lease_ends_at == row.alarm_at == self.now + lease
        self.claims.append((row, claimed))

    def chosen(self, number):
        """Return a claim, those that stand before those that have ended."""
        standing = [
            (row, claimed)
            for row, claimed in self.claims
            if self.model.owns(row, claimed[0].lease_ends_at)
        ]
        found = standing + self.claims[::-1]
        return found[number % len(found)]

    def move(self, claim, name, *arguments):
        """Make a move on every backend; return whether the claim stood, and the answers."""
        row, claimed = claim
        is_owner = self.model.owns(row, claimed[0].lease_ends_at)
        lost = pytest.raises(LeaseLostError, match=re.escape(claimed[0].url))
        answers = []
        for backend, own_claim in zip(self.backends, claimed, strict=True):
            with contextlib.nullcontext() if is_owner else lost:
                answers.append(getattr(backend, name)(own_claim, *arguments))
        assert len(set(answers)) <= 1
        return is_owner, answers[:1]

    @precondition(has_claimed)
    @rule(
        number=NUMBERS,
        outcome=st.sampled_from([PAGE, SLOW_FILE, ERROR, REDIRECT, FORBIDDEN]),
        outlinks=st.lists(CANDIDATES, max_size=4),
    )
    def finish(self, number, outcome, outlinks):
        row, _ = claim = self.chosen(number)
        is_owner, queued = self.move(claim, "finish", outcome, self.now, outlinks)
        if is_owner:
            row.alarm_at = None
            row.record.state, row.record.outcome = outcome.state, outcome
            row.record.finished_at = self.now
            assert queued == [self.model.add(outlinks, via=row.record.url)]

    @precondition(has_claimed)
    @rule(number=NUMBERS, wait=WAITS)
    def retry(self, number, wait):
        row, _ = claim = self.chosen(number)
        is_owner, _ = self.move(claim, "retry", self.now + wait)
        if is_owner:
            row.record.state, row.alarm_at = State.QUEUED, self.now + wait
            row.record.tries += 1

    @precondition(has_claimed)
    @rule(number=NUMBERS, path=st.sampled_from(["//x", "///x"]))
    def respell(self, number, path):
        row, _ = claim = self.chosen(number)
        new_url = url(path, row.host)
        if dedup_key(row.record.url) != dedup_key(new_url):
            return
        is_owner, _ = self.move(claim, "respell", new_url)
        if is_owner:
            row.record.state, row.alarm_at = State.QUEUED, None
            for found_by_it in self.model.rows:
                if found_by_it.record.via == row.record.url:
                    found_by_it.record.via = new_url
            row.record.url = new_url
            row.redirects_left -= 1

    @precondition(has_claimed)
    @rule(number=NUMBERS)
    def release(self, number):
        row, claimed = self.chosen(number)
        is_owner = self.model.owns(row, claimed[0].lease_ends_at)
        for backend, own_claim in zip(self.backends, claimed, strict=True):
            backend.release(own_claim)
        if is_owner:
            row.record.state, row.alarm_at = State.QUEUED, None

    @rule(host=st.sampled_from(HOSTS), wait=WAITS)
    def hold_host(self, host, wait):
        until = self.now + wait
        self.each(lambda backend: backend.hold_host(host, until))
        self.model.free_at[host] = max(until, self.model.free_at.get(host, 0.0))

    @rule(origin=st.sampled_from(ORIGINS), url=st.text())
    def note_response(self, origin, url):
        self.each(lambda backend: backend.note_response(origin, url))
        self.model.known_urls[origin] = url

    @rule(per_host=st.none() | st.integers(1, 3))
    def limit_hosts(self, per_host):
        self.each(lambda backend: backend.limit_hosts(per_host))
        self.model.per_host = per_host

    @rule(reasons=st.sampled_from([[], ["timeout"], ["ok", "timeout", "redirect"]]))
    def requeue_failed(self, reasons):
        failed = [
            row
            for row in self.model.rows
            if row.record.state is State.FAILED and row.record.outcome.reason in reasons
        ]
        self.forget(failed)
        assert self.each(lambda backend: backend.requeue_failed(reasons)) == len(failed)

    @rule(divisor=st.integers(1, 3))
    def requeue_urls(self, divisor):
        rows = self.model.rows[::divisor]
        ended = [r for r in rows if r.record.state in (State.DONE, State.FAILED)]
        urls = {row.record.url for row in rows}
        self.forget(ended)
        assert self.each(lambda backend: backend.requeue_urls(urls)) == len(ended)

    def forget(self, rows):
        for row in rows:
            row.record.state, row.record.tries = State.QUEUED, 0
            row.record.outcome = row.record.finished_at = None

    @rule()
    def flush(self):
        self.each(lambda backend: backend.flush())

    @rule()
    def reopen(self):
        # Claims end with the process.
        for row in self.model.rows:
            if row.record.state is State.CLAIMED:
                row.record.state, row.alarm_at = State.QUEUED, None
        self.backends = self.reopened()
        self.backends[-1].limit_hosts(self.model.per_host)

    @invariant()
    def the_counts_agree(self):
        records = [row.record for row in self.model.rows]
        for backend in self.backends:
            assert list(backend.records()) == records
            counts_are_those_of_the_records(backend)

    @invariant()
    def what_comes_next_agrees(self):
        for backend in self.backends:
            assert backend.next_at(self.now) == self.model.next_at(self.now)
            for back_s in self.looks_back_s:
                now = self.now - back_s
                assert backend.depth_in_work(now) == self.model.depth_in_work(now)

    @invariant()
    def what_is_known_agrees(self):
        for candidate in (url(path, host) for path in "x(z" for host in HOSTS):
            for backend in self.backends:
                known = candidate in backend
                assert known == self.model.is_settled(candidate)
        for origin in ORIGINS:
            for backend in self.backends:
                known_url = backend.known_url(origin)
                assert known_url == self.model.known_urls.get(origin, "")


def test_random_walks_match_the_model():
    walk(FrontierMachine, max_examples=20)


def walk(machine, max_examples, phases=tuple(Phase)):
    run_state_machine_as_test(
        machine,
        settings=settings(
            phases=phases,
            max_examples=examples(max_examples),
            stateful_step_count=40,
            report_multiple_bugs=False,
        ),
    )


def test_random_walks_in_postgresql_match_the_model(postgres_url):
    class PostgresMachine(FrontierMachine):
        looks_back_s = (0.0,)  # it would take its clock to be set back

        def new_backends(self):
            return [SteppedFrontier.of_new_crawl(postgres_url)]

        def reopened(self):
            (worker,) = self.backends
            worker.close()
            return [worker.another()]

    # Making a walk shorter would take minutes there.
    walk(PostgresMachine, max_examples=2, phases=(Phase.reuse, Phase.generate))
