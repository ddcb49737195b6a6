"""Stats: counters that begin at 0."""

from crawler_app.run.crawl.stats import Stats


def test_counts_begin_at_zero_and_add_up():
    stats = Stats()

    stats.add("fetched")
    stats.add("bytes", 1_000)
    stats.add("bytes", 24)

    assert (stats["fetched"], stats["bytes"], stats["retried"]) == (1, 1_024, 0)
    assert list(stats) == [("bytes", 1_024), ("fetched", 1)]
