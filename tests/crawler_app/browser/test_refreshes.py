"""Refreshes lead where Chromium goes."""

import html

import pytest
from selenium.webdriver.support.wait import WebDriverWait

from crawler_app.base.urls import join_or_nothing
from tests.helpers.refreshes import REFERENCE_BY_VALUE


@pytest.mark.parametrize("as_header", [False, True])
def test_chromium_reads_the_same_reference_in_each_refresh(chromium, site, as_header):
    wanted = {}
    values = [*REFERENCE_BY_VALUE, "2;url=/last"]
    for number, value in enumerate(values):
        path = f"/case/{number}"
        wanted[site.url + path[1:]] = REFERENCE_BY_VALUE.get(value, "/last")
        meta = f'<meta http-equiv=refresh content="{html.escape(value)}">'
        headers = {"Refresh": value} if as_header else {}
        body = b"" if as_header else meta.encode()
        # Once: a page that refreshes to itself would be loaded until the end.
        site.answer(path, body, headers=headers, times=1)
        site.answer(path)
    frames = "".join(f"<iframe src={url}></iframe>" for url in wanted)
    site.answer("/", frames.encode())

    chromium.get(site.url)
    WebDriverWait(chromium, 60).until(lambda _: "/last" in site.paths)

    base = site.url.rstrip("/")
    found = {
        (headers["Referer"], join_or_nothing("", base + path))
        for path, headers in site.requests
        if headers.get("Referer") in wanted
    }
    reloaded = {(url, url) for url in wanted}
    assert found - reloaded == {
        (url, join_or_nothing(url, reference))
        for url, reference in wanted.items()
        if reference
    }
