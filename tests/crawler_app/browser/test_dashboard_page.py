"""The dashboard in a browser: the figures of a crawl, and its controls."""

import asyncio
import contextlib
import threading

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions as expected
from selenium.webdriver.support.ui import WebDriverWait

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawl.monitor import Monitor
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.show.dashboard import Dashboard
from crawler_app.show.report import gather, render_html
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.chromium_page import (
    accessibility_faults,
    console_errors,
    requested_urls,
    scrolls_sideways,
)

# A title that would run if it became markup.
EVIL = "<img src=x onerror=console.error('run')>"
HELD = 20
PAGES = 30

SUMMARY = "29 pages" + 50 * " in many columns"


# Crawls two seeds for some time, and prints the URL of its dashboard.
CRAWL_TO_KILL = """
import contextlib
from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawler import Crawler
from crawler_app.show.dashboard import Dashboard
from crawler_app.commands.demo_site import DemoSite
from crawler_app.run.crawl.monitor import Monitor
from gencoro import gen
from gencoro.ioloop import IOLoop

@contextlib.contextmanager
def watch(crawl):
    monitor = Monitor(crawl)
    with Dashboard(monitor) as dashboard, monitor:
        print(dashboard.url, flush=True)
        yield

@gen.coroutine
def main():
    site = DemoSite()
    site.start()
    config = CrawlConfig(("http://xn--a/", site.url), host_gap_s=1.0)
    yield Crawler(config, watch=watch).run()

IOLoop.current().run_sync(main)
"""


class HeldCrawl(threading.Thread):
    """A crawl with a dashboard in a separate thread, held at one of its pages."""

    def __init__(self, site, into):
        super().__init__()
        self._site = site
        self._into = into
        self._dashboards = contextlib.ExitStack()
        self._staying = None
        self._has_left = False
        self._ready = threading.Event()
        self.url = ""
        self.crawl = None

    def __enter__(self):
        self.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *exc_info):
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.add_callback(self._leave)
        self.let_go()
        self.join(30)
        assert not self.is_alive()

    def _leave(self):
        self._crawler.stop()
        self._has_left = True
        if self._staying is not None:
            self._staying.cancel()

    def let_go(self):
        self._site.let_go(f"/{HELD}")

    def run(self):
        seeds = (f"{self._site.url}0",)
        config = CrawlConfig(seeds, into=str(self._into), robots=False, tries=1)
        self._crawler = Crawler(config, watch=self._watch)
        self._loop = IOLoop(make_current=False)
        self._loop.run_sync(self._main)
        self._loop.close()

    @gen.coroutine
    def _main(self):
        with self._dashboards:
            yield self._crawler.run()
            if self._has_left:
                return
            self._staying = self._dashboard.stay(SUMMARY, self._report)
            with contextlib.suppress(asyncio.CancelledError):
                yield self._staying

    def _report(self):
        return render_html(gather(CrawlDirectory.open(self._into)))

    @contextlib.contextmanager
    def _watch(self, crawl):
        self.crawl = crawl
        monitor = Monitor(crawl)
        dashboard = Dashboard(monitor, index_paths=[self._into / "crawl.sqlite"])
        self._dashboard = self._dashboards.enter_context(dashboard)
        self.url = dashboard.url
        with monitor:
            self._ready.set()
            yield
        dashboard.take_last_sample()


@pytest.fixture
def crawl(site, tmp_path, monkeypatch):
    """A crawl of a chain of pages, one of which is held and one is broken."""
    monkeypatch.delenv("GENCRAWL_DASHBOARD_TOKEN", raising=False)
    for n in range(PAGES):
        links = "".join(f'<a href="/{m}">x</a>' for m in (n + 1, n + 2) if m < PAGES)
        title = f"{n} &lt;img&gt; {EVIL.replace('<', '&lt;')}"
        text = f"The mill \U0001f600 of number {n} is quiet."
        body = f"<title>{title}</title><p>{text} {links}".encode()
        site.answer(f"/{n}", body, status=500 if n == 3 else 200)
    site.hold(f"/{HELD}")
    with HeldCrawl(site, tmp_path / "crawl") as crawl:
        yield crawl


def wait_for(chromium, name, text):
    """Wait until an element contains a text."""
    condition = expected.text_to_be_present_in_element((By.ID, name), text)
    WebDriverWait(chromium, 15).until(condition)


def click(chromium, name):
    chromium.find_element(By.ID, name).click()


def text_of(chromium, name):
    return chromium.find_element(By.ID, name).text


