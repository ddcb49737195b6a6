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
    """Return the snapshot of an answer, see `gencoro.introspect.snapshot.answer_to`.

    Raises:
        RemoteError: the process could not be examined, or the text is not an answer.

    >>> snapshot = Snapshot({"pid": 1}, [], [("loop", [Node(text="sleep")])])
    >>> decoded(json.dumps(snapshot.document())).nodes_by_loop[0][1][0].text
    'sleep'
    """
    try:
        answer = json.loads(text)
        if "error" in answer:
            raise RemoteError(str(answer["error"]).strip())
        return _snapshot(answer)
    # Whatever may happen with values of other types than expected, or with infinite ones.
    except (
        *(ValueError, LookupError, TypeError),
        *(AttributeError, RecursionError, OverflowError),
    ) as exc:
        raise RemoteError(
            f"the process gave an answer that makes no sense: {exc}"
        ) from exc


def _snapshot(answer: dict[str, Any]) -> Snapshot:
    node_by_id = {row["id"]: Node() for row in answer["nodes"]}
    for row in answer["nodes"]:
        node = node_by_id[row["id"]]
        node.heads = list(map(_call, row["calls"]))
        node.text, node.detail = str(row["text"]), str(row["detail"])
        node.kind = str(row["kind"] or "")
        node.children = [
            (str(each["place"]), node_by_id[each["id"]]) for each in row["waits_for"]
        ]
    steps = [
        Step(str(each["name"]), list(map(_call, each["runs"])), _call(each["at"]))
        for each in answer["threads"]
    ]
    loops = [
        (str(each["title"]), [node_by_id[one] for one in each["nodes"]])
        for each in answer["loops"]
    ]
    left_out = int(answer["not_examined"])
    return Snapshot(dict(answer["process"]), steps, loops, left_out)


def _call(row: dict[str, Any]) -> Call:
    file, place = str(row["file"]), str(row["place"])
    return Call(str(row["function"]), file, int(row["line"]), place)
