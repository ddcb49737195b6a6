"""`gencrawl browse` shows the archive in Chromium, and sends no request elsewhere.

Skipped, with the reason, where the package of ReplayWeb.page is missing.
"""

import signal
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from tests.helpers.chromium_page import requested_urls
from tests.helpers.replay_package import PATIENCE_S, replay_package, shown_in_replay
from tests.helpers.scripts import start_python

PAGE = b"""<!doctype html><title>Home</title><h1 id=h>An event loop</h1>
<img src=http://outside.test/a.png><script src=http://outside.test/a.js></script>
<script>fetch("http://outside.test/b"); new WebSocket("ws://outside.test/c");
document.body.append(Object.assign(document.createElement("p"), {id: "d"}))</script>"""


@pytest.fixture
def browsed(site, gencrawl, tmp_path):
    """Crawl the site and stop it; yield the URL at which its archive is shown."""
    package = replay_package()
    site.answer("/", PAGE)
    assert gencrawl("crawl", site.url, "--into", tmp_path / "crawl", "-q").status == 0
    site.stop()
    command = ("browse", tmp_path / "crawl", "--player", package, "--quiet")
    with start_python("-m", "crawler_app", *command) as process:
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_archive_is_shown_without_a_request_to_the_outside(chromium, browsed):
    chromium.get(browsed)
    shown = shown_in_replay(chromium, "return page.getElementById('h').textContent")
    chromium.get(f"{browsed}search?q=loop")
    hits = [each.text for each in chromium.find_elements(By.CSS_SELECTOR, "li a")]
    chromium.get(f"{browsed}report")

    assert shown == "An event loop" and hits == ["Home"]
    assert "Made by gencrawl on" in chromium.page_source
    asked = requested_urls(chromium)
    assert len(asked) > 5
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(browsed).netloc}


def test_player_whose_worker_starts_late_waits_for_it(chromium, browsed):
    chromium.get(f"{browsed}replay/?source={browsed}crawl.wacz")
    before = chromium.page_source
    chromium.execute_script("navigator.serviceWorker.register('sw.js?serveIndex=1')")

    # The worker answers with the player.
    WebDriverWait(chromium, PATIENCE_S).until(
        lambda browser: browser.find_elements(By.TAG_NAME, "replay-app-main")
    )
    assert "The player is starting." in before
