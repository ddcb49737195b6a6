"""Builds the wait graph: turns the Futures of a survey into nodes.

Rule: only reads, and runs no user code, not even a ``repr``.  Other threads may change
what the survey has found in the meantime.
"""

import asyncio
import asyncio.tasks
import concurrent.futures
import contextlib
import functools
import math
import os.path
import sys
import time
from collections.abc import Iterable, Iterator
from types import FrameType, FunctionType
from typing import Any

from gencoro.frames import frames_in, frames_of, is_running, line_of
from gencoro.futures import ASYNCIO_TASKS, Future, ToldFuture
from gencoro.introspect.graph import Call, Node
from gencoro.introspect.survey import Survey, callbacks_of, copied, in_cell
from gencoro.runner import runner_of
from gencoro.waiting import Sleep, WaitIterator
from gencoro.yieldables import MultiFuture, moment

__all__ = ["WaitGraph", "call_in", "children_of", "short_path"]

GATHERING = asyncio.tasks._GatheringFuture  # type: ignore[attr-defined]

# The key of a dict is shown up to this length, and only if it has a built-in type.
LONGEST_KEY = 40
KEYS_SHOWN = (str, bytes, int, float, bool, type(None))

# The callback on a Future that gets its outcome from another thread, and the closure
# variable with the job.
FROM_THREAD = {
    ("gencoro.futures", "of_other_thread.<locals>.cancel_job"): "job",
    ("asyncio.futures", "_chain_future.<locals>._call_check_cancel"): "source",
}

# The packages whose code creates Futures on behalf of others.
MAKERS = tuple(
    os.path.dirname(path) for path in (asyncio.__file__, line_of.__code__.co_filename)
)


class WaitGraph:
    """The Futures of a survey as nodes, each with what it waits for.

    Args:
        limit: The maximum number of nodes that are examined.
        until: When to stop examining, on the clock of `time.monotonic`.

    Attributes:
        left_out: The number of coroutines, Tasks and groups that were not examined.
    """

    def __init__(
        self, survey: Survey, limit: float = math.inf, until: float = math.inf
    ) -> None:
        self.left_out = 0
        self._survey = survey
        self._room = limit
        self._until = until
        self._nodes: dict[Future[Any], Node] = {}
        self._unfilled: list[Future[Any]] = []
        self._unexamined: set[Node] = set()

    def tops(self) -> "Iterator[tuple[Future[Any], Node]]":
        """Yield the coroutines, Tasks and groups: the possible roots."""
        runners = self._survey.runners
        tasks, groups = [], []
        for future in self._survey.futures:
            if issubclass(type(future), ASYNCIO_TASKS):
                tasks.append(future)
            elif issubclass(type(future), (MultiFuture, GATHERING)):
                groups.append(future)
        # Tasks first: if there are too many of all, they lead to the others.
        for future in [*tasks, *runners, *groups]:
            if future not in self._nodes and not self._has_room():
                self.left_out += 1
                continue
            node = self.node_of(future)
            runner = runners.get(future)
            if node in self._unexamined:
                self.left_out += 1
            elif runner is not None:
                if not getattr(runner, "finished", False):
                    yield future, node
            elif not future.done():
                yield future, node

    def node_of(self, future: "Future[Any]") -> Node:
        """Return the node of a Future."""
        node = self._node_of(future)
        while self._unfilled:
            one = self._unfilled.pop()
            if self._has_room():
                self._room -= 1
                before = len(self._unfilled)
                self._fill(self._nodes[one], one)
                # The first child comes next, with everything below.
                self._unfilled[before:] = self._unfilled[before:][::-1]
            else:
                self._nodes[one].text = "not examined"
                self._unexamined.add(self._nodes[one])
        return node

    def _has_room(self) -> bool:
        return self._room > 0 and time.monotonic() < self._until

    def _node_of(self, future: "Future[Any]") -> Node:
        future = getattr(future, "stands_for", None) or future  # legacy, of compat
        # Filled later, without recursion: a chain may be longer than Python's stack.
        node = self._nodes.get(future)
        if node is None:
            node = self._nodes[future] = Node()
            self._unfilled.append(future)
        return node

    def _wait_for(self, future: "Future[Any]") -> Node:
        if future.done():
            return Node(text="a moment" if future is moment else "about to go on")
        return self._node_of(future)

    def _fill(self, node: Node, future: Any) -> None:
        # Another thread may have created the coroutine since the survey.
        runner = self._survey.runners.get(future) or runner_of(future)
        if runner is not None:
            waiter = getattr(runner, "future", None)
            self._fill_coroutine(node, runner.gen, frames_in(runner), waiter)
            node.kind = "coroutine"
            node.detail = _age(runner)
        elif issubclass(type(future), ASYNCIO_TASKS):
            # get_coro() crashes Python 3.11 and 3.12 on a Task that is being created.
            coroutine = getattr(future, "_coro", None)
            waiter = getattr(future, "_fut_waiter", None)
            self._fill_coroutine(node, coroutine, frames_of(coroutine), waiter)
            node.kind = "Task"
            with contextlib.suppress(AttributeError):  # it is still being created
                node.detail = future.get_name() or ""
        elif issubclass(type(future), (MultiFuture, GATHERING)):
            children = children_of(future)
            self._fill_group(node, children)
            node.text = f"{_name_of_group(future)}, {_progress(children)}"
        elif issubclass(type(future), ToldFuture):
            waits = [one for one in future.awaited if not one.done()]
            node.children = [("", self._wait_for(one)) for one in waits]
            node.text = future.told
        elif future in self._survey.iterators:
            self._fill_group(node, children_of(self._survey.iterators[future]))
            node.text = f"WaitIterator, the first of {len(node.children)}"
        else:
            self._fill_future(node, future)

    def _fill_coroutine(
        self, node: Node, coroutine: Any, frames: Iterable[FrameType], future: Any
    ) -> None:
        node.heads = [call_in(frame) for frame in frames]
        if not node.heads:  # it is written in C, or has just ended
            name = getattr(coroutine, "__qualname__", None)
            node.heads = [Call(name if type(name) is str else "a coroutine")]
        if future is not None:
            node.children = [("", self._wait_for(future))]
        else:
            node.text = "running" if is_running(coroutine) else "about to go on"

    def _fill_group(
        self, node: Node, children: "list[tuple[Any, Future[Any]]]"
    ) -> None:
        waiting = [(key, child) for key, child in children if not child.done()]
        taken = int(min(len(waiting), self._room))
        node.children = [
            (f"[{_printed(key)}]", self._wait_for(child))
            for key, child in waiting[:taken]
        ]
        if taken < len(waiting):
            text = f"{len(waiting) - taken} more, not examined"
            node.children.append(("", Node(text=text)))

    def _fill_future(self, node: Node, future: "Future[Any]") -> None:
        sources = self._survey.sources.get(future, ())
        node.children = [("", self._wait_for(source)) for source in sources]
        alarm_at = self._survey.alarm_at.get(future)
        if issubclass(type(future), Sleep):
            node.text = "sleep"
            timer = getattr(future, "_timer", None)
            alarm_at = timer and timer.when()
        elif future in self._survey.calls:
            node.text = self._survey.calls[future]
        elif alarm_at is not None:
            node.text = "time limit" if sources else "timer"
        else:
            node.text = _job_on_thread(future) or _kind_of(future)
        if alarm_at is not None:
            left = max(0.0, alarm_at - future.get_loop().time())
            node.detail = f"{left:.1f} s left"


