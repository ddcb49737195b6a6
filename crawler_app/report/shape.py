"""The shape of a site: its URLs as a tree of directories, with what became of them.

Pure.  The tree of a site of any size has a limited number of nodes: when there are too
many, those of the fewest URLs become part of their parents, which count them all the
same.  `crawler_app.report.sunburst` draws it.
"""

import enum
import statistics
from collections.abc import Sequence

__all__ = ["Kind", "Node", "Shape", "in_words"]

# Segments of a path that are nodes of their own; deeper URLs count to the last of them.
MAX_DEPTH = 8

# About 10 MB with names and URLs of a usual length.
MAX_NODES = 20_000


class Kind(enum.IntEnum):
    """What became of a URL.  What was never to be fetched is no part of the shape."""

    OK = 0
    FILE = 1
    REDIRECT = 2
    BROKEN = 3
    LEFT = 4


KINDS = len(Kind)  # counted once: an enum takes its time

# One of them, and several.
WORDS_BY_KIND = {
    Kind.OK: ("page", "pages"),
    Kind.FILE: ("file", "files"),
    Kind.REDIRECT: ("redirect", "redirects"),
    Kind.BROKEN: ("broken", "broken"),
    Kind.LEFT: ("not fetched yet", "not fetched yet"),
}


def in_words(counts: Sequence[int]) -> str:
    """Return numbers of URLs, one of each `Kind`, as a person says them.

    >>> in_words([1200, 0, 1, 3, 0])
    '1,200 pages, 1 redirect, 3 broken'
    """
    return ", ".join(
        f"{n:,} {words[n != 1]}"
        for n, words in zip(counts, WORDS_BY_KIND.values(), strict=True)
        if n
    )


class Node:
    """A host, a directory or a page, with all that is below it.

    Attributes:
        name: The host, or the segment of the path, as it is in the URLs.
        url: What all its URLs begin with, without a slash at the end.
        counts: How many URLs there are, here and below, of each `Kind`.
        child_by_name: What is below, except where it was too little to keep.
    """

    __slots__ = ("child_by_name", "counts", "name", "url")

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.url = url
        self.counts = [0] * KINDS
        self.child_by_name: dict[str, Node] = {}

    @property
    def total(self) -> int:
        """URLs of any kind, here and below."""
        return sum(self.counts)

    def children(self) -> list["Node"]:
        """Return what is below, the largest first."""
        return sorted(self.child_by_name.values(), key=lambda n: (-n.total, n.name))


class Shape:
    """The tree of all URLs that were added.

    Args:
        max_depth: Segments of a path that count.
        max_nodes: How many nodes there may be, at most.

    >>> shape = Shape()
    >>> for path in ("", "docs/", "docs/a.html", "docs/b.html?page=2"):
    ...     shape.add(f"https://a.test/{path}", Kind.OK)
    >>> [(node.url, node.total) for node in shape.top.children()]
    [('https://a.test/docs', 3)]
    """

    def __init__(
        self, *, max_depth: int = MAX_DEPTH, max_nodes: int = MAX_NODES
    ) -> None:
        self._max_depth = max_depth
        self._max_nodes = max_nodes
        self._nodes = 0
        self.root = Node("", "")

    def add(self, url: str, kind: Kind) -> None:
        """Count one more URL; its query is no part of the shape."""
        scheme, _, rest = url.partition("?")[0].partition("://")
        node = self.root
        node.counts[kind] += 1
        # Most slashes are neither doubled nor at the end.
        names = [name for name in rest.split("/") if name]
        for name in names[: self._max_depth + 1]:
            child = node.child_by_name.get(name)
            if child is None:
                child = self._new_child(node, name, scheme)
            child.counts[kind] += 1
            node = child
        if self._nodes > self._max_nodes:
            self._fold()

    @property
    def top(self) -> Node:
        """The host, if there is only one, or else what is above all hosts."""
        hosts = self.root.children()
        if len(hosts) == 1 and hosts[0].total == self.root.total:
            return hosts[0]
        return self.root

    def _new_child(self, parent: Node, name: str, scheme: str) -> Node:
        before = f"{parent.url}/" if parent is not self.root else f"{scheme}://"
        child = parent.child_by_name[name] = Node(name, before + name)
        self._nodes += 1
        return child

    def _fold(self) -> None:
        """Forget the smaller half of all nodes; their parents have counted them already.

        What grows large although its beginnings were forgotten is met again, and has
        lost no more than those.  At least ``max_nodes / 2`` new nodes come between
        two times, so it costs each of them little.

        Source: "lossy counting" in Manku and Motwani, Approximate Frequency Counts over
        Data Streams, 2002.
        """
        nodes = [self.root]
        for node in nodes:  # which grows while it is read
            nodes.extend(node.child_by_name.values())
        totals = [node.total for node in nodes]
        most = statistics.median_low(totals[1:])
        # A child has no more URLs than its parent, so whole branches go.
        kept = [n for n, total in zip(nodes, totals, strict=True) if total > most]
        for node in [self.root, *kept]:
            node.child_by_name = {
                name: child
                for name, child in node.child_by_name.items()
                if child.total > most
            }
        self._nodes = sum(total > most for total in totals[1:])
