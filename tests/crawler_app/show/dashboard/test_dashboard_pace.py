"""The pace of the crawl is changed from the dashboard."""

import pytest

from gencoro import gen

pytestmark = pytest.mark.usefixtures("no_socket_is_left")


@gen.coroutine
def test_pace_is_shown_and_changed(watched):
    _, state = yield watched.json("/state")
    assert state["pace"] == {"concurrency": 2, "per-host": None, "host-gap": None}

    body = "concurrency=7&per-host=3&host-gap=0.5"
    answer = yield watched.ask("/pace", method="POST", body=body)
    assert answer.code == 204
    _, state = yield watched.json("/state")
    assert state["pace"] == {"concurrency": 7, "per-host": 3, "host-gap": 0.5}

    # Options that are not sent stay unchanged; empty ones get their defaults.
    answer = yield watched.ask("/pace", method="POST", body="per-host=")
    assert answer.code == 204
    _, state = yield watched.json("/state")
    assert state["pace"] == {"concurrency": 7, "per-host": None, "host-gap": 0.5}


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (
            "concurrency=0",
            "Concurrency is 0; it must be a whole number, at least 1 and",
        ),
        ("host-gap=1&concurrency=x", "Concurrency is 'x'; it must be a whole number."),
        ("max-pages=3", "The pace has no 'max-pages'; it has concurrency, per-host,"),
    ],
)
@gen.coroutine
def test_invalid_pace_changes_nothing(watched, body, complaint):
    answer = yield watched.ask("/pace", method="POST", body=body)

    assert answer.code == 400
    assert answer.body.decode().startswith(complaint)
    _, state = yield watched.json("/state")
    assert state["pace"] == {"concurrency": 2, "per-host": None, "host-gap": None}


@gen.coroutine
def test_urls_under_way_are_shown_with_their_age(watched):
    run = yield watched.run_to(3)
    watched.monitor.look()

    _, state = yield watched.json("/state")
    ((url, age_s),) = state["under_way"]
    assert url == f"{watched.site.url}3"
    assert 0 <= age_s < 60
    progress = state["progress"]
    assert (progress["share"], progress["is_growing"]) == (0.75, True)

    watched.site.let_go("/3")
    yield run
    watched.monitor.look()
    _, state = yield watched.json("/state")
    assert state["under_way"] == []
    assert (state["progress"]["share"], state["progress"]["left_s"]) == (1.0, 0.0)
