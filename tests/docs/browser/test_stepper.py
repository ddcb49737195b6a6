"""The page that steps through a recorded program, in a browser.

What its script does is asked of the page alone, which needs no Sphinx; how it looks, of the
page that Sphinx builds.
"""

import shutil

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.helpers.built_docs import DOCS
from tests.helpers.chromium_page import (
    accessibility_faults,
    console_errors,
    requested_urls,
    scrolls_sideways,
)

ALONE = """
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Step by step</title>
<link rel="stylesheet" href="../_static/pages.css">
<main>
<h1>The event loop</h1>
<div class="stepper-pictures"><img src="traces/three_naps.svg" alt="Three naps"></div>
{stepper}
</main>
"""


@pytest.fixture
def built(built_docs):
    """Return the address of the page that Sphinx builds."""
    return (built_docs / "story/steps.html").as_uri()


@pytest.fixture(scope="session")
def alone(tmp_path_factory):
    """Return the address of a page with the stepper and little else."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copytree(DOCS / "static", folder / "_static")
    shutil.copytree(DOCS / "story/traces", folder / "story/traces")
    stepper = (DOCS / "story/traces/stepper.html").read_text(encoding="utf-8")
    page = folder / "story/steps.html"
    page.write_text(ALONE.replace("{stepper}", stepper), encoding="utf-8")
    return page.as_uri()


class Stepper:
    """What a reader sees of the stepper, and presses."""

    def __init__(self, chromium):
        self.chromium = chromium

    def find(self, selector):
        return self.chromium.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        found = self.chromium.find_elements(By.CSS_SELECTOR, f"{selector} > li")
        return [element.text for element in found]

    def press(self, *names):
        for name in names:
            self.find(f"[data-go={name}]").click()

    def type(self, *keys):
        for key in keys:
            self.chromium.switch_to.active_element.send_keys(key)

    @property
    def place(self):
        return self.find(".stepper-place").text

    @property
    def line(self):
        return self.find(".stepper-code [aria-current=step]").text.split(maxsplit=1)[1]


@pytest.fixture
def stepper(chromium, alone):
    chromium.get(alone)
    return Stepper(chromium)


@pytest.fixture
def built_stepper(chromium, built):
    chromium.get(built)
    return Stepper(chromium)


WHERE = pytest.mark.parametrize("where", ["alone", "built"])


@WHERE
def test_code_and_queue_are_beside_each_other(chromium, request, where):
    chromium.get(request.getfixturevalue(where))
    stepper = Stepper(chromium)
    stepper.press("next")

    assert stepper.place.startswith("Step 2 of 45, turn 1, at 0 s.")
    stepper.press("turn", "turn", "next", "next")
    assert stepper.line == "yield gen.sleep(seconds)"
    assert stepper.find(".stepper-stack").text == "nap"
    assert "nap(1) running" in stepper.texts(".stepper-states")
    code, queue = stepper.find(".stepper-code"), stepper.find(".stepper-queue")
    assert code.rect["x"] + code.rect["width"] <= queue.rect["x"]
    assert console_errors(stepper.chromium) == []
    urls = requested_urls(stepper.chromium)
    assert all(url.startswith("file:") for url in urls)


def test_queue_is_shown_before_its_callback_runs(stepper):
    stepper.press("turn", "turn")
    assert stepper.place.endswith("Turn 3 of the loop begins.")
    assert stepper.texts(".stepper-queue") == ["Runner.run of nap(1)"]
    assert stepper.texts(".stepper-waiting") == [
        "Sleep.wake of nap(2), at 2 s",
        "Sleep.wake of nap(3), at 3 s",
    ]

    stepper.press("next")

    assert stepper.place.endswith("The loop calls Runner.run of nap(1).")
    assert stepper.texts(".stepper-queue") == ["empty"]


def test_every_program_can_be_stepped_through(stepper):
    chooser = Select(stepper.find("#stepper-program"))
    titles = [option.text for option in chooser.options]
    for title in titles:
        chooser.select_by_visible_text(title)
        assert stepper.place.startswith("Step 1 of ")
        stepper.find("[data-go=next]").click()
        stepper.type(Keys.END)
        _, step, _, count, *_ = stepper.place.replace(",", "").split()
        assert step == count
        assert not any(" waits: " in text for text in stepper.texts(".stepper-states"))

    assert len(titles) == 6


def test_keys_do_what_the_buttons_do(stepper):
    stepper.find("[data-go=next]").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert stepper.place.startswith("Step 3 of")
    stepper.type(Keys.ARROW_LEFT)
    assert stepper.place.startswith("Step 2 of")
    stepper.type(Keys.PAGE_DOWN)
    assert "turn 2" in stepper.place
    stepper.type(Keys.PAGE_UP)
    assert stepper.place.startswith("Step 1 of")
    stepper.type(Keys.ENTER)  # the button that has the focus
    assert stepper.place.startswith("Step 2 of")
    stepper.type(Keys.END, Keys.ARROW_RIGHT)
    assert stepper.place.startswith("Step 45 of 45")
    assert stepper.find("[data-go=next]").get_attribute("aria-disabled") == "true"


def test_keys_choose_the_program_where_it_is_chosen(stepper):
    stepper.find("#stepper-program").send_keys(Keys.ARROW_DOWN)

    assert stepper.place.startswith("Step 1 of")
    chosen = Select(stepper.find("#stepper-program")).first_selected_option.text
    assert chosen == "Two fetches on the loop of stage 4"


def test_address_may_name_a_program(stepper, alone):
    stepper.chromium.get(f"{alone}#recorded-two-fetches")

    chosen = Select(stepper.find("#stepper-program")).first_selected_option.text
    assert chosen == "Two fetches on the loop of stage 4"
    assert (
        stepper.place
        == "Step 1 of 287, turn 0. Loop.run, line 3: while self._is_running:"
    )


def test_tabulator_reaches_everything_in_order(stepper):
    stepper.find("#stepper-program").send_keys(Keys.TAB)
    reached = []
    for _ in range(6):
        element = stepper.chromium.switch_to.active_element
        reached.append(element.get_attribute("data-go") or element.tag_name)
        stepper.type(Keys.TAB)

    assert reached == ["first", "turn-back", "back", "next", "turn", "pre"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_built_page_is_accessible(built_stepper, emulate, scheme):
    emulate(scheme=scheme)
    # Now there is something in each part of it.
    built_stepper.press("turn", "turn", "next", "next")

    assert accessibility_faults(built_stepper.chromium) == []


@WHERE
def test_page_fits_a_phone(phone, request, where):
    phone.get(request.getfixturevalue(where))
    stepper = Stepper(phone)
    stepper.press("turn", "next")
    Select(stepper.find("#stepper-program")).select_by_index(1)

    assert not scrolls_sideways(phone)
    code, queue = stepper.find(".stepper-code"), stepper.find(".stepper-queue")
    assert code.rect["y"] + code.rect["height"] <= queue.rect["y"]


def test_print_of_the_built_page_has_the_pictures(built_stepper, emulate):
    pictures = built_stepper.find(".stepper-pictures img")
    assert not pictures.is_displayed()

    emulate(media="print")

    assert pictures.is_displayed()
    assert not built_stepper.find(".stepper").is_displayed()


def test_built_page_without_scripts_has_the_pictures(chromium, built):
    off = "Emulation.setScriptExecutionDisabled"
    chromium.execute_cdp_cmd(off, {"value": True})
    chromium.get(built)
    stepper = Stepper(chromium)
    shown = stepper.find(".stepper-pictures img").is_displayed()
    hidden = not stepper.find(".stepper").is_displayed()
    chromium.execute_cdp_cmd(off, {"value": False})

    assert shown
    assert hidden
