"""What the tests of a watch share: a memory, sightings, and a server that is told."""

import time

import pytest

from crawler_app.show.watch.deciding import Rule
from crawler_app.show.watch.looking import UNCHECKED, Look, Sighting
from crawler_app.show.watch.memory import Memory
from crawler_app.show.watch.watch_config import UNCHECKED_RULE
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
    return Memory.open(tmp_path / "memory")


def sighting(target, kind="broken", cause=""):
    return Sighting(
        *(kind, target, "", "404 Not Found", "http://a.test/:1:2", 1),
        *(cause, ["http://a.test/"]),
    )


def rule_of(kind):
    return (
        Rule(2)
        if kind == "external"
        else UNCHECKED_RULE
        if kind == UNCHECKED
        else Rule()
    )


def look_of(*sightings, unknown=(), **values):
    """Return a check that has seen these, and knows nothing of some targets."""
    return Look([*sightings], lambda key: key[3] not in unknown, **{"urls": 1} | values)
