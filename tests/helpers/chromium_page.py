"""What a test may ask of the page that Chromium shows.

Each function takes the driver.  A list holds only what was found: a page without faults
gives ``[]``.
"""

import base64
import json
import os
import pathlib
from typing import Any

import pytest
from selenium.webdriver import Chrome

__all__ = [
    "accessibility_faults",
    "console_errors",
    "requested_urls",
    "screenshot",
    "scrolls_sideways",
]

# What Chromium takes from itself or from the page.
NOT_REQUESTED = ("about:", "blob:", "chrome:", "data:")

RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run().then(
    (results) => done({violations: results.violations}),
    (error) => done({error: String(error)}),
);
"""


def console_errors(chromium: Chrome) -> list[str]:
    """Return the errors in the console since the last call.

    Those that scripts write or do not catch, what a content security policy refuses,
    and what does not load.
    """
    records = chromium.get_log("browser")
    return [record["message"] for record in records if record["level"] == "SEVERE"]


def requested_urls(chromium: Chrome) -> list[str]:
    """Return the addresses that have been asked for since the last call.

    The page itself is one of them, and so is what was refused or did not answer.
    """
    records = chromium.get_log("performance")
    messages = [json.loads(record["message"])["message"] for record in records]
    urls = [_requested(message["method"], message["params"]) for message in messages]
    return [url for url in urls if url and not url.startswith(NOT_REQUESTED)]


def _requested(method: str, params: dict[str, Any]) -> str | None:
    """Return the address that a message of the DevTools says is asked for, if any."""
    if method == "Network.requestWillBeSent":
        return str(params["request"]["url"])
    if method == "Network.webSocketCreated":
        return str(params["url"])
    return None


def accessibility_faults(chromium: Chrome) -> list[str]:
    """Return what axe finds wrong: the rule, what it asks for, the element.

    By its ordinary rules: WCAG 2 at levels A and AA, and its best practices.  Skips the
    test where axe is missing.
    """
    if not os.environ.get("AXE_CORE"):
        pytest.skip("needs axe-core: AXE_CORE must name its axe.min.js")
    axe = pathlib.Path(os.environ["AXE_CORE"]).read_text(encoding="utf-8")
    chromium.execute_script(axe)
    results = chromium.execute_async_script(RUN_AXE)
    assert "error" not in results, results["error"]
    return [
        f"{fault['id']}: {fault['help']}: {node['html']}"
        for fault in results["violations"]
        for node in fault["nodes"]
    ]


def scrolls_sideways(chromium: Chrome) -> bool:
    """Return whether the page is wider than the window.

    A phone makes the page smaller until it fits, unless the page forbids that; such a
    page is too wide as well.
    """
    return bool(
        chromium.execute_script(
            "const root = document.documentElement;"
            "return root.scrollWidth > Math.min(root.clientWidth, outerWidth)"
        )
    )


def screenshot(chromium: Chrome, path: pathlib.Path) -> None:
    """Write the whole page as a PNG, with what is below the window."""
    command = {"captureBeyondViewport": True}
    taken = chromium.execute_cdp_cmd("Page.captureScreenshot", command)
    path.write_bytes(base64.b64decode(taken["data"]))
