"""Inspects the page that Chromium shows.

Each function takes the driver.  A list contains only faults: a good page returns ``[]``.
"""

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
    "scrolls_sideways",
]

# URLs that Chromium loads without a request.
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

    They are errors that scripts write or do not catch, blocked by a content security policy,
    or failures to load.
    """
    records = chromium.get_log("browser")
    return [record["message"] for record in records if record["level"] == "SEVERE"]


def requested_urls(chromium: Chrome) -> list[str]:
    """Return the URLs requested since the last call, including the page itself.

    Refused and unanswered requests count too.
    """
    records = chromium.get_log("performance")
    messages = [json.loads(record["message"])["message"] for record in records]
    urls = [_requested(message["method"], message["params"]) for message in messages]
    return [url for url in urls if url and not url.startswith(NOT_REQUESTED)]


def _requested(method: str, params: dict[str, Any]) -> str | None:
    """Return the URL of the request in a message of the DevTools; None if there is none."""
    if method == "Network.requestWillBeSent":
        return str(params["request"]["url"])
    if method == "Network.webSocketCreated":
        return str(params["url"])
    return None


def accessibility_faults(chromium: Chrome) -> list[str]:
    """Return the violations that axe finds: the rule, its help, the element.

    With its default rules: WCAG 2 at levels A and AA, and best practices.  Skips the test if
    axe is missing.
    """
    if not os.environ.get("AXE_CORE"):
        pytest.skip("needs axe-core: AXE_CORE must name its axe.min.js")
    if not chromium.execute_script("return 'axe' in window"):
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
