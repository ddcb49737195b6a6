"""Tests of pages in Chromium.

What a page does there has nothing to do with the version of Python, so these tests run on
one interpreter only.
"""

import pathlib

import pytest

from tests.helpers.built_docs import DOCS, build_docs
from tests.helpers.chromium import chromium, emulate, phone, started_chromium

__all__ = ["chromium", "emulate", "phone", "started_chromium"]

HERE = pathlib.Path(__file__).parent

INDEX = f"""
Title
=====

.. toctree::
   :caption: Part

   page
   story/steps

Code
----

.. code-block:: text

   short

.. code-block:: text

   {"long " * 16}

Table
-----

.. list-table::

   * - ``{"x" * 30}``
     - ``{"y" * 30}``

Picture
-------

.. figure:: story/traces/three_naps.svg
   :alt: Three naps.
"""


@pytest.fixture(scope="session")
def built_docs(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Build an index with what pages.css is for, and the page with the stepper."""
    steps = (DOCS / "story/steps.rst").read_text(encoding="utf-8")
    pages = {
        "index.rst": INDEX,
        "page.rst": "Page\n====\n\nText.\n",
        "story/steps.rst": steps,
    }
    return build_docs(tmp_path_factory.mktemp("docs"), pages)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("once")
