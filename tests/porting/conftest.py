"""The player of programs, shared by the tests of the converter."""

from collections.abc import Iterator

import pytest

from tests.helpers.porting.playing import Player


@pytest.fixture(scope="session")
def player() -> Iterator[Player]:
    player = Player()
    yield player
    player.close()


@pytest.fixture(scope="session")
def plain_player() -> Iterator[Player]:
    player = Player("--plain")
    yield player
    player.close()
