"""A bar chart of ratios as SVG: horizontal bars and a line at 1.

Pure: figures in, text out.  The chart has its own background: a page can be dark although
the system is light, and an SVG image can only query the system's setting.
"""

import math
from html import escape
from typing import NamedTuple

__all__ = ["Group", "bar_chart"]

WIDTH = 760
MARGIN = 28
LABEL_WIDTH = 232
VALUE_WIDTH = 52
BAR_HEIGHT = 9
BAR_STEP = 13
GROUP_GAP = 17
HEAD_HEIGHT = 122
FOOT_HEIGHT = 58
# The average width of a character in the legend; SVG cannot measure text.
CHARACTER_WIDTH = 6.6
LEGEND_GAP = 30
VALUE_GAP = 6

STYLE = """
  .ground { fill: #ffffff; stroke: #e4e5e9 }
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
         font-size: 12.5px; fill: #33373d }
  .title { font-size: 18px; font-weight: 600; fill: #16181b }
  .quiet { font-size: 12px; fill: #6a7079 }
  .value { font-size: 11px; fill: #6a7079; font-variant-numeric: tabular-nums }
  .grid { stroke: #eceef1 }
  .one { stroke: #16181b; stroke-width: 1.5 }
  .one-text { font-weight: 600; fill: #16181b }
  .s0 { fill: #3567a8 } .s1 { fill: #e08a3c } .s2 { fill: #4f9d8a }
  .s3 { fill: #a9c6bd } .s4 { fill: none; stroke: #9aa0a8 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #16181c; stroke: #2b2f36 }
    text { fill: #d4d7dc }
    .title, .one-text { fill: #f3f4f6 }
    .quiet, .value { fill: #989fa9 }
    .grid { stroke: #262a30 }
    .one { stroke: #f3f4f6 }
    .s0 { fill: #6d9fe0 } .s1 { fill: #e7a05c } .s2 { fill: #62b8a3 }
    .s3 { fill: #4a8073 } .s4 { stroke: #6f7680 }
  }
"""


class Group(NamedTuple):
    """Bars that belong together, in the order of the legend.

    Attributes:
        ratios: The ratios by name of the series; 1 is the line.
    """

    label: str
    ratios: dict[str, float]


class Scale:
    """Maps ratios to coordinates."""

    def __init__(self, greatest):
        self.end = math.ceil(greatest * 2) / 2
        self.left = MARGIN + LABEL_WIDTH
        self._width = WIDTH - MARGIN - VALUE_WIDTH - self.left

    def x(self, ratio):
        return round(self.left + self._width * ratio / self.end, 1)

    def ticks(self):
        step = 1 if self.end <= 6 else 2
        return range(0, math.floor(self.end) + 1, step)


def bar_chart(title, one, groups, note):
    """Return an SVG document.

    Args:
        one: The name of the unit of the ratios.
        note: The text at the bottom.
    """
    series = list(dict.fromkeys(name for group in groups for name in group.ratios))
    scale = Scale(max(ratio for group in groups for ratio in group.ratios.values()))
    bodies, bottom = [], HEAD_HEIGHT
    for group in groups:
        bodies.append(group_svg(group, series, scale, bottom))
        bottom += group_height(group)
    parts = [
        head_svg(title, f"{one} = 1; longer is slower, or larger"),
        legend_svg(series),
        grid_svg(scale, bottom),
        *bodies,
        one_svg(scale, one, bottom),
        text_svg(MARGIN, bottom + FOOT_HEIGHT - 22, note, "quiet"),
    ]
    return document(title, described(one, groups), bottom + FOOT_HEIGHT, parts)


def group_height(group):
    return len(group.ratios) * BAR_STEP + GROUP_GAP


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


def described(one, groups):
    """Return a description of the chart, for screen readers."""
    sentences = [f"Bars of how many times as much as {one} each takes."]
    for group in groups:
        ratios = ", ".join(f"{name} {r:.2f}" for name, r in group.ratios.items())
        sentences.append(f"{group.label}: {ratios}.")
    return " ".join(sentences)


def text_svg(x, y, text, kind="", anchor="start"):
    return (
        f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def head_svg(title, subtitle):
    return "\n".join(
        [
            text_svg(MARGIN, 40, title, "title"),
            text_svg(MARGIN, 61, subtitle, "quiet"),
        ]
    )


def legend_svg(series):
    parts, x = [], MARGIN
    for number, name in enumerate(series):
        parts.append(bar_svg(x, 78, 10, number))
        parts.append(text_svg(x + 16, 87, name))
        x += round(16 + len(name) * CHARACTER_WIDTH + LEGEND_GAP)
    return "\n".join(parts)


def bar_svg(x, y, width, number):
    return (
        f'<rect class="s{number}" x="{x}" y="{y}" width="{max(width, 1):.1f}" '
        f'height="{BAR_HEIGHT}" rx="1.5"/>'
    )


def grid_svg(scale, bottom):
    top = HEAD_HEIGHT - 8
    parts = []
    for tick in scale.ticks():
        x = scale.x(tick)
        parts.append(f'<path class="grid" d="M{x} {top}V{bottom}"/>')
        if tick != 1:
            parts.append(text_svg(x, bottom + 14, f"{tick}x", "value", "middle"))
    return "\n".join(parts)


def one_svg(scale, name, bottom):
    x = scale.x(1)
    line = f'<path class="one" d="M{x} {HEAD_HEIGHT - 8}V{bottom}"/>'
    return line + text_svg(x, bottom + 14, name, "one-text", "middle")


def group_svg(group, series, scale, top):
    middle = top + len(group.ratios) * BAR_STEP / 2 + 2
    parts = [text_svg(scale.left - 16, middle, group.label, anchor="end")]
    for place, (name, ratio) in enumerate(group.ratios.items()):
        y = top + place * BAR_STEP
        end = scale.x(ratio)
        parts.append(bar_svg(scale.left, y, end - scale.left, series.index(name)))
        parts.append(text_svg(beside(end, scale), y + 8, f"{ratio:.2f}x", "value"))
    return "\n".join(parts)


def beside(end, scale):
    """Return the position of a bar's value: after its end, but not across the line."""
    line = scale.x(1)
    if end <= line < end + VALUE_WIDTH - VALUE_GAP:
        return line + VALUE_GAP
    return end + VALUE_GAP
