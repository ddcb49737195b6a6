"""Drawing the wait graph: its form and its bounded size."""

import textwrap

from hypothesis import given
from hypothesis import strategies as st

from gencoro.introspect.drawing import (
    ALIKE_SHOWN,
    DEEPEST,
    MOST_LINES,
    draw,
    printable,
)
from gencoro.introspect.graph import Node


def coroutine(name, *waits_for):
    """Make the node of a coroutine that waits for one thing, or for several at once."""
    if len(waits_for) > 1:
        waits_for = [Node(text="list", children=placed(waits_for))]
    return Node([f"{name}()"], children=[("", one) for one in waits_for])


def placed(nodes):
    return [(f"[{place}]", node) for place, node in enumerate(nodes)]


def leaf(text="sleep", detail=""):
    return Node(text=text, detail=detail)


def lines(text):
    return textwrap.dedent(text).strip("\n")


def test_several_are_branches_and_a_last_one_closes_the_line():
    inner = coroutine("inner", leaf("a"), leaf("b"))
    main = coroutine("main", inner, coroutine("other", coroutine("third", leaf("c"))))

    assert draw([main]) == lines("""
        main(): list
        |-- [0] inner(): list
        |   |-- [0] a
        |   '-- [1] b
        '-- [1] other()
            -> third(): c
    """)


def test_roots_have_no_waiters_and_are_sorted_by_name():
    load = coroutine("load", leaf())
    nodes = [load, coroutine("main", load), coroutine("alone", leaf())]

    picture = draw(nodes)

    assert picture == draw(reversed(nodes))
    assert picture == lines("""
        alone(): sleep
        main()
        -> load(): sleep
    """)


def test_roots_of_one_name_are_ordered_by_what_they_wait_for():
    nodes = [coroutine("worker", leaf("sleep")), coroutine("worker", leaf("a Future"))]

    picture = draw(nodes)

    assert picture == draw(reversed(nodes))
    assert picture == "worker(): a Future\nworker(): sleep"


def test_shared_node_is_drawn_once():
    token = coroutine("token", leaf())
    main = coroutine("main", coroutine("one", token), coroutine("two", token))

    assert draw([main]) == lines("""
        main(): list
        |-- [0] one()
        |   -> token() (#1, 2 wait for it): sleep
        '-- [1] two()
            -> token() (#1 again, see above)
    """)


def test_circle_without_outside_waiters_is_drawn():
    ping, pong = coroutine("ping"), coroutine("pong")
    ping.children, pong.children = [("", pong)], [("", ping)]
    below = coroutine("below", leaf())
    pong.children.append(("", below))

    assert draw([below, pong, ping]) == lines("""
        ping() (#1)
        -> pong()
        |-- below(): sleep
        '-- ping() (#1 again: they wait for each other)
    """)


def test_circle_with_an_outside_waiter_is_drawn_below_it():
    ping, pong = coroutine("ping"), coroutine("pong")
    ping.children, pong.children = [("", pong)], [("", ping)]

    assert draw([ping, pong, coroutine("waiter", pong)]) == lines("""
        waiter()
        -> pong() (#1, 2 wait for it)
        -> ping()
        -> pong() (#1 again: they wait for each other)
    """)


def test_many_alike_are_counted():
    workers = [coroutine("work", leaf(detail=f"{n} s left")) for n in range(99)]
    main = coroutine("main", *workers, coroutine("other", leaf()))

    assert draw([main]) == lines("""
        main(): list
        |-- [0] work(): sleep, 0 s left
        |-- ... and 98 more like work()
        '-- [99] other(): sleep
    """)


def test_few_alike_are_each_drawn():
    workers = [coroutine("work", leaf()) for _ in range(ALIKE_SHOWN)]

    assert draw(workers) == "\n".join(["work(): sleep"] * ALIKE_SHOWN)


def test_those_that_wait_for_different_things_are_not_alike():
    workers = [coroutine("work", leaf(f"job {n}")) for n in range(ALIKE_SHOWN + 1)]

    assert "more like" not in draw(workers)


def test_deep_branches_are_left_out():
    node = leaf()
    for _ in range(10_000):
        node = coroutine("walk", Node(text="list", children=[("[0]", node)]))

    drawn = draw([node]).splitlines()

    assert len(drawn) == DEEPEST + 2
    assert drawn[-1].strip() == "... what is deeper is left out"


def test_picture_of_very_many_different_ones_is_cut_off():
    drawn = draw([leaf(f"job {n}") for n in range(2 * MOST_LINES)]).splitlines()

    assert len(drawn) == MOST_LINES + 1
    assert drawn[-1] == "... the rest is left out"


@given(st.text())
def test_printable_text_is_printable_and_stays_the_same(text):
    once = printable(text)

    assert once.isprintable()
    assert printable(once) == once


@st.composite
def graphs(draw_one):
    """Make nodes that wait for any of each other."""
    count = draw_one(st.integers(1, 12))
    nodes = [
        coroutine(f"f{draw_one(st.integers(0, 3))}")
        if draw_one(st.booleans())
        else leaf()
        for _ in range(count)
    ]
    for node in nodes:
        children = draw_one(st.lists(st.sampled_from(nodes), max_size=4))
        node.children = (
            placed(children)
            if draw_one(st.booleans())
            else [("", child) for child in children]
        )
    return nodes


@given(graphs())
def test_any_graph_is_drawn_whole_and_each_shared_node_once(nodes):
    drawn = draw(nodes).splitlines()

    assert 0 < len(drawn) <= MOST_LINES
    for text in {node.label() for node in nodes}:
        assert any(text in line for line in drawn)
    numbers = [line.partition("(#")[2] for line in drawn if "(#" in line]
    first_seen = [number for number in numbers if "again" not in number]
    assert len(set(first_seen)) == len(first_seen)
