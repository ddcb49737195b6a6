"""A query that is the title of a page finds that page first, in real documentation."""

import contextlib
import random
from pathlib import Path

import pytest

from crawler_app.run.directory.union import UnionIndex
from crawler_app.store.index import PageIndex
from crawler_app.web.documents.html import parse_html

# Of Debian's packages python3.11-doc and openjdk-17-doc.
TREES = [
    Path("/usr/share/doc/python3.11/html"),
    Path("/usr/share/doc/openjdk-17-jre-headless/api/java.base"),
]
PAGES = 25


@pytest.fixture(scope="module", params=TREES, ids=lambda tree: tree.parts[4])
def pages(request):
    """Return pages that are chosen at random, by name."""
    files = sorted(request.param.rglob("*.html"))
    if not files:
        pytest.skip(f"{request.param} is not installed")
    chosen = random.Random(1).sample(files, PAGES)
    return {
        str(file): parse_html(file.read_bytes(), "text/html", with_text=True)
        for file in chosen
    }


@pytest.mark.parametrize("parts", [1, 2])
def test_page_is_first_for_its_title(pages, parts):
    indexes = [PageIndex(":memory:", any_thread=True) for _ in range(parts)]
    for number, (name, page) in enumerate(pages.items()):
        index = indexes[number % parts]
        index.add(name, page.title, page.headings, page.text, 0.0)
    with contextlib.closing(UnionIndex(indexes)) as union:
        for page in pages.values():
            first = union.search(page.title, limit=1).hits[0]
            assert (first.title, first.is_title) == (page.title, True)
