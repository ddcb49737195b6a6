"""The measures of a sunburst: how far out its rings are, and the paths of their arcs.

Pure.  Lengths are in pixels, angles in turns from the top, clockwise; the center is at
0, 0.
"""

import math

__all__ = ["GAP", "HOLE", "Rings", "arc", "reach"]

# The radius of what is free for a few words.
HOLE = 98.0

# Rings that are not divided are thin, the others narrower further out.
THIN = 30.0
WIDTHS = (76.0, 68.0, 60.0, 50.0, 42.0)

# Between two sectors, side by side or one around the other.
GAP = 1.6


class Rings:
    """The rings of one picture.

    Args:
        rings: How many there are.
        first: How many come before the first that is divided; at most as many rings as
            `WIDTHS` come after those.

    >>> rings = Rings(2, first=1)
    >>> rings.radius(0), rings.radius(1), rings.outer
    (113.0, 166.0, 204.0)
    """

    def __init__(self, rings: int, first: int) -> None:
        self._widths = [
            THIN if ring < first else WIDTHS[ring - first] for ring in range(rings)
        ]
        self.outer = HOLE + sum(self._widths)

    def width(self, ring: int) -> float:
        """Return how thick a ring is, with the gap around it."""
        return self._widths[ring]

    def radius(self, ring: int) -> float:
        """Return how far the middle of a ring is from the center."""
        return HOLE + sum(self._widths[:ring]) + self._widths[ring] / 2

    def length(self, ring: int, turns: float) -> float:
        """Return how long a part of a ring is, along its middle."""
        return turns * math.tau * self.radius(ring)


def arc(start: float, end: float, radius: float) -> str:
    """Return the path of an arc between gaps, so directed that a text on it is upright.

    >>> arc(0.0, 0.25, radius=100.0)
    'M0.80 -100.00A100 100 0 0 1 100.00 -0.80'
    """
    size = f"A{radius:.4g} {radius:.4g}"
    if end - start > 0.9999:  # an arc cannot end where it starts
        half = f"{size} 0 0 1 0"
        return f"M0 {radius:.4g}{half} {-radius:.4g}{half} {radius:.4g}"
    trim = min(GAP / 2 / (math.tau * radius), (end - start) / 8)
    start, end = start + trim, end - trim
    is_large, is_clockwise = int(end - start > 0.5), 1
    if 0.25 < (start + end) / 2 < 0.75:
        start, end, is_clockwise = end, start, 0
    to = _point(end, radius)
    return f"M{_point(start, radius)}{size} 0 {is_large} {is_clockwise} {to}"


def reach(start: float, end: float, radius: float) -> tuple[float, float]:
    """Return how far a part of a disc is from the center, sideways and up or down.

    >>> reach(0.0, 0.25, radius=100.0)
    (100.0, 100.0)
    >>> reach(0.2, 0.3, radius=100.0)
    (100.0, 30.9)
    """
    # At a quarter of a turn it is as far as it can be.
    quarters = [n / 4 for n in range(1, 4) if start <= n / 4 <= end]
    turns = [start, end, *quarters]
    return (
        max(round(abs(radius * math.sin(t * math.tau)), 1) for t in turns),
        max(round(abs(radius * math.cos(t * math.tau)), 1) for t in turns),
    )


def _point(turns: float, radius: float) -> str:
    angle = turns * math.tau
    return f"{radius * math.sin(angle):.2f} {-radius * math.cos(angle):.2f}"
