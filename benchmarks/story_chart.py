"""The plot of bench_story as SVG: panels of dots on a logarithmic scale, a row a stage.

Pure: figures in, text out.
"""

import math
from html import escape
from typing import NamedTuple

from chart import LEGEND_GAP, MARGIN, STYLE, WIDTH, head_svg, text_svg

__all__ = ["Panel", "story_chart"]

LABEL_WIDTH = 100
PANEL_GAP = 46
PANEL_WIDTH = (WIDTH - 2 * MARGIN - LABEL_WIDTH - PANEL_GAP) // 2
TOP = 150
ROW = 26
RADIUS = 5
CHARACTER_WIDTH = 6.6


class Panel(NamedTuple):
    """Figures of one kind.

    Attributes:
        figures: By row; one of each series.
    """

    title: str
    figures: dict[str, list[float]]


class Scale(NamedTuple):
    """Maps figures to x coordinates: equal distances are equal ratios."""

    left: float
    low: int
    high: int

    def x(self, figure):
        share = (math.log10(figure) - self.low) / (self.high - self.low)
        return round(self.left + share * PANEL_WIDTH, 1)

    def ticks(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def story_chart(title, series, panels, note):
    """Return an SVG document.

    Args:
        series: The names of the figures of a row.
        note: The text at the bottom.
    """
    labels = list(panels[0].figures)
    bottom = TOP + len(labels) * ROW
    parts = [head_svg(title, "each line to the right is ten times as much")]
    parts += legend_svg(series)
    for row, label in enumerate(labels):
        y = row_y(row) + 4
        parts.append(text_svg(MARGIN + LABEL_WIDTH - 14, y, label, anchor="end"))
    for place, panel in enumerate(panels):
        left = MARGIN + LABEL_WIDTH + place * (PANEL_WIDTH + PANEL_GAP)
        parts += panel_svg(panel, left, bottom)
    parts.append(text_svg(MARGIN, bottom + 46, note, "quiet"))
    return document(title, described(series, panels), bottom + 66, parts)


def document(title, description, height, parts):
    body = "\n".join(parts)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description"
     width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">
<title id="title">{escape(title)}</title>
<desc id="description">{escape(description)}</desc>
<style>{STYLE}</style>
<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>
{body}
</svg>
"""


def described(series, panels):
    """Return a description of the plot, for screen readers."""
    sentences = []
    for panel in panels:
        sentences.append(f"{panel.title[0].upper()}{panel.title[1:]}, with")
        sentences.append(f"{', '.join(series)}.")
        for label, figures in panel.figures.items():
            told = ", ".join(f"{figure:.2g}" for figure in figures)
            sentences.append(f"{label}: {told}.")
    return " ".join(sentences)


def row_y(row):
    return TOP + row * ROW + ROW / 2


def legend_svg(series):
    parts, x = [], MARGIN
    for number, name in enumerate(series):
        parts.append(mark_svg(x + RADIUS, 84, number))
        parts.append(text_svg(x + 18, 88, name))
        x += round(18 + len(name) * CHARACTER_WIDTH + LEGEND_GAP)
    return parts


def panel_svg(panel, left, bottom):
    every = [figure for figures in panel.figures.values() for figure in figures]
    low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))
    scale = Scale(left, low, max(high, low + 1))
    parts = [text_svg(left, TOP - 24, panel.title)]
    for tick in scale.ticks():
        x = scale.x(tick)
        parts.append(f'<path class="grid" d="M{x} {TOP - 8}V{bottom}"/>')
        parts.append(text_svg(x, bottom + 16, f"{tick:g}", "value", "middle"))
    for row, figures in enumerate(panel.figures.values()):
        for number, figure in enumerate(figures):
            parts.append(mark_svg(scale.x(figure), row_y(row), number))
    return parts


def mark_svg(x, y, number):
    """Draw a mark: each series has a shape of its own, for those who see no colors."""
    if number == 0:
        return f'<circle class="s0" cx="{x}" cy="{y}" r="{RADIUS}"/>'
    if number == 1:
        corner = f"M{x} {y - 6}l6 11h-12z"
        return f'<path class="s1" d="{corner}"/>'
    return f'<rect class="s2" x="{x - 4.5}" y="{y - 4.5}" width="9" height="9"/>'
