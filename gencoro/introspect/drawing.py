"""Draws a wait graph as a tree in plain ASCII.

Rule: the drawing always ends and stays short, even with circles, chains longer than
Python's stack, or a hundred thousand similar nodes.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gencoro.introspect.graph import Graph, Node, labels_down

__all__ = ["draw", "printable"]

# Up to this number of similar nodes are drawn each; of more, only the first.
ALIKE_SHOWN = 3

# Branches deeper than this are left out: each level takes four columns.
DEEPEST = 20

# The middle of a longer chain of nodes is left out.
LONGEST_CHAIN = 40

# The maximum number of lines: people read the first ones, but a log stores all of them.
MOST_LINES = 1000


def draw(nodes: Iterable[Node]) -> str:
    """Draw nodes and everything they wait for, starting at the roots.

    What a node waits for is drawn below it, with branches for several things.  A node with
    several waiters has a number and is drawn once.  Nodes are sorted by label, and by
    position in a branch.

    >>> sleep = Node(text="sleep", detail="4.2 s left")
    >>> load = Node(["load() at app.py:20"], children=[("", sleep)])
    >>> both = Node(text="list, 1 of 3 done", children=[("[0]", load), ("[2]", load)])
    >>> main = Node(["main() at app.py:12"], children=[("", both)])
    >>> print(draw([load, main]))
    main() at app.py:12: list, 1 of 3 done
    |-- [0] load() at app.py:20 (#1, 2 wait for it): sleep, 4.2 s left
    '-- [2] load() at app.py:20 (#1 again, see above)
    """
    return "\n".join(_shortened(_Drawing(Graph(nodes)).lines()))


def printable(text: str) -> str:
    r"""Escape control characters for a terminal.

    >>> printable("red \x1b[31m")
    'red \\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii")
        for one in text
    )


class _Item(NamedTuple):
    """A node that has not been drawn yet.

    Attributes:
        lead: The beginning of its first line.
        margin: The beginning of its other lines.
        depth: The number of branches above it.
    """

    node: Node
    lead: str
    margin: str
    depth: int


class _Drawing:
    """One drawing, produced line by line and without recursion."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._numbers: dict[Node, int] = {}
        # Shared nodes that are only partly drawn: if one occurs below itself, it waits for
        # itself.
        self._open: set[Node] = set()
        # The next item is on top: a node to draw, a line, or a node that is finished.
        self._stack: list[_Item | str | Node] = []

    def lines(self) -> Iterator[str]:
        roots = [("", root) for root in self._graph.roots]
        for node, line in reversed(self._grouped(roots)):
            self._stack.append(_Item(node, line, "", 0) if node else line)
        while self._stack:
            item = self._stack.pop()
            if isinstance(item, _Item):
                yield from self._draw_item(item)
            elif isinstance(item, str):
                yield item
            else:
                self._open.discard(item)

    def _draw_item(self, item: _Item) -> Iterator[str]:
        lines, children = self._follow(item.node)
        yield item.lead + lines[0]
        for line in _without_middle(lines[1:]):
            yield f"{item.margin}-> {line}"
        if _only_child(children):
            self._stack.append(
                item._replace(node=children[0][1], lead=f"{item.margin}-> ")
            )
        elif item.depth == DEEPEST and children:
            yield f"{item.margin}... what is deeper is left out"
        else:
            self._push_branches(children, item)

    def _push_branches(self, children: list[tuple[str, Node]], above: _Item) -> None:
        fork, margin = "'-- ", "    "
        for node, line in reversed(self._grouped(children)):
            line = f"{above.margin}{fork}{line}"
            if node is None:
                self._stack.append(line)
            else:
                margin = above.margin + margin
                self._stack.append(_Item(node, line, margin, above.depth + 1))
            fork, margin = "|-- ", "|   "

    def _grouped(
        self, children: list[tuple[str, Node]]
    ) -> list[tuple[Node | None, str]]:
        """Return the nodes to draw, and lines that stand for similar ones."""
        if not any(place for place, _ in children):
            children = sorted(children, key=lambda pair: labels_down(pair[1]))
        counts = Counter(self._graph.looks(node) for _, node in children)
        grouped: list[tuple[Node | None, str]] = []
        for place, node in children:
            looks = self._graph.looks(node)
            count = counts[looks]
            if count:
                grouped.append((node, f"{place} " if place else ""))
            if count > ALIKE_SHOWN:
                grouped.append((None, f"... and {count - 1} more like {node.label()}"))
                counts[looks] = 0
        return grouped

    def _follow(self, node: Node) -> tuple[list[str], list[tuple[str, Node]]]:
        """Return the lines of a node and its single children, and then the branches."""
        lines: list[str] = []
        while True:
            again = node in self._numbers
            words = self._words(node)
            if node.heads or not lines:
                lines += words
            else:
                lines[-1] += f": {words[0]}"
            if again:
                return lines, []
            child = _only_child(node.children)
            if child is None or (child.heads and self._graph.is_shared(child)):
                return lines, node.children
            node = child

    def _words(self, node: Node) -> list[str]:
        asides = [self._number(node)] if self._graph.is_shared(node) else []
        if not node.heads:
            return [node.description() + _in_brackets(asides)]
        asides += [node.detail] if node.detail else []
        first, *others = map(str, node.heads)
        lines = [first + _in_brackets(asides), *others]
        if node.text:
            lines[-1] += f": {node.text}"
        return lines

    def _number(self, node: Node) -> str:
        if node in self._numbers:
            again = f"#{self._numbers[node]} again"
            if not node.children:
                return again
            where = (
                ": they wait for each other" if node in self._open else ", see above"
            )
            return again + where
        number = self._numbers[node] = len(self._numbers) + 1
        self._open.add(node)
        self._stack.append(node)
        waiters = self._graph.waiters[node]
        return f"#{number}, {waiters} wait for it" if waiters > 1 else f"#{number}"


def _only_child(children: list[tuple[str, Node]]) -> Node | None:
    if len(children) == 1 and not children[0][0]:
        return children[0][1]
    return None


def _in_brackets(asides: list[str]) -> str:
    return f" ({', '.join(asides)})" if asides else ""


def _without_middle(lines: list[str]) -> list[str]:
    """Return the beginning and the end of a long chain."""
    if len(lines) <= LONGEST_CHAIN:
        return lines
    half = LONGEST_CHAIN // 2
    left_out = f"... and {len(lines) - 2 * half} more, until"
    return [*lines[:half], left_out, *lines[-half:]]


def _shortened(lines: Iterator[str]) -> Iterator[str]:
    yield from map(printable, itertools.islice(lines, MOST_LINES))
    if next(lines, None) is not None:
        yield "... the rest is left out"
