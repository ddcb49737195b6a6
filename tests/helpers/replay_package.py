"""The package of ReplayWeb.page, for the tests that replay in Chromium."""

import os
import pathlib

import pytest

from crawler_app.base.storage.tables import cache_home
from crawler_app.show.browse.player import PACKAGE

__all__ = ["replay_package"]


def replay_package() -> pathlib.Path:
    """Return its file: REPLAY_WEB_PAGE, or that in the cache.  Skips the test without one."""
    named = os.environ.get("REPLAY_WEB_PAGE")
    package = pathlib.Path(named) if named else cache_home() / PACKAGE
    if not package.is_file():
        pytest.skip(f"needs ReplayWeb.page: REPLAY_WEB_PAGE must name {PACKAGE}")
    return package
