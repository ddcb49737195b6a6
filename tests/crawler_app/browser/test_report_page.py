"""The page of a report, as Chromium shows it."""

import pytest
from looking import (
    accessibility_faults,
    console_errors,
    requested_urls,
    scrolls_sideways,
)
from selenium.webdriver.common.by import By

from crawler_app.config import CrawlConfig
from crawler_app.crawler import Crawler
from crawler_app.demo_site import DemoSite
from crawler_app.directory import CrawlDirectory
from crawler_app.report import gather, render_html
from crawler_app.report.findings import Broken, HeldLink
from gencoro import gen
from gencoro.ioloop import IOLoop

LONG = "http://a.test/" + "long" * 400


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """Report on the demo's site, with some more that is broken."""
    into = str(tmp_path_factory.mktemp("report") / "crawl")

    @gen.coroutine
    def crawl():
        site = DemoSite(slow_s=0.0, large_bytes=1000)
        site.start()
        yield Crawler(CrawlConfig((site.url,), into=into, retry_pause_s=0.0)).run()
        yield site.stop()

    loop = IOLoop(make_current=False)
    loop.run_sync(crawl)
    loop.close()
    report = gather(CrawlDirectory.open(into))
    links = [HeldLink(f"{LONG}/{n}", "W" * 200, "x") for n in range(9)]
    report.broken += [
        Broken(f"{LONG}{n}", None, "dns", "x" * 300, links=links) for n in range(9)
    ]
    return report


@pytest.fixture
def address(report, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    return path.as_uri()


def shown(chromium, selector):
    found = chromium.find_elements(By.CSS_SELECTOR, selector)
    return [element for element in found if element.is_displayed()]


@pytest.fixture
def emulate(chromium):
    """Return a function that has the page shown as in another medium."""

    def emulate(media="", scheme=""):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        parameters = {"media": media, "features": [feature]}
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", parameters)

    yield emulate
    emulate()


def test_page_shows_its_verdict_and_its_sections(chromium, address, report):
    chromium.get(address)

    assert shown(chromium, "h1")[0].text == f"{len(report.broken)} broken URLs"
    titles = [element.text for element in shown(chromium, "h2")]
    assert titles[:3] == ["Broken links", "The shape of the site", "Answers"]
    assert {"Redirect loops", "Redirect chains", "Hosts", "This crawl"} <= set(titles)
    assert shown(chromium, "svg.sunburst")
    assert console_errors(chromium) == []


def test_page_asks_for_nothing(chromium, address):
    chromium.get(address)

    assert requested_urls(chromium) == [address]


def test_filter_leaves_what_has_the_words(chromium, address):
    chromium.get(address)
    every = shown(chromium, ".broken > li")

    shown(chromium, "#words")[0].send_keys("SKETCH map")

    (left,) = shown(chromium, ".broken > li")
    assert "/guide/sketch-map.html" in left.text
    assert shown(chromium, "output")[0].text == f"1 of {len(every)}"
    assert console_errors(chromium) == []


def test_link_of_the_list_of_sections_leads_there(chromium, address):
    chromium.get(address)

    chromium.find_element(By.CSS_SELECTOR, "nav a[href='#hosts']").click()

    assert chromium.current_url == f"{address}#hosts"
    assert console_errors(chromium) == []


def test_page_is_no_wider_than_a_phone(phone, address):
    phone.get(address)

    assert not scrolls_sideways(phone)


def test_tables_fit_on_a_small_phone(phone, address):
    metrics = {"width": 375, "height": 667, "deviceScaleFactor": 2, "mobile": True}
    phone.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    phone.get(address)

    too_wide = [
        table.get_attribute("aria-label")
        for table in shown(phone, ".table")
        if table.get_property("scrollWidth") > table.get_property("clientWidth")
    ]

    assert too_wide == []
    assert [head.text for head in shown(phone, "#hosts th")][:2] == ["Host", "Broken"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_accessible(chromium, address, emulate, scheme):
    emulate(scheme=scheme)
    chromium.get(address)

    assert accessibility_faults(chromium) == []


def test_page_is_accessible_on_a_phone(phone, address):
    phone.get(address)

    assert accessibility_faults(phone) == []


def test_print_shows_what_is_behind_a_click(chromium, address, emulate):
    chromium.get(address)
    behind = chromium.find_element(By.CSS_SELECTOR, "details li")
    is_visible = "return arguments[0].checkVisibility()"
    assert not chromium.execute_script(is_visible, behind)

    emulate(media="print")

    assert chromium.execute_script(is_visible, behind)
    assert shown(chromium, "summary, nav, #filter") == []


def test_dark_screen_is_dark_and_paper_is_not(chromium, address, emulate):
    chromium.get(address)
    color = "return getComputedStyle(document.body).backgroundColor"

    emulate(scheme="dark")
    on_screen = chromium.execute_script(color)
    emulate(media="print", scheme="dark")

    assert on_screen == "rgb(19, 22, 25)"
    assert chromium.execute_script(color) == "rgb(255, 255, 255)"
