"""Reads the answer of a process.

Rule: the process may be of another user than the one who asks, so nothing about its answer
is taken for granted.
"""

import json
from typing import Any

from gencoro.introspect.graph import Call, Node
from gencoro.introspect.remote.process import RemoteError
from gencoro.introspect.snapshot import Snapshot
from gencoro.introspect.thread_steps import Step

__all__ = ["decoded"]


def decoded(text: str) -> Snapshot:
    """Return the snapshot that `gencoro.introspect.snapshot.encoded` has encoded.

    Raises:
        RemoteError: the process could not be examined, or the text is not an answer.

    >>> from gencoro.introspect.snapshot import encoded
    >>> snapshot = Snapshot({"pid": 1}, [], [("loop", [Node(text="sleep")])])
    >>> decoded(encoded(snapshot)).nodes_by_loop[0][1][0].text
    'sleep'
    """
    try:
        answer = json.loads(text)
        if "error" in answer:
            raise RemoteError(str(answer["error"]).strip())
        return _snapshot(answer)
    # Whatever may happen with values of other types than expected.
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as exc:
        raise RemoteError(
            f"the process gave an answer that makes no sense: {exc}"
        ) from exc


def _snapshot(answer: dict[str, Any]) -> Snapshot:
    calls = [
        Call(str(function), str(file), int(line), str(place))
        for function, file, line, place in answer["calls"]
    ]
    nodes = [Node() for _ in answer["nodes"]]
    for node, (heads, text, detail, children, kind) in zip(nodes, answer["nodes"]):
        node.heads = [calls[number] for number in heads]
        node.text, node.detail, node.kind = str(text), str(detail), str(kind)
        node.children = [(str(place), nodes[number]) for place, number in children]
    steps = [
        Step(str(thread), [calls[one] for one in its], calls[at])
        for thread, its, at in answer["steps"]
    ]
    loops = [
        (str(title), [nodes[one] for one in its]) for title, its in answer["loops"]
    ]
    return Snapshot(dict(answer["process"]), steps, loops, int(answer["left_out"]))
