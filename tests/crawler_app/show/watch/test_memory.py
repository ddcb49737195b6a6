"""What a watch remembers: checks, outages, who was told, and what is forgotten."""

import functools
import json
import operator
import uuid

import pytest

from crawler_app.base.errors import ConfigError, StorageError
from crawler_app.show.watch.deciding import DAY_S
from crawler_app.show.watch.looking import Look
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.publishing import feed_of, render_history
from tests.crawler_app.show.watch.conftest import look_of, rule_of, sighting


def noted(memory, day, *sightings, site="docs", **values):
    look = look_of(*sightings, urls=7, **values)
    return memory.note(site, look, day * DAY_S, rule_of)


def kinds(events):
    return [event.kind for event in events]


def test_each_change_is_told_once(memory, tmp_path):
    found = [sighting("a"), sighting("b"), sighting("c", "external")]

    assert kinds(noted(memory, 1, *found)) == ["broken", "broken"]
    again = Memory.open(tmp_path / "memory")
    (event,) = noted(again, 2, *found)
    assert (event.kind, event.since, event.at) == ("broken", DAY_S, 2 * DAY_S)
    assert noted(again, 3, *found) == []
    assert kinds(noted(Memory.open(tmp_path / "memory"), 4, *found[1:])) == ["mended"]


def test_what_a_check_does_not_know_changes_nothing(memory):
    noted(memory, 2, sighting("a"))

    assert noted(memory, 3, unknown={"a"}) == []
    (mended,) = noted(memory, 4)
    assert mended.line == (
        "a: works again, or is no longer referred to (was: 404 Not Found)"
    )
    assert mended.kind == "mended"


def test_host_that_does_not_answer_is_one_thing_to_tell(memory):
    urls = [f"http://b.test/{n}" for n in range(300)]
    found = [sighting(url, "external", "http://b.test/") for url in urls]
    found.append(sighting("http://b.test/x", "external"))
    noted(memory, 1, *found)

    host, other = noted(memory, 2, *found)

    assert host.line == (
        "http://b.test/: 404 Not Found (300 links to 300 URLs, such as on "
        "http://a.test/:1:2)"
    )
    assert other.target == "http://b.test/x"
    assert len(memory.broken(["docs"])) == 2
    noted(memory, 3)
    host, other = noted(memory, 4)
    assert (host.urls, other.urls) == (300, 1)
    assert host.line.startswith("http://b.test/: 300 URLs work again, or are no longer")


def test_nothing_is_half_noted(memory, tmp_path, monkeypatch):
    noted(memory, 1)
    before = (tmp_path / "memory").read_text()

    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match="No space"):
        noted(memory, 2, sighting("a"))

    assert (tmp_path / "memory").read_text() == before


def test_site_that_cannot_be_checked_is_told_as_a_finding_is(memory):
    def unchecked(day):
        return memory.note("docs", Look.void("offline"), day * DAY_S, rule_of)

    noted(memory, 1, sighting("a"))

    assert unchecked(2) == []
    assert noted(memory, 3, sighting("a")) == []
    assert [unchecked(day) for day in (4, 4.5)] == [[], []]
    (event,) = unchecked(5)
    assert (event.kind, event.line) == ("broken", "not checked: offline")
    assert unchecked(6) == noted(memory, 7, sighting("a")) == []
    assert kinds(noted(memory, 8, sighting("a"))) == ["mended"]
    assert memory.site("docs").runs[-2].caveat == ""


def test_what_is_long_over_is_forgotten(memory, tmp_path):
    memory.open_channels(["team"])
    noted(memory, 1, sighting("a"))
    noted(memory, 2)
    for day in range(100, 300):
        noted(memory, day, *([sighting("b")] * (day % 2)))

    site = memory.site("docs")
    assert [each.seen.target for each in site.findings] == ["b"]
    assert len(site.runs) == 90
    assert len(memory.events) == 5
    for n in range(300):
        noted(memory, 300, *([sighting(f"{n}")]))
    assert len(memory.events) > 300
    memory.channels["team"].told = memory.last_event
    noted(memory, 301)
    assert len(memory.events) <= 101


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 2}', '{"version": 1, "id": "x"}']
)
def test_file_of_another_kind_is_refused(tmp_path, text):
    path = tmp_path / "memory"
    path.write_text(text)

    with pytest.raises(ConfigError, match="move it away"):
        Memory.open(path)
    assert path.read_text() == text


def places_in(value, place=()):
    """Yield where a document has values that are neither lists nor objects."""
    if not isinstance(value, (dict, list)):
        yield place
        return
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        yield from places_in(each, (*place, key))


def test_value_of_another_type_is_refused(memory, tmp_path):
    memory.open_channels(["team"])
    noted(memory, 1, sighting("a"))
    path = tmp_path / "memory"
    text = path.read_text()

    places = [*places_in(json.loads(text))]
    for *above, last in places:
        whole = json.loads(text)
        functools.reduce(operator.getitem, above, whole)[last] = [None]
        path.write_text(json.dumps(whole))
        with pytest.raises(ConfigError, match="move it away"):
            Memory.open(path)
    assert len(places) > 30


def test_what_is_remembered_is_json_for_others(memory, tmp_path):
    noted(memory, 1, sighting("a"))

    whole = json.loads((tmp_path / "memory").read_text())
    assert whole["sites"]["docs"]["findings"][0]["seen"]["target"] == "a"


def test_page_and_feed_escape_what_sites_say(memory):
    hostile = 'http://a.test/"><script>alert(1)</script>\x01'
    noted(memory, 2, sighting(hostile))

    page = render_history(memory, ["docs"], 3 * DAY_S)
    feed = feed_of(memory)

    assert "<script" not in page + feed
    assert "&lt;script" in page
    assert "&lt;script" in feed
    assert "\x01" not in page + feed
    assert feed == feed_of(memory)
    assert str(uuid.UUID(memory.id)) not in feed
