"""The page of a report, as Chromium shows it."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from crawler_app.base.config import CrawlConfig
from crawler_app.base.reasons import Reason
from crawler_app.commands.demo_site import DemoSite
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.show.report import gather, render_html
from crawler_app.show.report.report_data import Broken, ReportedLink, UncheckedUrl
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.chromium_page import (
    accessibility_faults,
    console_errors,
    requested_urls,
    scrolls_sideways,
)

LONG = "http://a.test/" + "long" * 400


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """Report on the demo site, with further broken URLs."""
    into = str(tmp_path_factory.mktemp("report") / "crawl")

    @gen.coroutine
    def crawl():
        site = DemoSite()
        site.start()
        yield Crawler(CrawlConfig((site.url,), into=into, retry_pause_s=0.0)).run()
        yield site.stop()

    loop = IOLoop(make_current=False)
    loop.run_sync(crawl)
    loop.close()
    report = gather(CrawlDirectory.open(into))
    links = [ReportedLink(f"{LONG}/{n}", "W" * 200, "x") for n in range(9)]
    report.broken += [
        Broken(f"{LONG}{n}", None, "dns", "x" * 300, links=links, pages=9)
        for n in range(9)
    ]
    report.not_checked.append(
        UncheckedUrl("http://a.test/large", 200, Reason.TOO_LARGE)
    )
    return report


@pytest.fixture
def address(report, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    return path.as_uri()


# In one request to the driver; `is_displayed` would be one for each element.
SHOWN = """
const isShown = each => each.checkVisibility({opacityProperty: true, visibilityProperty: true});
return [...document.querySelectorAll(arguments[0])].filter(isShown)"""


def shown(chromium, selector):
    return chromium.execute_script(SHOWN, selector)


def texts(chromium, selector):
    """Return the texts of the elements that are shown."""
    return chromium.execute_script(f"{SHOWN}.map(each => each.innerText)", selector)


def test_page_shows_its_verdict_and_its_sections(chromium, address):
    chromium.get(address)

    verdict = "12 broken URLs and 1 redirect loop"
    assert shown(chromium, "h1")[0].text == verdict
    titles = texts(chromium, "h2")
    assert titles[:3] == ["Fix first", "The shape of the site", "Broken links"]
    assert {"Redirect loops", "Titles", "Hosts", "What to do"} <= set(titles)
    assert shown(chromium, ".treemap button")
    assert requested_urls(chromium) == [address]
    assert console_errors(chromium) == []


def test_filter_shows_only_matching_urls(chromium, address):
    chromium.get(address)
    every = shown(chromium, ".broken > li")

    shown(chromium, "#words")[0].send_keys("SKETCH map")

    (left,) = shown(chromium, ".broken > li")
    assert "/guide/sketch-map.html" in left.text
    assert shown(chromium, "output")[0].text == f"1 of {len(every)}"
    assert console_errors(chromium) == []


def box(chromium, folder, suffix=""):
    selector = f"[data-folder$='{folder}']{suffix}"
    return chromium.find_element(By.CSS_SELECTOR, selector)


def choose(chromium, folder):
    # With a script: the page scrolls smoothly, and a click would miss the moving box.
    chromium.execute_script("arguments[0].click()", box(chromium, folder))


def hidden_sections(chromium):
    sections = chromium.find_elements(By.CSS_SELECTOR, "main > section")
    hidden = set(sections) - set(shown(chromium, "main > section"))
    return {each.get_attribute("id") for each in hidden}


def test_chosen_folder_shows_only_its_urls(chromium, address):
    chromium.get(address)
    every = shown(chromium, ".broken > li")
    assert not shown(chromium, "#chosen")

    choose(chromium, "/sky/")

    left = texts(chromium, ".broken > li h3")
    assert [text.partition("/sky/")[2] for text in left] == ["today", "webcam.html"]
    assert box(chromium, "/sky/").get_attribute("aria-pressed") == "true"
    words = f"Only sky: 2 of {len(every)} broken URLs"
    assert shown(chromium, "#chosen output")[0].text == words
    assert shown(chromium, "#loops tbody tr")
    assert {"duplicates", "not-checked"} <= hidden_sections(chromium)
    assert not shown(chromium, "nav a[href='#duplicates']")
    # Not the slowest, which differ from run to run.
    largest = texts(chromium, "#largest tbody tr")
    assert largest
    assert all(text.startswith("/sky/") for text in largest)

    choose(chromium, "/sky/")

    assert shown(chromium, ".broken > li") == every
    assert not shown(chromium, "#chosen")
    assert hidden_sections(chromium) == set()
    assert console_errors(chromium) == []


def test_each_url_is_in_one_box(chromium, address):
    chromium.get(address)
    every = shown(chromium, ".broken > li")

    found = []
    for each in shown(chromium, ".treemap > li > button"):
        each.send_keys(Keys.ENTER)
        found += shown(chromium, ".broken > li")

    # The long ones are of another host, which was never crawled.
    assert len(found) == len(set(found)) == len(every)


def test_folder_is_chosen_with_the_keyboard(chromium, address):
    chromium.get(address)
    every = shown(chromium, ".broken > li")

    box(chromium, "/guide/", ":not([data-rest])").send_keys(Keys.ENTER)
    (left,) = shown(chromium, ".broken > li")
    assert "/guide/sketch-map.html" in left.text
    shown(chromium, "#words")[0].send_keys("webcam")
    assert shown(chromium, ".broken > li") == []
    shown(chromium, "#chosen button")[0].send_keys(Keys.SPACE)

    assert len(shown(chromium, ".broken > li")) == 1
    focused = chromium.switch_to.active_element
    assert focused.get_attribute("data-folder").endswith("/guide/")
    assert len(every) > 1


def test_table_is_sorted_with_the_keyboard(chromium, address):
    chromium.get(address)
    rows = "#largest tbody tr"
    as_reported = texts(chromium, rows)
    url, _, size = shown(chromium, "#largest th")

    size.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    largest_first = texts(chromium, rows)
    assert size.get_attribute("aria-sort") == "descending"
    size.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    smallest_first = texts(chromium, rows)
    assert size.get_attribute("aria-sort") == "ascending"
    url.find_element(By.TAG_NAME, "button").send_keys(Keys.SPACE)
    by_url = texts(chromium, rows)

    assert (url.get_attribute("aria-sort"), size.get_attribute("aria-sort")) == (
        "ascending",
        None,
    )
    # By the number of bytes, not by the text "9.1 KB".
    assert largest_first == as_reported
    assert smallest_first[0] == as_reported[-1]
    assert by_url == sorted(as_reported)
    assert accessibility_faults(chromium) == []


def test_boxes_are_readable_without_scripts(chromium, address):
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    chromium.get(address)

    names = [text.partition("\n")[0] for text in texts(chromium, ".treemap button")]
    enabled = chromium.find_elements(By.CSS_SELECTOR, ".treemap button:enabled")
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    assert {"guide", "news", "sky"} <= set(names)
    assert enabled == []


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
    assert texts(phone, "#hosts th")[:2] == ["Host", "Broken"]


def test_page_is_accessible(chromium, address, emulate):
    chromium.get(address)

    for scheme in ("light", "dark"):
        emulate(scheme=scheme)
        assert accessibility_faults(chromium) == [], scheme
    choose(chromium, "/sky/")  # seen in the dark
    assert accessibility_faults(chromium) == []
    emulate(scheme="light")
    assert accessibility_faults(chromium) == []


def test_page_fits_a_phone(phone, address):
    phone.get(address)

    assert not scrolls_sideways(phone)
    assert accessibility_faults(phone) == []


def test_print_shows_collapsed_lists(chromium, address, emulate):
    chromium.get(address)
    collapsed = chromium.find_element(By.CSS_SELECTOR, "details li")
    is_visible = "return arguments[0].checkVisibility()"
    assert not chromium.execute_script(is_visible, collapsed)

    emulate(media="print")

    assert chromium.execute_script(is_visible, collapsed)
    assert shown(chromium, "summary, nav, #filter") == []


def test_dark_scheme_applies_to_the_screen_only(chromium, address, emulate):
    chromium.get(address)
    color = "return getComputedStyle(document.body).backgroundColor"

    emulate(scheme="dark")
    on_screen = chromium.execute_script(color)
    emulate(media="print", scheme="dark")

    assert on_screen == "rgb(19, 22, 25)"
    assert chromium.execute_script(color) == "rgb(255, 255, 255)"
