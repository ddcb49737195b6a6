"""What a watch remembers: first checks, the transaction, outages, and what is forgotten."""

import pytest

from crawler_app.show.watch.deciding import Rule
from crawler_app.show.watch.feed import feed_of
from crawler_app.show.watch.history_page import render_history
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.outbox import Outbox
from tests.crawler_app.show.watch.conftest import look_of, sighting

DAY_S = 86400.0
RULES = {"external": Rule(2, 3), "own": Rule()}


def noted(memory, day, *sightings, site="docs", first_run="summary", **values):
    look = look_of(*sightings, urls=7, **values)
    return memory.note(site, look, day * DAY_S, first_run=first_run, **RULES)


@pytest.mark.parametrize(
    ("first_run", "kinds"),
    [("summary", ["first"]), ("each", ["dead", "dead"]), ("nothing", [])],
)
def test_first_check_is_told_as_the_file_says(memory, first_run, kinds):
    found = [sighting("a"), sighting("b"), sighting("c", "external")]

    events = noted(memory, 1, *found, first_run=first_run)

    assert [event.kind for event in events] == kinds
    if first_run == "summary":
        assert events[0].words == (
            "7 URLs checked, 2 findings from now on known, 1 that must be seen again first"
        )
    assert [e.kind for e in noted(memory, 2, *found)] == ["dead"]
    assert noted(memory, 3, *found) == []


def test_what_a_check_does_not_know_changes_nothing(memory):
    noted(memory, 1)
    noted(memory, 2, sighting("a"))

    assert noted(memory, 3, unknown={"a"}) == []
    assert [e.kind for e in noted(memory, 4)] == ["mended"]


def test_nothing_is_half_noted(memory, tmp_path, monkeypatch):
    noted(memory, 1)
    monkeypatch.setattr(Memory, "add_event", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        noted(memory, 2, sighting("a"))
    monkeypatch.undo()

    again = Memory(tmp_path / "memory")
    assert again.last_check_at("docs") == DAY_S
    assert [e.kind for e in noted(again, 2, sighting("a"))] == ["dead"]
    again.close()


def test_long_outage_is_told_once(memory):
    noted(memory, 1)
    for day in (2, 3, 4):
        memory.note_void("docs", day * DAY_S, "offline")
        memory.note_blind(["docs"], day * DAY_S)
    assert [event.kind for event in memory.events_after(0)] == ["first", "blind"]
    noted(memory, 5)
    memory.note_blind(["docs"], 8 * DAY_S)

    kinds = [event.kind for event in memory.events_after(0)]
    assert kinds == ["first", "blind", "blind"]


def test_channel_is_told_of_its_sites_from_its_beginning_on(memory):
    outbox = Outbox(memory)
    outbox.open_channel("all")
    noted(memory, 1, first_run="nothing")
    noted(memory, 2, sighting("before"))
    outbox.open_channel("blog")
    noted(memory, 3, sighting("before"), sighting("after"))
    noted(memory, 3, sighting("post"), site="blog", first_run="each")

    whole = outbox.next_notice("all", (), 0.0)
    part = outbox.next_notice("blog", ("blog",), 0.0)

    assert [event.target for event in whole.events] == ["before", "after", "post"]
    assert [event.target for event in part.events] == ["post"]
    assert outbox.next_notice("all", (), 0.0).id == whole.id


def test_what_is_long_over_is_forgotten(memory):
    noted(memory, 1, first_run="nothing")
    noted(memory, 2, sighting("a"))
    noted(memory, 3)
    noted(memory, 500)

    tables = ("finding", "spell", "event")
    assert [memory.one(f"SELECT count(*) FROM {each}") for each in tables] == [0, 0, 0]
    assert [run["at"] for run in memory.runs("docs", 0.0)] == [500 * DAY_S]


def test_page_and_feed_escape_what_sites_say(memory):
    hostile = 'http://a.test/"><script>alert(1)</script>\x01'
    noted(memory, 1, first_run="nothing")
    noted(memory, 2, sighting(hostile))

    page = render_history(memory, ["docs"], 3 * DAY_S)
    feed = feed_of(memory.id, memory.events_after(0))

    assert "<script" not in page + feed
    assert "&lt;script" in page
    assert "&lt;script" in feed
    assert feed == feed_of(memory.id, memory.events_after(0))
