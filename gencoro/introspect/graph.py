"""A graph of nodes: its roots, shared nodes and similar nodes.

Pure: it does not matter here what a node stands for.  `gencoro.introspect.wait_graph` builds
the nodes and `gencoro.introspect.drawing` draws them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["Call", "Graph", "Node", "labels_down"]

# The number of labels by which nodes are sorted: their own and those below.
LABELS_COMPARED = 5


class Call(NamedTuple):
    """A function, and the line that it has reached.

    Attributes:
        function: Its qualified name.
        file: Its file as Python names it; empty for a function written in C.
        line: The line number.
        place: The file as people read it, relative to a directory of ``sys.path``.

    >>> print(Call("main", "/srv/shop/app.py", 12, "app.py"))
    main() at app.py:12
    """

    function: str
    file: str = ""
    line: int = 0
    place: str = ""

    def __str__(self) -> str:
        if not self.file:
            return self.function
        return f"{self.function}() at {self.place}:{self.line}"


@dataclass(eq=False, slots=True)
class Node:
    """Something that waits or is waited for.

    Attributes:
        heads: A `Call` or a line for each frame of a coroutine, outermost first;
            otherwise empty.
        text: What it is or does; empty for a coroutine that just waits.
        detail: Text that changes over time, or differs between similar nodes.
        children: What it waits for, each with its index or key, or an empty text.
        kind: ``"coroutine"``, ``"Task"``, or empty for anything else.
    """

    heads: Sequence[object] = ()
    text: str = ""
    detail: str = ""
    children: "list[tuple[str, Node]]" = field(default_factory=list)
    kind: str = ""

    def label(self) -> str:
        """Return the first line, which does not change while the node waits.

        >>> Node(["main() at app.py:12"]).label()
        'main() at app.py:12'
        """
        return str(self.heads[0]) if self.heads else self.text

    def description(self) -> str:
        """Return a description in one line.

        >>> Node(text="sleep", detail="4.2 s left").description()
        'sleep, 4.2 s left'
        """
        if self.heads or not self.detail:
            return self.label()
        return f"{self.text}, {self.detail}"

    def task_name(self) -> str | None:
        """Return the name of a Task; None for anything else."""
        return self.detail if self.kind == "Task" else None

    def calls(self) -> list[dict[str, Any]]:
        """Return its calls for JSON."""
        return [call._asdict() for call in self.heads if isinstance(call, Call)]


class Graph:
    """Nodes and everything below them.

    Attributes:
        roots: Nodes from which all others are reached: those without waiters, sorted, and
            then one of each circle of nodes that wait for each other.
        waiters: The number of waiters of each node.

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
        """Return True if a node is reached more than once from the roots."""
        return self.waiters[node] + (node in self._circle_roots) > 1

    def looks(self, node: Node) -> "int | Node":
        """Return a key that similar nodes share, regardless of details.

        A shared node is similar to itself only.
        """
        return node if self.is_shared(node) else self._looks[node]

    def _in_order(self, given: list[Node]) -> list[Node]:
        """Return all nodes; each node that is not shared comes after its waiter.

        Nodes that are not below a root belong to a circle, or are below one.
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
        # All nodes above have waiters, or this one would have been reached from a root.
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
    """Return the sort key of a node: its label and the first ones below.

    >>> labels_down(Node(["nap()"], children=[("", Node(text="sleep"))]))
    ['nap()', 'sleep']
    """
    labels = [node.label()]
    while node.children and len(labels) < LABELS_COMPARED:
        node = node.children[0][1]
        labels.append(node.label())
    return labels


def _descend(starts: Iterable[Node], met: set[Node]) -> Iterator[Node]:
    """Yield the nodes from ``starts`` down that were not met yet, waiters first."""
    stack = list(starts)[::-1]
    while stack:
        node = stack.pop()
        if node not in met:
            met.add(node)
            yield node
            stack += [child for _, child in reversed(node.children)]