def children_of(group: Any) -> "list[tuple[Any, Future[Any]]]":
    """Return the Futures that a group waits for, each with its index or key.

    For a list, a dict or a gather these are all of them, done or not; for a WaitIterator
    only those that it has not returned yet.

    >>> from gencoro import gen
    >>> async def main():
    ...     group = gen.multi({"tea": gen.sleep(0), "cake": gen.sleep(0)})
    ...     print([key for key, _ in children_of(group)])
    ...     await group
    >>> asyncio.run(main())
    ['tea', 'cake']
    """
    if isinstance(group, WaitIterator):
        places = [(place, child) for child, place in copied(group._unfinished.items())]
        for child, repeated in copied(group._repeated.items()):
            places += [(place, child) for place in copied(repeated)]
        return places
    if isinstance(group, GATHERING):
        return list(enumerate(getattr(group, "_children", ())))
    children = copied(getattr(group, "children", ()))
    return list(zip(_keys_of(group) or range(len(children)), children))


def call_in(frame: FrameType) -> Call:
    """Return the function and the current line of a frame.

    >>> def where():
    ...     return call_in(sys._getframe())
    >>> print(where())
    where() at <doctest gencoro.introspect.wait_graph.call_in[0]>:2
    """
    name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
    path = frame.f_code.co_filename
    return Call(name, path, line_of(frame), short_path(path))


@functools.lru_cache(maxsize=1000)
def short_path(path: str) -> str:
    """Return a path relative to the directory of ``sys.path`` that contains it.

    >>> short_path(asyncio.__file__)
    'asyncio/__init__.py'
    """
    roots = [os.path.join(root, "") for root in sys.path if isinstance(root, str)]
    return path[max(len(root) for root in ["", *roots] if path.startswith(root)) :]


def _age(runner: Any) -> str:
    # Known in debug mode only.
    suspended_at = getattr(runner, "suspended_at", None)
    if suspended_at is None:
        return ""
    return f"for {max(0.0, runner.loop.time() - suspended_at):.1f} s"


def _name_of_group(group: Any) -> str:
    if isinstance(group, GATHERING):
        return "gather"
    return "list" if _keys_of(group) is None else "dict"


def _keys_of(group: Any) -> list[Any] | None:
    keys: list[Any] | None = getattr(group, "keys", None)
    return keys


def _progress(children: "list[tuple[Any, Future[Any]]]") -> str:
    done = [child for _, child in children if child.done()]
    # Calling exception() would mark the error as retrieved.
    failed = sum(getattr(child, "_exception", None) is not None for child in done)
    told = f"{len(done)} of {len(children)} done"
    return f"{told}, {failed} failed" if failed else told


def _printed(key: Any) -> str:
    if type(key) not in KEYS_SHOWN:
        return f"a {type(key).__name__}"
    text = repr(key)
    return text if len(text) <= LONGEST_KEY else f"{text[:LONGEST_KEY]}..."


def _job_on_thread(future: "Future[Any]") -> str:
    for callback in callbacks_of(future):
        if type(callback) is not FunctionType:
            continue
        name = FROM_THREAD.get((callback.__module__, callback.__qualname__))
        if name is not None:
            job: concurrent.futures.Future[Any] | None = in_cell(callback, name)
            # running() takes a lock, which a signal handler must not wait for.
            state = getattr(job, "_state", "")
            return f"job of an executor, {state.lower()}"
    return ""


def _kind_of(future: "Future[Any]") -> str:
    made_at = [
        f" made at {short_path(line.filename)}:{line.lineno}"
        for line in getattr(future, "_source_traceback", None) or ()
        if not line.filename.startswith(MAKERS)
    ]
    return f"a {type(future).__name__}{made_at[-1] if made_at else ''}"
