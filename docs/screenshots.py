"""Takes the pictures of the report and the dashboard: ``python -m docs.screenshots``.

It crawls the demo site, and needs Chromium and chromedriver.  The dashboard is taken while
the crawl runs.
"""

import contextlib
import tempfile
from base64 import b64decode
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from crawler_app import (
    Crawl,
    CrawlConfig,
    CrawlDirectory,
    Crawler,
    Dashboard,
    DemoSite,
    Monitor,
    gather,
)
from crawler_app.show.report import render_html
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.chromium import start_chromium

__all__ = ["main"]

PICTURES = Path(__file__).parent / "pictures"

# Slow enough to be seen.  Waiting for a retry keeps the crawl running when the first failures
# are known, which the demo site has among its last pages.
SLOWLY = {"host_gap_s": 0.25, "tries": 2, "retry_pause_s": 10.0}
SIZE = {"width": 1240, "height": 980, "deviceScaleFactor": 1, "mobile": False}
QUERY = "telescope*"


def main(pictures: Path = PICTURES, pace: dict[str, Any] = SLOWLY) -> None:
    """Write the pictures.

    Args:
        pace: Options of the crawl.
    """
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        chromium = start_chromium(Path(folder) / "profile")
        chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
        chromium.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        try:
            loop = IOLoop(make_current=False)
            into = str(Path(folder) / "crawl")
            loop.run_sync(lambda: _take_all(chromium, pool, into, pictures, pace))
            loop.close()
        finally:
            chromium.quit()


@gen.coroutine
def _take_all(
    chromium: Chrome,
    pool: ThreadPoolExecutor,
    into: str,
    pictures: Path,
    pace: dict[str, Any],
) -> Generator[Any, Any, None]:
    url: gen.Future[str] = gen.Future()

    @contextlib.contextmanager
    def watch(crawl: Crawl) -> Iterator[None]:
        monitor = Monitor(crawl)
        with (
            Dashboard(monitor, index_paths=[Path(into, "crawl.sqlite")]) as page,
            monitor,
        ):
            url.set_result(page.url)
            yield

    site = DemoSite()
    site.start()
    config = CrawlConfig((site.url,), into=into, **pace)
    crawling = Crawler(config, watch=watch).run()
    picture = pictures / "dashboard.webp"
    yield pool.submit(_take_dashboard, chromium, (yield url), picture)
    yield crawling
    yield site.stop()
    report = Path(into, "report.html")
    report.write_text(render_html(gather(CrawlDirectory.open(into))), encoding="utf-8")
    chromium.get(report.as_uri())
    _take(chromium, pictures / "report.webp")


def _take_dashboard(chromium: Chrome, url: str, picture: Path) -> None:
    chromium.get(url)
    patience = WebDriverWait(chromium, 60)
    failures = chromium.find_element(By.ID, "failures")
    patience.until(lambda _: "http_" in failures.text)
    query = chromium.find_element(By.ID, "query")
    query.send_keys(QUERY)
    hits = chromium.find_element(By.ID, "hits")
    # Again, until the pages are in the index: they are committed from time to time.
    patience.until(lambda _: hits.text or query.send_keys(Keys.ENTER))
    _take(chromium, picture)


def _take(chromium: Chrome, picture: Path) -> None:
    command = {"format": "webp", "quality": 80}
    taken = chromium.execute_cdp_cmd("Page.captureScreenshot", command)
    picture.write_bytes(b64decode(taken["data"]))


if __name__ == "__main__":
    main()
