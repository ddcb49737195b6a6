"""Tests of pages in Chromium.

The behavior of a page does not depend on the version of Python, so these tests run on one
interpreter only.
"""

import pathlib

import pytest

from tests.helpers.chromium import chromium, emulate, phone, started_chromium
from tests.helpers.postgres import postgres, postgres_url

__all__ = [
    "chromium",
    "emulate",
    "phone",
    "postgres",
    "postgres_url",
    "started_chromium",
]

HERE = pathlib.Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("once")
