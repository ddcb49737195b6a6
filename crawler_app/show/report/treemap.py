"""The treemap of a site: its folders as boxes, sized by their number of URLs.

Pure.  It makes only numbers and text; ``shape.html`` and ``page.css`` draw the boxes.
There are two levels, with the largest folders first.  Small folders share one box with
the URLs that are in no folder.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from crawler_app.base.text.formatting import cut_middle
from crawler_app.show.report.shape import Shape, UrlCategory, in_words, parent_of

__all__ = ["Box", "Rectangle", "Treemap", "shown", "split", "treemap"]

# Width to height, as on a large screen.
RATIO = 2.4

# Folders with a smaller share of all URLs get no box of their own.
MIN_SHARE = 0.015
MAX_BOXES = 14

# A box with at least this share of all URLs is divided into its subfolders.
DIVIDED_SHARE = 0.07

# Smaller boxes are enlarged to this share, so that they can be seen and clicked.
VISIBLE_SHARE = 0.008

# A folder with at least this share of its parent is replaced by its subfolders.
DOMINANT_SHARE = 0.9

# The title of a box is one line; the ends of a path identify it best.
FOLDER_CHARS = 70

# The order of the kinds in a box, from the left.
KINDS = (
    UrlCategory.BROKEN,
    UrlCategory.LOOP,
    UrlCategory.REDIRECT,
    UrlCategory.LEFT,
    UrlCategory.FILE,
    UrlCategory.OK,
)


class Rectangle(NamedTuple):
    """A part of an area, in percent of its width and height."""

    left: float
    top: float
    width: float
    height: float


WHOLE = Rectangle(0.0, 0.0, 100.0, 100.0)


@dataclass(slots=True)
class Box:
    """The box of a folder, or of the rest of a folder.

    Attributes:
        folder: The host and path that its URLs begin with.
        title: Its path and its share of all URLs.
        counts: Number of URLs of each `UrlCategory`.
        is_rest: Whether it stands for the URLs of the folder that are in no other box.
    """

    folder: str
    name: str
    title: str
    counts: Sequence[int]
    is_rest: bool = False
    area: Rectangle = WHOLE
    inner: list["Box"] = field(default_factory=list)

    @property
    def words(self) -> str:
        return in_words(self.counts)

    @property
    def style(self) -> str:
        """The CSS: its position, and the percentage of the width where each kind ends."""
        percents = dict(zip(Rectangle._fields, self.area, strict=True))
        ends = itertools.accumulate(self.counts[kind] for kind in KINDS)
        for kind, end in zip(KINDS, ends, strict=True):
            percents[f"--{kind.name.lower()}"] = 100 * end / sum(self.counts)
        styles = [f"{name}:{percent:.4g}%" for name, percent in percents.items()]
        share = self.area.width * self.area.height / 100
        return f"{';'.join(styles)};--share:{share:.4g}"


class Treemap(NamedTuple):
    """The boxes of a site.

    Attributes:
        folder: The common parent of the boxes (except the rest), for display.
        legend: The kinds of URLs in it, with their counts.
    """

    folder: str
    boxes: list[Box]
    legend: list[tuple[str, str]]


def treemap(shape: Shape) -> Treemap:
    """Return the treemap of a site.

    >>> shape = Shape()
    >>> for path in ("docs/a.html", "docs/b.html", "news/c.html", "news/d.html"):
    ...     shape.add(f"https://a.test/{path}", UrlCategory.OK)
    >>> [(box.name, box.words, box.area.width) for box in treemap(shape).boxes]
    [('docs', '2 pages', 50.0), ('news', '2 pages', 50.0)]
    """
    totals = shape.totals()
    counts = totals[""]
    divider = _Divider(totals)
    boxes = divider.boxes("", RATIO)
    for box in boxes:
        if not box.is_rest and sum(box.counts) >= DIVIDED_SHARE * sum(counts):
            inner = divider.boxes(box.folder, RATIO * box.area.width / box.area.height)
            box.inner = inner if len(inner) > 1 else []
    legend = [
        (kind.name.lower(), in_words([n * (k == kind) for k, n in enumerate(counts)]))
        for kind in reversed(KINDS)
        if counts[kind]
    ]
    return Treemap(shown(divider.main_folder("")) or "the site", boxes, legend)


def shown(folder: str) -> str:
    """Return a path for display.

    >>> shown("caf%C3%A9/"), shown("%1b/"), shown("%FF/")
    ('café/', '%1b/', '%FF/')
    """
    try:
        text = unquote(folder, errors="strict")
    except UnicodeDecodeError:
        text = folder
    return cut_middle(text if text.isprintable() else folder, FOLDER_CHARS)


def split(
    weights: Sequence[float], ratio: float, area: Rectangle = WHOLE
) -> Iterator[Rectangle]:
    """Divide an area in proportion to weights, in their order.

    Recursively splits the area into two halves of nearly equal weight, across its longer
    side.

    Args:
        ratio: Width to height of the whole treemap.

    >>> [tuple(part) for part in split([2, 1, 1], ratio=2.0)]
    [(0.0, 0.0, 50.0, 100.0), (50.0, 0.0, 50.0, 50.0), (50.0, 50.0, 50.0, 50.0)]
    """
    if len(weights) <= 1:
        yield from [area] * len(weights)
        return
    sums = list(itertools.accumulate(weights))
    at = min(range(len(sums) - 1), key=lambda n: abs(2 * sums[n] - sums[-1])) + 1
    share = sums[at - 1] / sums[-1]
    left, top, width, height = area
    if width * ratio > height:
        first = Rectangle(left, top, width * share, height)
        second = Rectangle(left + width * share, top, width * (1 - share), height)
    else:
        first = Rectangle(left, top, width, height * share)
        second = Rectangle(left, top + height * share, width, height * (1 - share))
    yield from split(weights[:at], ratio, first)
    yield from split(weights[at:], ratio, second)


class _Divider:
    """Divides folders among boxes."""

    def __init__(self, counts_by_folder: dict[str, list[int]]) -> None:
        self._counts = counts_by_folder
        self._total = {folder: sum(n) for folder, n in counts_by_folder.items()}
        self._all = self._total[""]
        large = [f for f, n in self._total.items() if f and n >= MIN_SHARE * self._all]
        self._large_in: dict[str, list[str]] = {}
        for folder in sorted(large, key=lambda f: (-self._total[f], f)):
            self._large_in.setdefault(parent_of(folder), []).append(folder)

    def main_folder(self, folder: str) -> str:
        """Return the innermost folder that has nearly all URLs, and has subfolders."""
        while large := self._large_in.get(folder):
            is_dominant = self._total[large[0]] >= DOMINANT_SHARE * self._total[folder]
            if not is_dominant or large[0] not in self._large_in:
                break
            folder = large[0]
        return folder

    def boxes(self, outer: str, ratio: float) -> list[Box]:
        main = self.main_folder(outer)
        boxes = []
        rest = self._counts[outer]
        for folder in self._large_in.get(main, [])[:MAX_BOXES]:
            counts = self._counts[folder]
            name = shown(folder.removeprefix(outer or main)[:-1])
            boxes.append(Box(folder, name, self._title(folder, counts), counts))
            rest = [n - m for n, m in zip(rest, counts, strict=True)]
        if sum(rest):
            title = f"the rest of {self._title(outer, rest)}"
            boxes.append(Box(outer, f"{sum(rest):,} more", title, rest, is_rest=True))
        weights = [max(sum(box.counts), VISIBLE_SHARE * self._all) for box in boxes]
        for box, area in zip(boxes, split(weights, ratio), strict=True):
            box.area = area
        return boxes

    def _title(self, folder: str, counts: Sequence[int]) -> str:
        path = shown(folder) or "the site"
        # Isolated, so that a right-to-left path does not reorder the numbers after it.
        path = path if path.isascii() else f"\u2068{path}\u2069"
        return f"{path}: {sum(counts) / self._all:.1%}, {in_words(counts)}"
