"""The output of ``ps``: a table, or a list for JSON."""

from collections.abc import Iterator
from typing import Any

from gencoro.introspect.drawing import MOST_LINES, printable
from gencoro.introspect.graph import Call, Node
from gencoro.introspect.snapshot import Snapshot

__all__ = ["list_document", "table"]

HEADS = ["KIND", "NAME", "COROUTINE", "AT", "WAITS FOR"]

# Of a Task that waits for several others, as many are named.
MOST_NAMED = 3

# Wider cells do not make their column wider.
WIDEST = 50


def table(snapshot: Snapshot) -> str:
    """Return a line for each coroutine and Task, in the order of file and line.

    >>> nap = Node([Call("nap", "/srv/tea.py", 3, "tea.py")], "sleep", kind="coroutine")
    >>> print(table(Snapshot({}, [], [("a loop", [nap])])))
    KIND       NAME  COROUTINE  AT        WAITS FOR
    coroutine        nap        tea.py:3  sleep
    """
    if not snapshot.nodes_by_loop:
        return snapshot.tree()
    several = len(snapshot.nodes_by_loop) > 1
    rows = []
    for title, node in _coroutines(snapshot):
        line = _row(node)
        rows.append([*line[:-1], title, line[-1]] if several else line)
    rows.sort(key=lambda row: (row[3], row[2], row[1]))
    heads = [*HEADS[:-1], "LOOP", HEADS[-1]] if several else HEADS
    shown = [heads, *([printable(cell) for cell in row] for row in rows[:MOST_LINES])]
    widths = [min(WIDEST, max(map(len, column))) for column in zip(*shown)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in shown
    ]
    if len(rows) > MOST_LINES:
        lines.append(f"... and {len(rows) - MOST_LINES} more")
    return "\n".join(lines)


def list_document(snapshot: Snapshot) -> dict[str, Any]:
    """Return what `table` shows as a document of JSON, complete."""
    coroutines = [
        {
            "kind": node.kind,
            "name": node.task_name(),
            "loop": title,
            "calls": node.calls(),
            "waits_for": _waits_for(node),
        }
        for title, node in _coroutines(snapshot)
    ]
    return snapshot.head() | {"coroutines": coroutines}


def _coroutines(snapshot: Snapshot) -> Iterator[tuple[str, Node]]:
    for title, nodes in snapshot.nodes_by_loop:
        yield from ((title, node) for node in nodes if node.kind)


def _row(node: Node) -> list[str]:
    calls = [call for call in node.heads if isinstance(call, Call)]
    stack = " -> ".join(call.function for call in calls)
    at = f"{calls[-1].place}:{calls[-1].line}" if calls and calls[-1].file else ""
    return [node.kind, node.task_name() or "", stack, at, _waits_for(node)]


def _waits_for(node: Node) -> str:
    if node.text or not node.children:
        return node.text
    return ", ".join(child.description() for _, child in node.children[:MOST_NAMED])
