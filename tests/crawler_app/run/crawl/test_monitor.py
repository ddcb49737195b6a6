"""Samples of a crawl: what they hold, and when they are taken."""

import time

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Candidate, Outcome, State
from crawler_app.run.crawl import Crawl, Failure, monitor
from crawler_app.run.crawl.monitor import Monitor
from crawler_app.run.crawl.wiring import wire
from crawler_app.store.frontier.sqlite import SqliteFrontier
from gencoro import gen

SEED = "http://a.test/"


@pytest.fixture
def crawl():
    """A crawl whose frontier holds three done, one failed, one claimed, two queued."""
    frontier = SqliteFrontier()
    frontier.add(Candidate(f"http://a.test/{n}", "a.test") for n in range(7))
    for reason in ("ok", "ok", "ok", "http_404"):
        state = State.DONE if reason == "ok" else State.FAILED
        frontier.finish(frontier.claim(0.0, 60.0), Outcome(state, reason), 1.0)
    frontier.claim(0.0, 60.0)
    return Crawl(wire(CrawlConfig((SEED,)), frontier, None))


def test_sample_holds_the_counts(crawl, clock):
    looking = Monitor(crawl, clock)
    crawl.stats["fetched"] += 10
    crawl.stats["bytes"] += 4_000
    clock.now += 2.0

    sample = looking.look()

    assert sample.count_by_state == {
        State.DONE: 3,
        State.FAILED: 1,
        State.CLAIMED: 1,
        State.QUEUED: 2,
        State.EXCLUDED: 0,
    }
    assert (sample.fetched, sample.size_bytes) == (10, 4_000)
    assert (sample.fetches_per_s, sample.bytes_per_s) == (5.0, 2_000.0)
    assert sample.elapsed_s == 2.0


def test_rate_is_that_of_the_last_seconds(crawl, clock):
    looking = Monitor(crawl, clock)
    rates = [looking.look().fetches_per_s]

    for _ in range(20):
        clock.now += 1.0
        crawl.stats["fetched"] += 100
        looking.look()
    for _ in range(7):
        clock.now += 1.0
        rates.append(looking.look().fetches_per_s)

    assert rates == [0.0, 80.0, 60.0, 40.0, 20.0, 0.0, 0.0, 0.0]


def test_last_failure_comes_first(crawl):
    old, new = (Failure(at, SEED, "timeout", "") for at in (1.0, 2.0))
    crawl.last_failures += [old, new]

    assert Monitor(crawl).look().failures == [new, old]


def test_history_is_that_of_ten_minutes(crawl, clock):
    looking = Monitor(crawl, clock)

    for _ in range(700):
        clock.now += 1.0
        looking.look()

    assert len(looking.history) == 600
    assert [looking.history[n].elapsed_s for n in (0, -1)] == [101.0, 700.0]


@pytest.mark.parametrize(
    ("method", "phase"), [("pause", "paused"), ("stop", "stopping")]
)
def test_phase_is_what_somebody_wants(crawl, method, phase):
    getattr(crawl, method)()

    assert Monitor(crawl).look().phase == phase


def test_crawl_whose_hosts_must_wait_is_waiting():
    frontier = SqliteFrontier()
    frontier.add([Candidate(SEED, "a.test")])
    looking = Monitor(Crawl(wire(CrawlConfig((SEED,)), frontier, None)))
    before = looking.look()

    frontier.hold_host("a.test", before.at + 3_600.0)
    after = looking.look()

    assert (after.phase, before.phase) == ("waiting", "running")
    assert after.waiting_s == pytest.approx(3_600.0, abs=60.0)
    assert before.waiting_s is None
    assert (after.waiting_for, before.waiting_for) == ("a.test", "")


def test_crawl_that_another_worker_goes_on_with_is_not_waiting():
    """The end of that worker's lease is not when the next URL is due."""
    frontier = SqliteFrontier()
    frontier.add([Candidate(SEED, "a.test")])
    frontier.claim(time.time(), lease_s=600.0)

    sample = Monitor(Crawl(wire(CrawlConfig((SEED,)), frontier, None))).look()

    assert (sample.phase, sample.waiting_s) == ("running", None)


class Listener:
    """Counts samples, and sets an event when there are so many."""

    def __init__(self, wanted):
        self.samples = []
        self.is_full = gen.Future()
        self._wanted = wanted

    def __call__(self, sample):
        self.samples.append(sample)
        if len(self.samples) == self._wanted:
            self.is_full.set_result(None)


@pytest.mark.parametrize("error", [None, ZeroDivisionError])
def test_samples_come_while_it_is_entered_and_no_longer(
    crawl, run_sync, monkeypatch, error
):
    monkeypatch.setattr(monitor, "EVERY_S", 0.001)

    @gen.coroutine
    def main():
        listener, other = Listener(3), Listener(5)
        try:
            with Monitor(crawl) as looking:
                looking.listen(listener)
                yield listener.is_full
                if error:
                    raise error
        except ZeroDivisionError:
            pass
        taken = len(listener.samples)
        # The timer of another one goes on; ours would look in the meantime.
        with Monitor(crawl) as another:
            another.listen(other)
            yield other.is_full
        return taken, listener.samples, list(looking.history)

    taken, samples, history = run_sync(main)

    assert len(samples) == taken
    assert samples == history