def test_figures_are_updated_until_the_end(chromium, crawl):
    chromium.get(crawl.url)
    # Every page that can be reached without the held one.
    wait_for(chromium, "under_way", "1")
    wait_for(chromium, "failures", "http_500")
    assert text_of(chromium, "phase-text") == "Running"
    assert text_of(chromium, "title").startswith("127.0.0.1:")
    assert "127.0.0.1:" in text_of(chromium, "hosts")
    assert "/3" in text_of(chromium, "failures")
    label = chromium.find_element(By.ID, "chart").get_attribute("aria-label")
    assert label.startswith("Fetches per second, last minute: now ")

    crawl.let_go()

    wait_for(chromium, "phase-text", "Ended")
    assert text_of(chromium, "notice") == "The crawl has finished."
    assert text_of(chromium, "done") == "29"
    assert text_of(chromium, "failed") == "1"
    assert console_errors(chromium) == []
    home = crawl.url.partition("?")[0]
    asked = {url.partition("?")[0] for url in requested_urls(chromium)}
    files = ["", "dashboard.css", "dashboard.js", "events"]
    assert asked == {home + file for file in files}


def test_pace_is_changed_and_shown(chromium, crawl):
    chromium.get(crawl.url)
    wait_for(chromium, "urls", f"/{HELD}")
    wait_for(chromium, "progress-text", "At most 96 % done: 29 of 30 URLs known so far")
    host = text_of(chromium, "title")
    assert chromium.title == f"96 % – running – {host}"

    def enter(name, text):
        # With keys: `clear` fires no event, and the next sample would fill the field again.
        field = chromium.find_element(By.ID, name)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.DELETE, text)

    enter("concurrency", "0")
    click(chromium, "change")
    wait_for(chromium, "pace-status", "Concurrency is 0; it must be a whole number")
    enter("concurrency", "25")
    enter("per-host", "4")
    enter("host-gap", "0.5")
    click(chromium, "change")
    wait_for(chromium, "pace-status", "The pace was changed.")
    config = crawl.crawl.config
    assert (config.concurrency, config.per_host, config.host_gap_s) == (25, 4, 0.5)

    click(chromium, "pause")
    wait_for(chromium, "phase-text", "Paused")
    assert chromium.title == f"96 % – paused – {host}"
    # An empty gap is the default again, even on a page that is opened later.
    enter("host-gap", "")
    click(chromium, "change")
    WebDriverWait(chromium, 15).until(lambda _: crawl.crawl.config.host_gap_s is None)
    chromium.refresh()
    wait_for(chromium, "phase-text", "Paused")
    value = chromium.find_element(By.ID, "concurrency").get_attribute("value")
    assert value == "25"


def test_summary_and_report_stay_until_the_dashboard_is_closed(chromium, crawl):
    chromium.get(crawl.url)
    wait_for(chromium, "under_way", "1")
    assert not chromium.find_element(By.ID, "end").is_displayed()

    crawl.let_go()

    wait_for(chromium, "summary", "29 pages")
    assert chromium.title == f"ended – {text_of(chromium, 'title')}"
    assert text_of(chromium, "progress-text") == "100 % done: 30 of 30 known URLs."
    assert not chromium.find_element(By.ID, "change").is_enabled()
    assert chromium.find_element(By.ID, "find").is_enabled()
    click(chromium, "report")
    chromium.switch_to.window(chromium.window_handles[1])
    condition = expected.presence_of_element_located((By.TAG_NAME, "h1"))
    WebDriverWait(chromium, 15).until(condition)
    assert "1 broken" in chromium.find_element(By.TAG_NAME, "h1").text
    assert chromium.execute_script("return window.origin") == "null"
    assert console_errors(chromium) == []
    chromium.close()
    chromium.switch_to.window(chromium.window_handles[0])

    click(chromium, "close")

    wait_for(chromium, "notice", "The dashboard is closed.")
    assert text_of(chromium, "summary").startswith("29 pages")
    assert not chromium.find_element(By.ID, "report").is_displayed()
    crawl.join(30)
    assert not crawl.is_alive()


