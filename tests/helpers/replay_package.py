"""ReplayWeb.page, for the tests that replay in Chromium: its package, and what it shows."""

import os
import pathlib

import pytest
from selenium.webdriver.support.wait import WebDriverWait

from crawler_app.base.storage.tables import cache_home
from crawler_app.show.browse.player import PACKAGE

__all__ = ["PATIENCE_S", "replay_package", "shown_in_replay"]

# A busy machine takes long to start the worker that replays.
PATIENCE_S = 90

# Looks for the replayed page, the one with an element "d", through shadow roots and frames.
_FIND = """
function find(root) {
    for (const element of root.querySelectorAll('*')) {
        const inner = element.contentDocument || element.shadowRoot;
        const found = inner && (inner.getElementById('d') ? inner : find(inner));
        if (found) return found;
    }
    return null;
}
const page = find(document);
if (!page) return null;
"""


def replay_package() -> pathlib.Path:
    """Return its file: REPLAY_WEB_PAGE, or that in the cache.  Skips the test without one."""
    named = os.environ.get("REPLAY_WEB_PAGE")
    package = pathlib.Path(named) if named else cache_home() / PACKAGE
    if not package.is_file():
        pytest.skip(f"needs ReplayWeb.page: REPLAY_WEB_PAGE must name {PACKAGE}")
    return package


def shown_in_replay(chromium, look):
    """Return what a script says of the replayed ``page``, once it returns anything but null."""
    # Looked for all the time, it would take the time that the page needs to appear.
    waiting = WebDriverWait(chromium, PATIENCE_S)
    return waiting.until(lambda browser: browser.execute_script(_FIND + look))
