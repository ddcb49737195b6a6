"""Nodes that wait for nodes: where to begin with them, which are shared, which alike.

Pure: what a node stands for is no concern of this module.  Used by `gencoro.introspect.drawing`,
which draws them, and `gencoro.introspect.wait_graph`, which makes them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["Graph", "Node", "labels_down"]

# Nodes are sorted by their own label and those of so many others below them.
LABELS_COMPARED = 5


@dataclass(eq=False, slots=True)
class Node:
    """What waits, or what is waited for.

    Attributes:
        heads: A line for each frame of a coroutine, the outermost first; none for what
            is no coroutine.
        text: What it is, or what it does; a coroutine that only waits says nothing.
        detail: What differs from one moment, or one of a kind, to the next.
        children: What it waits for, each with a name for its place, or an empty one.
    """

    heads: list[str] = field(default_factory=list)
    text: str = ""
    detail: str = ""
    children: "list[tuple[str, Node]]" = field(default_factory=list)

    def label(self) -> str:
        """Return its first words, which do not change as long as it waits.

        >>> Node(["main() at app.py:12"]).label()
        'main() at app.py:12'
        """
        return self.heads[0] if self.heads else self.text

    def description(self) -> str:
        """Return all that is said of it in one line.

        >>> Node(text="sleep", detail="4.2 s left").description()
        'sleep, 4.2 s left'
        """
        if self.heads or not self.detail:
            return self.label()
        return f"{self.text}, {self.detail}"


class Graph:
    """Nodes and all below them.

    Attributes:
        roots: Where to begin, so that every node is met: those that nobody waits for,
            sorted, and then one of each circle of nodes that wait for each other.
        waiters: How many wait for a node.

    >>> leaf = Node(text="sleep")
    >>> one, two = Node(["one()"], children=[("", leaf)]), Node(["two()"])
    >>> graph = Graph([two, leaf, one])
    >>> [root.label() for root in graph.roots]
    ['one()', 'two()']
    >>> graph.waiters[leaf]
    1
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        given = sorted(nodes, key=labels_down)
        self.waiters: Counter[Node] = Counter()
        self._first_waiter: dict[Node, Node] = {}
        for node in _descend(given, set()):
            for _, child in node.children:
                self.waiters[child] += 1
                self._first_waiter.setdefault(child, node)
        self.roots = [node for node in given if not self.waiters[node]]
        self._circle_roots: set[Node] = set()
        self._looks: dict[Node, int] = {}
        self._compare(self._in_order(given))

    def is_shared(self, node: Node) -> bool:
        """Return whether a node is met more than once on the way down from the roots."""
        return self.waiters[node] + (node in self._circle_roots) > 1

    def looks(self, node: Node) -> "int | Node":
        """Return what two nodes have in common if they look alike, details apart.

        A shared node looks like itself only.
        """
        return node if self.is_shared(node) else self._looks[node]

    def _in_order(self, given: list[Node]) -> list[Node]:
        """Return all nodes, those that are not shared after the one that waits for them.

        What is left without a root above it is a circle, and what hangs on it.
        """
        met: set[Node] = set()
        order = list(_descend(self.roots, met))
        for node in given:
            if node not in met:
                circle = self._circle_above(node)
                root = min(circle, key=lambda one: (not one.heads, one.label()))
                self.roots.append(root)
                self._circle_roots.add(root)
                order += _descend([root], met)
        return order

    def _circle_above(self, node: Node) -> list[Node]:
        # All up there have waiters: from a root, this one would have been met.
        path: dict[Node, int] = {}
        while node not in path:
            path[node] = len(path)
            node = self._first_waiter[node]
        return list(path)[path[node] :]

    def _compare(self, order: list[Node]) -> None:
        number_by_looks: dict[object, int] = {}
        for node in reversed(order):
            children = tuple(self.looks(child) for _, child in node.children)
            looks = (tuple(node.heads), node.text, children)
            self._looks[node] = number_by_looks.setdefault(looks, len(number_by_looks))


def labels_down(node: Node) -> list[str]:
    """Return what nodes are sorted by: those of one place may wait for different things.

    >>> labels_down(Node(["nap()"], children=[("", Node(text="sleep"))]))
    ['nap()', 'sleep']
    """
    labels = [node.label()]
    while node.children and len(labels) < LABELS_COMPARED:
        node = node.children[0][1]
        labels.append(node.label())
    return labels


def _descend(starts: Iterable[Node], met: set[Node]) -> Iterator[Node]:
    """Give the nodes from ``starts`` down that were not met yet, waiters first."""
    stack = list(starts)[::-1]
    while stack:
        node = stack.pop()
        if node not in met:
            met.add(node)
            yield node
            stack += [child for _, child in reversed(node.children)]
