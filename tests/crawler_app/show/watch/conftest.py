"""What the tests of a watch share: a memory, sightings, and a server that is told."""

import time

import pytest

from crawler_app.show.watch.looking import Look, Sighting
from crawler_app.show.watch.memory import Memory
from tests.helpers.http.certificates import certificates
from tests.helpers.receiver import Receiver

__all__ = ["certificates"]


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Let times of day not depend on the machine."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.stop()


@pytest.fixture
def memory(tmp_path):
    return Memory(tmp_path / "memory")


def sighting(target, kind="broken", host=""):
    key = (kind, "http://a.test/", target, target, "http_404")
    return Sighting(
        *(kind, target, "", "404 Not Found", "http://a.test/:1:2", 1),
        *(host, 1, [[*key]]),
    )


def look_of(*sightings, unknown=(), **values):
    """Return a check that has seen these, and knows nothing of some targets."""
    return Look([*sightings], lambda key: key[3] not in unknown, **{"urls": 1} | values)
