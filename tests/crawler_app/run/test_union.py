"""Several indexes that are searched as one."""

import contextlib

from crawler_app.run.directory.union import UnionIndex
from crawler_app.store.index import PageIndex


def test_page_that_is_in_two_indexes_is_found_once():
    indexes = [PageIndex(":memory:", any_thread=True) for _ in range(2)]
    for index in indexes:
        index.add("http://a.test/x", "Telescope", "", "A telescope", 0.0)
    indexes[1].add("http://a.test/y", "Sky", "", "Through a telescope", 0.0)

    with contextlib.closing(UnionIndex(indexes)) as union:
        found = union.search("telescope")

    assert [hit.url for hit in found.hits] == ["http://a.test/x", "http://a.test/y"]
    assert found.total == 2
