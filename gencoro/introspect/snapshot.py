"""A snapshot of what a process runs and waits for.

Taken by a signal handler or by the script of `gencoro.introspect.remote`, in the process
itself; as JSON, it can be drawn by another one.

Rule: only reads.
"""

import asyncio
import json
import math
import os
import sys
import time
from collections.abc import Iterable
from traceback import format_exc
from types import FrameType
from typing import Any, NamedTuple

from gencoro.interpreter import without_garbage_collection
from gencoro.introspect.drawing import draw, printable
from gencoro.introspect.graph import Node
from gencoro.introspect.survey import Survey
from gencoro.introspect.thread_steps import Step, steps, thread_name
from gencoro.introspect.wait_graph import WaitGraph

__all__ = ["Snapshot", "answer_to", "take_snapshot", "title_of", "trees"]


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

    def head(self) -> dict[str, Any]:
        """Return what JSON says of the process and its threads."""
        threads = [
            {
                "name": step.thread,
                "runs": [call._asdict() for call in step.calls],
                "at": step.at._asdict(),
            }
            for step in self.steps
        ]
        return {
            "process": self.process,
            "threads": threads,
            "not_examined": self.left_out,
        }

    def document(self) -> dict[str, Any]:
        """Return the whole for JSON; nodes refer to one another by id.

        >>> nap = Node(text="sleep")
        >>> found = Snapshot({"pid": 1}, [], [("a loop", [nap])]).document()
        >>> found["loops"], found["nodes"][0]["text"]
        ([{'title': 'a loop', 'nodes': [0]}], 'sleep')
        """
        ids: dict[Node, int] = {}
        order = [node for _, its in self.nodes_by_loop for node in its]
        for node in order:  # which grows meanwhile
            if node not in ids:
                ids[node] = len(ids)
                order += [child for _, child in node.children]
        nodes = [
            {
                "id": number,
                "kind": node.kind or None,
                "name": node.task_name(),
                "calls": node.calls(),
                "text": node.text,
                "detail": node.detail,
                "waits_for": [
                    {"place": place, "id": ids[child]} for place, child in node.children
                ],
            }
            for node, number in ids.items()
        ]
        loops = [
            {"title": title, "nodes": [ids[node] for node in its]}
            for title, its in self.nodes_by_loop
        ]
        return self.head() | {"loops": loops, "nodes": nodes}


def take_snapshot(
    frame: FrameType, limit: float = math.inf, budget_s: float = math.inf
) -> Snapshot:
    """Examine this process.

    Args:
        frame: The current frame of this thread.
        limit: The maximum number of coroutines, Tasks and Futures to examine.
        budget_s: The seconds in which this should end, with making JSON of it.
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


def answer_to(limit: int, budget_s: float, frame: FrameType) -> str:
    """Return the answer to another process: a snapshot or an error, as JSON.

    >>> answer_to(10, 1.0, sys._getframe())[:12]
    '{"process": '
    """
    try:
        # It would run finalizers of the program, and take as long as everything else.
        with without_garbage_collection():
            return json.dumps(take_snapshot(frame, limit, budget_s).document())
    except Exception:  # a bug of ours: report it instead of raising it
        return json.dumps({"error": format_exc()})


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
