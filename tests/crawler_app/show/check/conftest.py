"""Two sites to check: references on one lead to the other."""

import contextlib
import json

import pytest

from tests.helpers.site import Site


@pytest.fixture
def other():
    """Return a second site, on another port."""
    with contextlib.ExitStack() as cleanup:
        site = Site()
        cleanup.callback(site.stop)
        yield site


@pytest.fixture
def check(gencrawl):
    """Run a check; return its status and its findings."""

    def run(*arguments):
        options = ("--format", "json", "--retry-pause", "0")
        ended = gencrawl("check", *arguments, *options)
        assert ended.out, ended.err
        return ended.status, json.loads(ended.out)["findings"]

    return run
