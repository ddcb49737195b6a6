"""Counts the URLs of a frontier by its records, to check its own counts."""

import collections

from crawler_app.base.models import State
from crawler_app.base.reasons import Reason
from crawler_app.base.urls import dedup_key, has_query, host_of
from crawler_app.store.frontier.count_types import RANKED, HostCounts, OutcomeKey

__all__ = ["counts_are_those_of_the_records"]


def counts_are_those_of_the_records(frontier):
    """Assert that a frontier's counts and lists agree with its records."""
    records = list(frontier.records())
    states = collections.Counter(record.state for record in records)
    assert {state: frontier.count(state) for state in State} == {
        state: states[state] for state in State
    }
    non_pages = collections.Counter(r.state for r in records if r.role.is_non_page)
    assert {state: frontier.count_non_pages(state) for state in State} == {
        state: non_pages[state] for state in State
    }
    urls, sizes, hosts = collections.Counter(), collections.Counter(), {}
    for record in records:
        name = host_of(record.url)
        host = hosts.setdefault(name, HostCounts(name))
        if record.outcome is None:
            host.urls += 1
            continue
        kind = OutcomeKey.of(record.depth, record.outcome, record.role)
        urls[kind] += 1
        sizes[kind] += record.outcome.size_bytes
        host.count(kind, record.outcome)
    tally = frontier.outcome_counts()
    assert {kind: amount.urls for kind, amount in tally.items()} == urls
    assert {kind: amount.size_bytes for kind, amount in tally.items()} == sizes
    met = [host for host in hosts.values() if host.urls]
    assert sorted(frontier.hosts(), key=str) == sorted(met, key=str)
    ended = [record for record in records if record.outcome]
    assert frontier.redirects() == {
        record.url: record.outcome.redirect_to
        for record in ended
        if record.outcome.reason == Reason.REDIRECT
    }
    timed = [record for record in ended if record.outcome.took_s is not None]
    timed.sort(key=lambda record: -record.outcome.took_s)
    assert frontier.slowest() == timed[:RANKED]
    for state in State:
        wanted = [record for record in records if record.state is state]
        assert list(frontier.records(state)) == wanted
    assert list(frontier.queries()) == [
        record.url
        for record in records
        if has_query(record.url) and record.state is not State.EXCLUDED
    ]
    for record in records[:: len(records) // 3 + 1]:
        assert frontier.find(dedup_key(record.url)) == record
