"""A site's shape as a picture: a sunburst of its directories, in SVG.

Pure.  The picture stands alone or in a page, on white or dark: where the page sets the
CSS variables ``--surface`` and ``--text``, they are its background and its ink.  What is
written in it is of the site's making, and escaped.
"""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape

from crawler_app.report.lettering import cut, width_of
from crawler_app.report.palette import (
    LEFT_OPACITY,
    LIGHT,
    OPACITIES,
    RED,
    STYLE,
    colors,
)
from crawler_app.report.picture_words import description, legend, title, tooltip
from crawler_app.report.rings import GAP, HOLE, Rings, arc, reach
from crawler_app.report.sectors import NEUTRAL, Sector, divide, every
from crawler_app.report.shape import Kind, Shape

__all__ = ["MAX_BYTES", "MAX_SEGMENTS", "Sunburst", "sunburst"]

MAX_SEGMENTS = 350
MAX_BYTES = 60_000

# The narrowest sector on the innermost ring, in pixels, and how it grows until all is
# small enough.
NARROWEST = 5.0
WIDER = 1.25

# Pixels.
MARGIN = 6.0
FONT_SIZE = 13.0
PADDING = 5.0
BROKEN_EDGE = 4.0
INVISIBLE = 0.3

# Below the number of broken ones, to say what red is.
BROKEN_KEY = "M-14 60h28"

# The least distance at which strokes can be told apart.
STROKE_STEP = 3.2


class Sunburst(NamedTuple):
    """A picture, and what its looks mean.

    Attributes:
        svg: An ``<svg>`` element.
        legend: Those of "red", "gray" and "pale" that it has, and what each means.
    """

    svg: str
    legend: list[tuple[str, str]]


def sunburst(
    shape: Shape, *, max_segments: int = MAX_SEGMENTS, prefix: str = "sunburst"
) -> Sunburst:
    """Return a picture of at most `MAX_BYTES` in UTF-8.

    What is too small for a segment of its own, or one too many, shares one with others.

    Args:
        max_segments: How many segments the rings may have together; two are always
            allowed for each ring.
        prefix: What its ids begin with; two pictures in one page must not share it.

    >>> shape = Shape()
    >>> shape.add("https://a.test/docs/a.html", Kind.OK)
    >>> sunburst(shape).svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    """
    least_turns = NARROWEST / Rings(1, 0).length(0, turns=1.0)
    while True:
        whole, first_ring = divide(shape, least_turns)
        picture = _Picture(whole, first_ring, prefix)
        if len(picture.sectors) <= max_segments or least_turns > 1:
            svg = picture.draw()
            if len(svg.encode()) <= MAX_BYTES or least_turns > 1:
                return Sunburst(svg, legend(picture.sectors, first_ring))
        least_turns *= WIDER


