"""Starts Chromium for the tests of pages; `tests.helpers.chromium_page` inspects a page.

The fixtures are for the conftest.py of a folder.  A test is skipped, with the reason, where
Chromium or its driver is missing.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
from collections.abc import Callable, Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

__all__ = ["chromium", "emulate", "phone", "start_chromium", "started_chromium"]

FLAGS = [
    "--headless=new",
    "--no-sandbox",  # root has none
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",  # two processes for a window
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--window-size=1280,900",
]


@pytest.fixture
def chromium(started_chromium: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """Return a driver of Chromium at an empty page, with nothing in its logs."""
    yield started_chromium
    started_chromium.delete_all_cookies()
    started_chromium.get("about:blank")
    for log in ["browser", "performance"]:
        started_chromium.get_log(log)


@pytest.fixture
def phone(chromium: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """Return the driver with a window as large as a phone's, 390 by 844 pixels."""
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 3, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    yield chromium
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.fixture
def emulate(chromium: webdriver.Chrome) -> Iterator[Callable[..., None]]:
    """Return a function that emulates another medium or color scheme."""

    def emulate(media: str = "", scheme: str = "") -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        parameters = {"media": media, "features": [feature]}
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", parameters)

    yield emulate
    emulate()


@pytest.fixture(scope="session")
def started_chromium(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[webdriver.Chrome]:
    """Start Chromium for the first test that needs it; this process shares it."""
    profile = tmp_path_factory.mktemp("chromium")
    with _one_at_a_time(tmp_path_factory.getbasetemp().parent):
        chromium = start_chromium(profile)
    try:
        chromium.set_page_load_timeout(30)
        chromium.set_script_timeout(30)
        yield chromium
    finally:
        chromium.quit()


def start_chromium(profile: pathlib.Path) -> webdriver.Chrome:
    """Return the driver of a new Chromium that keeps its files in this folder."""
    program, driver = _program("chromium"), _program("chromedriver")
    service = Service(driver, env=os.environ | {"HOME": str(profile)})
    # A connection that is kept would be one too many for tests that count them.
    return webdriver.Chrome(_options(program, profile), service, keep_alive=False)


def _program(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"needs the program {name}")


def _options(program: str, profile: pathlib.Path) -> webdriver.ChromeOptions:
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    logs = {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", logs)
    return options


@contextlib.contextmanager
def _one_at_a_time(folder: pathlib.Path) -> Iterator[None]:
    """Wait while another process of the tests starts Chromium, which takes all cores."""
    with open(folder / "chromium.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