def test_crawl_is_paused_unpaused_and_stopped(chromium, crawl):
    chromium.get(crawl.url)
    wait_for(chromium, "under_way", "1")

    click(chromium, "pause")
    wait_for(chromium, "phase-text", "Paused")
    assert crawl.crawl.is_paused
    assert text_of(chromium, "pause") == "Continue"

    click(chromium, "pause")
    wait_for(chromium, "phase-text", "Running")
    assert not crawl.crawl.is_paused

    click(chromium, "stop")
    assert "Stop the crawl?" in text_of(chromium, "confirm")
    click(chromium, "keep")
    assert not chromium.find_element(By.ID, "confirm").is_displayed()
    assert not crawl.crawl.is_stopping

    click(chromium, "stop")
    click(chromium, "really-stop")
    wait_for(chromium, "phase-text", "Stopping")
    assert not chromium.find_element(By.ID, "pause").is_enabled()
    crawl.let_go()
    wait_for(chromium, "phase-text", "Ended")
    assert console_errors(chromium) == []


def test_search_shows_its_hits_as_text(chromium, crawl):
    chromium.get(crawl.url)
    wait_for(chromium, "failures", "http_500")

    query = chromium.find_element(By.ID, "query")
    query.send_keys("quiet mill")
    status = chromium.find_element(By.ID, "search-status")
    # Repeatedly: pages can be found some seconds after they were fetched.
    WebDriverWait(chromium, 20).until(
        lambda _: "1 to 10 are shown" in status.text or query.send_keys(Keys.ENTER)
    )
    hits = chromium.find_elements(By.CSS_SELECTOR, "#hits li")
    assert len(hits) == 10
    link = hits[0].find_element(By.TAG_NAME, "a")
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert EVIL in link.text
    marks = [mark.text for mark in hits[0].find_elements(By.TAG_NAME, "mark")]
    assert marks == ["mill", "quiet"]
    assert not chromium.find_elements(By.TAG_NAME, "img")

    click(chromium, "next")
    wait_for(chromium, "search-status", "11 to ")
    click(chromium, "previous")
    wait_for(chromium, "search-status", "1 to 10")

    chromium.find_element(By.ID, "query").clear()
    chromium.find_element(By.ID, "query").send_keys("xylophone", Keys.ENTER)
    wait_for(chromium, "search-status", "No page found")
    assert console_errors(chromium) == []

    chromium.find_element(By.ID, "query").clear()
    chromium.find_element(By.ID, "query").send_keys('"open', Keys.ENTER)
    wait_for(chromium, "search-status", "The quote at character 1 is not closed")


def test_page_is_accessible(chromium, crawl, emulate):
    def faults_of_both_schemes():
        found = {}
        for scheme in ("light", "dark"):
            emulate(scheme=scheme)
            found[scheme] = accessibility_faults(chromium)
        return found

    none = {"light": [], "dark": []}
    chromium.get(crawl.url)
    wait_for(chromium, "failures", "http_500")
    chromium.find_element(By.ID, "query").send_keys("mill", Keys.ENTER)
    wait_for(chromium, "search-status", "found")
    assert faults_of_both_schemes() == none

    click(chromium, "stop")
    assert faults_of_both_schemes() == none

    click(chromium, "really-stop")
    crawl.let_go()
    wait_for(chromium, "phase-text", "Ended")
    assert faults_of_both_schemes() == none


def test_page_fits_a_phone(phone, crawl):
    phone.get(crawl.url)
    wait_for(phone, "failures", "http_500")
    phone.find_element(By.ID, "query").send_keys("mill", Keys.ENTER)
    wait_for(phone, "search-status", "found")

    assert not scrolls_sideways(phone)
    assert accessibility_faults(phone) == []

    crawl.let_go()
    wait_for(phone, "summary", "29 pages")
    assert not scrolls_sideways(phone)
    assert accessibility_faults(phone) == []


def test_failed_action_is_reported(chromium, crawl):
    chromium.get(crawl.url)
    wait_for(chromium, "under_way", "1")
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    command = "Network.emulateNetworkConditions"
    chromium.execute_cdp_cmd("Network.enable", {})
    chromium.execute_cdp_cmd(command, network | {"offline": True})
    try:
        click(chromium, "pause")

        wait_for(chromium, "notice", "“pause” did not reach the crawl")
    finally:
        chromium.execute_cdp_cmd(command, network | {"offline": False})


def test_killed_crawl_is_shown_as_not_connected(chromium, start_script):
    process = start_script(CRAWL_TO_KILL)
    chromium.get(process.stdout.readline())
    wait_for(chromium, "title", "xn--a and 1 more")
    wait_for(chromium, "phase-text", "Running")

    process.kill()

    wait_for(chromium, "phase-text", "No connection")
    assert text_of(chromium, "notice") == "No connection to the crawl; trying again."
    assert not chromium.find_element(By.ID, "stop").is_enabled()
