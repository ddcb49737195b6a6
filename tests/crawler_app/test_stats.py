"""Stats: counters that begin at 0."""

from crawler_app.stats import Stats


def test_counter_begins_at_zero_and_asking_does_not_make_it():
    stats = Stats()

    assert stats["fetched"] == 0
    assert list(stats) == []


def test_counts_add_up_and_are_listed_by_name():
    stats = Stats()

    stats.add("fetched")
    stats.add("bytes", 1_000)
    stats.add("bytes", 24)
    stats.add("fetched")

    assert stats["bytes"] == 1_024
    assert list(stats) == [("bytes", 1_024), ("fetched", 2)]
