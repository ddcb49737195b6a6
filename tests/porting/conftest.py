"""The player of programs, shared by the tests of the converter."""

from collections.abc import Iterator

import pytest

from gencoro.porting import formatting
from tests.helpers.porting.playing import Player


@pytest.fixture(scope="session")
def player() -> Iterator[Player]:
    player = Player()
    yield player
    player.close()


@pytest.fixture
def without_ruff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not start ruff for each file, for programs whose format is not the question."""
    monkeypatch.setattr(formatting, "find_ruff", lambda: None)


@pytest.fixture(scope="session")
def plain_player() -> Iterator[Player]:
    player = Player("--plain")
    yield player
    player.close()
