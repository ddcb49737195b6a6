"""The table and the JSON of unusual graphs."""

import json

from gencoro.introspect.drawing import MOST_LINES
from gencoro.introspect.graph import Call, Node
from gencoro.introspect.remote.decoding import decoded
from gencoro.introspect.remote.listing import table
from gencoro.introspect.snapshot import Snapshot
from gencoro.introspect.thread_steps import Step


def coroutine(name, *waits_for):
    call = Call(name, f"/srv/{name}.py", 1, f"{name}.py")
    return Node([call], children=[("", one) for one in waits_for], kind="coroutine")


def test_table_of_several_loops_names_the_loop():
    loops = [("first", [coroutine("tea")]), ("second", [coroutine("cake")])]

    head, *lines = table(Snapshot({}, [], loops)).splitlines()

    assert head.split() == ["KIND", "NAME", "COROUTINE", "AT", "LOOP", "WAITS", "FOR"]
    assert [line.split()[-1] for line in lines] == ["second", "first"]


def test_long_table_is_cut():
    nodes = [coroutine("tea") for _ in range(MOST_LINES + 5)]

    lines = table(Snapshot({}, [], [("loop", nodes)])).splitlines()

    assert len(lines) == MOST_LINES + 2
    assert lines[-1] == "... and 5 more"


def test_coroutines_that_wait_for_each_other_survive_the_way():
    tea = coroutine("tea")
    cake = coroutine("cake", tea)
    tea.children.append(("[0]", cake))
    at = Call("main", "app.py", 1, "app.py")
    snapshot = Snapshot({"pid": 1}, [Step("a \x1b\udc80", [at], at)], [("loop", [tea])])

    received = decoded(json.dumps(snapshot.document()))

    assert received.steps == snapshot.steps
    assert received.tree() == snapshot.tree()
    assert received.document() == snapshot.document()
    assert "they wait for each other" in received.tree()


def test_long_chain_survives_the_way():
    node = coroutine("last")
    for number in range(20_000):
        node = coroutine(f"c{number}", node)
    snapshot = Snapshot({"pid": 1}, [], [("loop", [node])])

    assert decoded(json.dumps(snapshot.document())).tree() == snapshot.tree()