class _Picture:
    """One drawing.

    Attributes:
        sectors: All parts of its rings, the inner before the outer.
    """

    def __init__(self, whole: Sector, first_ring: int, prefix: str) -> None:
        self._whole = whole
        self._first_ring = first_ring
        self._prefix = escape(prefix, {'"': "&quot;"})
        self.sectors = list(every(whole))
        count = 1 + max((sector.ring for sector in self.sectors), default=-1)
        self._rings = Rings(count, first_ring)

    def draw(self) -> str:
        """Return the ``<svg>`` element."""
        words = description(self._whole, self.sectors, self._first_ring)
        x, y = self._reach()
        size = f'width="{2 * x}" height="{2 * y}"'
        head = (
            '<svg xmlns="http://www.w3.org/2000/svg" class="sunburst" role="img" '
            f'aria-labelledby="{self._prefix}-title {self._prefix}-desc" '
            f'{size} viewBox="{-x} {-y} {2 * x} {2 * y}" '
            f'font-family="system-ui,sans-serif" font-size="{FONT_SIZE:.3g}" '
            'text-anchor="middle">'
        )
        return "".join(
            [
                head,
                f'<title id="{self._prefix}-title">{escape(title(self._whole))}</title>',
                f'<desc id="{self._prefix}-desc">{escape(words)}</desc>',
                f"<style>{STYLE}</style>",
                f'<rect class="back" x="{-x}" y="{-y}" {size} fill="{LIGHT}"/>',
                *(self._segments() if self.sectors else [_empty_ring()]),
                self._broken_edges(),
                '<g pointer-events="none">',
                *self._labels(),
                *self._center(),
                "</g></svg>",
            ]
        )

    def _reach(self) -> tuple[int, int]:
        """Return how far what is drawn is from the center, to each side and up and down.

        The outer rings of many a site are only on two sides.
        """
        reaches = [(HOLE, HOLE)]
        for sector in self.sectors:
            width = self._rings.width(sector.ring)
            radius = self._rings.radius(sector.ring) + width / 2
            reaches.append(reach(sector.start, sector.end, radius))
        x, y = (
            math.ceil(max(lengths) + MARGIN) for lengths in zip(*reaches, strict=True)
        )
        return x, y

    def _length(self, sector: Sector) -> float:
        return self._rings.length(sector.ring, sector.turns)

    def _opacity(self, sector: Sector) -> float:
        if sector.is_left:
            return LEFT_OPACITY
        return OPACITIES[max(0, sector.ring - self._first_ring)]

    def _segments(self) -> Iterator[str]:
        """Draw each sector as a thick line; there is nothing shorter to write."""

        def look(numbered: tuple[int, Sector]) -> tuple[int, int, float]:
            sector = numbered[1]
            return sector.ring, sector.section, self._opacity(sector)

        by_look = sorted(enumerate(self.sectors), key=look)
        for (ring, section, opacity), alike in itertools.groupby(by_look, key=look):
            yield (
                f'<g fill="none" stroke="{colors(section)[0]}" '
                f'stroke-width="{self._rings.width(ring) - GAP:.4g}" '
                f'stroke-opacity="{opacity:.4g}">'
            )
            for number, sector in alike:
                yield self._segment(number, sector)
            yield "</g>"

    def _segment(self, number: int, sector: Sector) -> str:
        length = self._length(sector)
        if length < INVISIBLE:
            return ""
        strokes = ""
        if sector.is_group and sector.total > 1:
            # One for each URL, as far as they can be told apart.
            step = max(length / sector.total, STROKE_STEP)
            strokes = f' stroke-dasharray="{step * 0.6:.3g} {step * 0.4:.3g}"'
        path = arc(sector.start, sector.end, self._rings.radius(sector.ring))
        return (
            f'<path id="{self._prefix}-{number}" d="{path}"{strokes}>'
            f"<title>{escape(tooltip(sector))}</title></path>"
        )

    def _broken_edges(self) -> str:
        """Draw the share of each sector that is broken in red, on its outer edge."""
        arcs = []
        for sector in self.sectors:
            broken, length = sector.counts[Kind.BROKEN], self._length(sector)
            if not broken or length < INVISIBLE:
                continue
            share = min(1.0, max(broken / sector.total, BROKEN_EDGE / length))
            radius = self._rings.radius(sector.ring)
            radius += (self._rings.width(sector.ring) - GAP - BROKEN_EDGE) / 2
            end = sector.start + share * sector.turns
            arcs.append(arc(sector.start, end, radius))
        if not arcs:
            return ""
        arcs.append(BROKEN_KEY)
        return (
            f'<path fill="none" pointer-events="none" stroke="{RED}" '
            f'stroke-width="{BROKEN_EDGE:.3g}" d="{"".join(arcs)}"/>'
        )

    def _labels(self) -> Iterator[str]:
        """Write names along the arcs, or across where only that is long enough."""
        for number, sector in enumerate(self.sectors):
            name = sector.name
            along = self._length(sector) - 2 * PADDING
            across = self._rings.width(sector.ring) - 2 * PADDING
            if width_of(name, FONT_SIZE) <= along:
                yield self._label_along(number, sector, name)
            elif sector.is_counted:
                continue  # a number that is cut is a wrong one
            elif along >= across or sector.is_group:
                yield self._label_along(number, sector, cut(name, along, FONT_SIZE))
            elif along >= FONT_SIZE / 2:
                yield self._label_across(sector, cut(name, across, FONT_SIZE))

    def _label_along(self, number: int, sector: Sector, text: str) -> str:
        if not text:
            return ""
        return (
            f'<text {self._ink(sector)} dy=".35em">'
            f'<textPath href="#{self._prefix}-{number}" startOffset="50%">'
            f"{escape(text)}</textPath></text>"
        )

    def _label_across(self, sector: Sector, text: str) -> str:
        if not text:
            return ""
        middle = (sector.start + sector.end) / 2
        x, angle = self._rings.radius(sector.ring), 360 * middle - 90
        if middle > 0.5:  # or it would stand on its head
            x, angle = -x, angle - 180
        return (
            f'<text {self._ink(sector)} x="{x:.4g}" dy=".35em" '
            f'transform="rotate({angle:.4g})">{escape(text)}</text>'
        )

    def _ink(self, sector: Sector) -> str:
        if sector.is_group:
            return (
                f'class="ink halo" stroke="{LIGHT}" stroke-width="5" '
                'paint-order="stroke" stroke-linejoin="round"'
            )
        if self._opacity(sector) == 1:
            return f'fill="{colors(sector.section)[1]}"'
        return 'class="ink"'

    def _center(self) -> Iterator[str]:
        pages, broken = (self._whole.counts[kind] for kind in (Kind.OK, Kind.BROKEN))
        room, name = 1.7 * HOLE, self._whole.name
        size = 16.0
        if name:
            size = max(11.0, min(size, size * room / width_of(name, size)))
        up = -8 if broken else 0
        yield _line(cut(name, room, size), up - 26, size, 'class="ink"')
        yield _line(f"{pages:,}", up + 12, 36, 'class="ink" font-weight="600"')
        yield _line("page" if pages == 1 else "pages", up + 34, 14, 'class="ink"')
        if broken:
            yield _line(f"{broken:,} broken", up + 58, 14, 'class="ink"')


def _empty_ring() -> str:
    return (
        f'<circle r="{HOLE:.4g}" fill="none" stroke="{colors(NEUTRAL)[0]}" '
        f'stroke-width="{BROKEN_EDGE:.3g}"/>'
    )


def _line(text: str, y: float, font_size: float, look: str) -> str:
    return f'<text y="{y:.3g}" font-size="{font_size:.3g}" {look}>{escape(text)}</text>'
