"""Two sites to check: references on one lead to the other."""

import json

import pytest


@pytest.fixture
def check(gencrawl):
    """Run a check; return its status and its findings."""

    def run(*arguments):
        options = ("--format", "json", "--retry-pause", "0")
        ended = gencrawl("check", *arguments, *options)
        assert ended.out, ended.err
        return ended.status, json.loads(ended.out)["findings"]

    return run
