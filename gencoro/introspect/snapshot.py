"""A snapshot of what a process runs and waits for.

Taken by a signal handler or by the script of `gencoro.introspect.remote`, in the process
itself; encoded as text, it can be drawn by another one.

Rule: only reads.
"""

import asyncio
import contextlib
import gc
import json
import math
import os
import sys
import time
from collections.abc import Iterable, Iterator
from traceback import format_exc
from types import FrameType
from typing import Any, NamedTuple

from gencoro.introspect.drawing import draw, printable
from gencoro.introspect.graph import Node
from gencoro.introspect.survey import Survey
from gencoro.introspect.thread_steps import Step, steps, thread_name
from gencoro.introspect.wait_graph import WaitGraph

__all__ = ["Snapshot", "answer_to", "encoded", "take_snapshot", "title_of", "trees"]


class Snapshot(NamedTuple):
    """What a process was running and waiting for.

    Attributes:
        process: Its number, Python version and so on, by name.
        steps: What each thread with a loop was running.
        nodes_by_loop: The possible roots of each loop, by the loop's title.
        left_out: The number of coroutines and Tasks that were not examined.
    """

    process: dict[str, Any]
    steps: list[Step]
    nodes_by_loop: list[tuple[str, list[Node]]]
    left_out: int = 0

    def heading(self) -> list[str]:
        """Return paragraphs about the process and its threads."""
        head = f"Process {self.process['pid']} at {self.process['time']}"
        return [printable(head), *map(str, self.steps)]

    def tree(self) -> str:
        """Return the tree of each loop."""
        return trees(self.nodes_by_loop)


def take_snapshot(
    frame: FrameType, limit: float = math.inf, budget_s: float = math.inf
) -> Snapshot:
    """Examine this process.

    Args:
        frame: The current frame of this thread.
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        budget_s: The seconds in which this should end, with `encoded`.
    """
    started_at = time.monotonic()
    taken_at = time.strftime("%Y-%m-%d %H:%M:%S")
    nodes: dict[asyncio.AbstractEventLoop, list[Node]] = {}
    running = list(steps(frame))
    survey = Survey()
    # Encoding the nodes takes about as long as creating them.
    left_s = budget_s - (time.monotonic() - started_at)
    graph = WaitGraph(survey, limit, time.monotonic() + left_s / 2)
    for future, node in graph.tops():
        nodes.setdefault(future.get_loop(), []).append(node)
    gencoro = sys.modules.get("gencoro")
    process = {
        "pid": os.getpid(),
        "time": taken_at,
        "python": sys.version.partition(" ")[0],
        "gencoro": getattr(gencoro, "__version__", None),
    }
    by_loop = [(title_of(loop), its) for loop, its in nodes.items()]
    return Snapshot(process, running, by_loop, graph.left_out)


def trees(nodes_by_loop: Iterable[tuple[str, list[Node]]]) -> str:
    """Draw the tree of each loop, with its title if there are several.

    >>> trees([("a loop", [Node(text="sleep")])])
    'sleep'
    """
    pictures = [(printable(title), draw(nodes)) for title, nodes in nodes_by_loop]
    if not pictures:
        return "no coroutine is suspended"
    if len(pictures) == 1:
        return pictures[0][1]
    return "\n\n".join(f"{title}:\n{picture}" for title, picture in sorted(pictures))


def encoded(snapshot: Snapshot) -> str:
    """Return a snapshot as one line of JSON, in which nodes and calls are numbers.

    >>> encoded(Snapshot({"pid": 1}, [], [("loop", [Node(text="sleep")])]))
    '{"process":{"pid":1},"steps":[],"loops":[["loop",[0]]],"left_out":0,"nodes":[[[],"sleep","",[],""]],"calls":[]}'
    """
    call_numbers: dict[Any, int] = {}
    node_numbers: dict[Node, int] = {}
    order: list[Node] = []

    def of(calls: Iterable[object]) -> list[int]:
        return [call_numbers.setdefault(call, len(call_numbers)) for call in calls]

    def number(node: Node) -> int:
        if node not in node_numbers:
            node_numbers[node] = len(order)
            order.append(node)
        return node_numbers[node]

    told = [[step.thread, of(step.calls), of([step.at])[0]] for step in snapshot.steps]
    loops = [[title, list(map(number, its))] for title, its in snapshot.nodes_by_loop]
    nodes = []
    for node in order:  # which grows meanwhile
        children = [[place, number(child)] for place, child in node.children]
        nodes.append([of(node.heads), node.text, node.detail, children, node.kind])
    return json.dumps(
        {
            "process": snapshot.process,
            "steps": told,
            "loops": loops,
            "left_out": snapshot.left_out,
            "nodes": nodes,
            "calls": list(call_numbers),
        },
        separators=(",", ":"),
    )


def answer_to(limit: int, budget_s: float, frame: FrameType) -> str:
    """Return the answer to another process: a snapshot or an error, as JSON.

    >>> answer_to(10, 1.0, sys._getframe())[:12]
    '{"process":{'
    """
    try:
        with _without_collections():
            return encoded(take_snapshot(frame, limit, budget_s))
    except Exception:  # a bug of ours: report it instead of raising it
        return json.dumps({"error": format_exc()})


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Keep the garbage collector from running because of what is created here.

    It would run finalizers of the program, and take as long as everything else.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def title_of(loop: asyncio.AbstractEventLoop) -> str:
    """Return what a tree of a loop is headed with.

    >>> loop = asyncio.new_event_loop()
    >>> loop.close()
    >>> title_of(loop).partition(",")[2]
    ' closed'
    """
    name = type(loop).__name__
    if loop.is_closed():
        return f"{name}, closed"
    thread = getattr(loop, "_thread_id", None)
    return f"{name} on {thread_name(thread)}" if thread else f"{name}, not running"
