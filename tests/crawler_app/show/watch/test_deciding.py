"""When a finding is dead, mended or flapping."""

import pytest

from crawler_app.show.watch.deciding import (
    DAY_S,
    MAX_RECENT,
    Known,
    Rule,
    Told,
    decide,
)

TWICE = Rule(2, 20 * 3600.0)
ONCE = Rule()


def told(results, rule=TWICE, every_s=DAY_S):
    """Return what is told, each with the number of the check; a blank is a check that knows nothing."""
    known, changes = Known(), []
    for at, result in enumerate(results):
        if result == " ":
            continue
        before, known = known, decide(known, result == "x", at * every_s, rule)
        if known.state is not before.state:
            is_mended = known.state is Told.FINE
            changes.append((at, "mended" if is_mended else str(known.state)))
    return changes


@pytest.mark.parametrize(
    ("results", "wanted"),
    [
        ("....x....", []),
        ("x.x.x.x.x.x.", []),
        ("..xx", [(3, "broken")]),
        ("..x xx", [(4, "broken")]),
        ("..xxxxxxx", [(3, "broken")]),
        ("..xxxx.x.xx", [(3, "broken")]),
        ("..xx..", [(3, "broken"), (5, "mended")]),
        ("..xx..xx..xx..xx", [(3, "broken"), (5, "mended"), (7, "flapping")]),
        (
            "xx..xx" + "." * 16,
            [(1, "broken"), (3, "mended"), (5, "flapping"), (20, "mended")],
        ),
        (
            "xx.." + "x" * 16,
            [(1, "broken"), (3, "mended"), (5, "flapping"), (18, "broken")],
        ),
        ("xx.." + "." * 16 + "xx", [(1, "broken"), (3, "mended"), (21, "broken")]),
    ],
)
def test_link_of_another_site_is_told_when_it_is_certain(results, wanted):
    assert told(results) == wanted


@pytest.mark.parametrize(
    ("results", "wanted"),
    [
        ("x.x.x.x.", []),
        ("x.xx.", [(3, "broken")]),
        ("x..xx", [(4, "broken")]),
        ("x...xx", []),
        ("xxx...", [(2, "broken"), (5, "mended")]),
    ],
)
def test_failures_need_not_be_in_a_row(results, wanted):
    assert told(results, Rule(3, 2 * DAY_S, of=5)) == wanted


def test_own_page_is_told_at_once():
    assert told(".x.", ONCE) == [(1, "broken"), (2, "mended")]


@pytest.mark.parametrize("rule", [ONCE, TWICE, Rule(3, of=5)])
def test_failures_began_with_the_first(rule):
    known = Known()
    for now, result in enumerate(".xxxx"):
        known = decide(known, result == "x", now, rule)

    assert known.failing_since == 1


def test_failures_within_a_short_time_do_not_count():
    assert told("xxxx", every_s=3600.0) == []
    assert told("x" * 25, every_s=3600.0) == [(20, "broken")]


def test_what_is_kept_is_bounded():
    known = Known()
    for at in range(1000):
        known = decide(known, at % 2 == 0, at * DAY_S, TWICE)

    assert len(known.recent) == MAX_RECENT
