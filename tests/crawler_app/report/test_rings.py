"""Measures of a sunburst: rings lie side by side, and arcs begin and end where they should."""

import re

import pytest

from crawler_app.report.rings import GAP, HOLE, Rings, arc


def test_rings_lie_side_by_side():
    rings = Rings(4, first=2)

    edge = HOLE
    for ring in range(4):
        assert rings.radius(ring) == pytest.approx(edge + rings.width(ring) / 2)
        edge += rings.width(ring)
    assert rings.outer == edge
    assert rings.width(0) == rings.width(1) < rings.width(3) < rings.width(2)


def test_no_rings_are_the_hole():
    assert Rings(0, first=0).outer == HOLE


def is_clockwise(path):
    return re.search(r" 0 [01] ([01]) ", path)[1] == "1"


@pytest.mark.parametrize("middle", [0.02, 0.2, 0.8, 0.98])
def test_arc_of_the_upper_half_goes_clockwise(middle):
    assert is_clockwise(arc(middle - 0.01, middle + 0.01, 100.0))


@pytest.mark.parametrize("middle", [0.3, 0.5, 0.7])
def test_arc_of_the_lower_half_goes_the_other_way_so_that_text_is_upright(middle):
    path = arc(middle - 0.01, middle + 0.01, 100.0)
    start_x, end_x = re.findall(r"(-?[\d.]+) -?[\d.]+", path)[0::3]

    assert not is_clockwise(path)
    if middle == 0.5:
        assert float(start_x) < float(end_x)


def test_arc_beyond_half_a_turn_is_the_large_one():
    assert "A100 100 0 0 1" in arc(0.0, 0.49, 100.0)
    assert "A100 100 0 1 0" in arc(0.0, 0.6, 100.0)


def test_whole_turn_is_two_arcs_without_a_gap():
    path = arc(0.0, 1.0, 100.0)

    assert path == "M0 100A100 100 0 0 1 0 -100A100 100 0 0 1 0 100"


def test_gap_is_between_neighbors_and_leaves_most_of_a_narrow_arc():
    end, start = arc(0.9, 1.0, 100.0), arc(0.0, 0.1, 100.0)
    assert end.endswith(f" {-GAP / 2:.2f} -100.00")
    assert start.startswith(f"M{GAP / 2:.2f} -100.00")

    start_x, end_x = re.findall(r"(-?[\d.]+) -", arc(0.0, 0.001, 100.0))
    assert float(end_x) - float(start_x) == pytest.approx(0.63 * 0.75, abs=0.02)
