"""How a tree of URLs is divided among the rings of a sunburst.

Pure, and only angles: what a sector looks like is in `crawler_app.report.sunburst`.  The
sectors of a ring that belong to one sector of the ring within share all of its angle.
What is too small to be seen goes together into a sector for many.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from crawler_app.report.shape import Kind, Node, Shape, in_words
from crawler_app.text.escaping import printable

__all__ = ["NEUTRAL", "PAGES", "Sector", "divide", "every", "shown"]

# Rings beyond the first one that is divided at all.
RINGS = 5

# A directory with this share of all that is beside it is not one section of several.
NEARLY_ALL = 0.9

# Sections that are not one of several, and pages between them.
NEUTRAL = -1
# The pages of a site without sections.
PAGES = 0

# Pages that go together are told apart by the alphabet again when there is room.
GROUP_TURNS = 1 / 12


@dataclass(slots=True)
class Sector:
    """A part of a ring.

    Attributes:
        name: As it is shown.
        path: What all its URLs begin with, as it is shown; of a sector of many, the
            first and the last of them where they are known.
        counts: URLs of each `Kind`.
        start: Where it begins, in turns from the top, clockwise.
        end: Where it ends, likewise.
        is_group: Whether it is of many that are too small for one each.
        is_counted: Whether its name is a number of URLs.
        ring: 0 for the innermost.
        section: The number of the section that it belongs to, or `NEUTRAL`.
        children: The sectors around it; none where it is too narrow, or has no more.
    """

    name: str
    path: str
    counts: Sequence[int]
    start: float = 0.0
    end: float = 1.0
    is_group: bool = False
    is_counted: bool = False
    ring: int = -1
    section: int = NEUTRAL
    children: list["Sector"] = field(default_factory=list)

    @property
    def total(self) -> int:
        """URLs of any kind."""
        return sum(self.counts)

    @property
    def is_left(self) -> bool:
        """Whether nothing of it was fetched yet."""
        return self.counts[Kind.LEFT] == self.total

    @property
    def turns(self) -> float:
        """The share of the circle that it has."""
        return self.end - self.start


def shown(segment: str) -> str:
    """Return a segment of a path as a person wants to read it, safe to be printed.

    >>> shown("caf%C3%A9"), shown("a%2Fb"), shown("%1b"), shown("%FF")
    ('café', 'a%2Fb', '%1b', '%FF')
    """
    try:
        text = unquote(segment, errors="strict")
    except UnicodeDecodeError:
        text = segment
    return text if text.isprintable() and "/" not in text else printable(segment)


def every(sector: Sector) -> Iterator[Sector]:
    """Return all sectors around one, the inner before the outer."""
    ring = sector.children
    while ring:
        yield from ring
        ring = [child for inner in ring for child in inner.children]


def divide(shape: Shape, least_turns: float) -> tuple[Sector, int]:
    """Return the whole circle with its rings, and which ring is divided first.

    The rings before that belong to one directory nearly as a whole.

    Args:
        least_turns: The narrowest sector of the innermost ring for one directory or page;
            they may be narrower further out, where a turn is longer.
    """
    top = shape.top
    if top is shape.root:
        hosts = len(top.child_by_name)
        whole = Sector(f"{hosts:,} hosts" if hosts else "", "", top.counts)
    else:
        whole = Sector(shown(top.name), "/", top.counts)
    divider = _Divider(_main_line(top), least_turns)
    divider.divide(whole, top)
    return whole, len(divider.line) - 1


def _main_line(top: Node) -> list[Node]:
    """Return the directories that each have nearly all of the one before."""
    line = [top]
    while children := line[-1].children():
        largest = children[0]
        if largest.total < NEARLY_ALL * line[-1].total or not largest.child_by_name:
            break
        line.append(largest)
    return line


class _Divider:
    """What is the same for all rings of a sunburst."""

    def __init__(self, line: list[Node], least_turns: float) -> None:
        self.line = line
        self._rings = len(line) - 1 + RINGS
        self._least_turns = least_turns

    def divide(self, sector: Sector, node: Node) -> None:
        """Divide a sector for a node among sectors for what is below it."""
        ring = sector.ring + 1
        if not node.child_by_name or ring >= self._rings:
            return
        least = self._least_turns / (1 + ring / 2)
        wide, small = _by_width(node, sector.turns, least)
        if not wide and ring > 0 and sector.turns < 3 * least:
            return
        room = sector.turns / max(GROUP_TURNS, least)
        groups = _groups(node, wide, small, sector.path, room)
        sector.children = [_part(child, sector.path) for child in wide] + groups
        _spread(sector)
        if node is self.line[-1]:
            _color_sections(sector.children, wide)
        for part, child in zip(sector.children, wide, strict=False):
            self.divide(part, child)


def _by_width(node: Node, turns: float, least: float) -> tuple[list[Node], list[Node]]:
    """Return the children that are wide enough for a sector of their own, and the rest."""
    children = node.children()
    wide = [child for child in children if child.total * turns >= least * node.total]
    small = children[len(wide) :]
    if len(small) == 1 and sum(child.total for child in children) == node.total:
        wide, small = children, []  # one is not many
    if all(child.name.isdecimal() for child in wide):
        wide.sort(key=lambda child: (len(child.name), child.name))  # years, months
    return wide, small


def _color_sections(parts: list[Sector], wide: list[Node]) -> None:
    sections = [
        part for part, child in zip(parts, wide, strict=False) if child.child_by_name
    ]
    for number, section in enumerate(sections):
        section.section = number
    if not sections:
        for part in parts:
            part.section = PAGES


def _part(node: Node, before: str) -> Sector:
    name = shown(node.name)
    return Sector(name, before + name + "/" * bool(node.child_by_name), node.counts)


def _groups(
    node: Node, wide: list[Node], small: list[Node], path: str, parts: float
) -> list[Sector]:
    """Return sectors for what has none of its own; together, all that is left.

    Args:
        parts: How many sectors there is room for if they have all of the node.
    """
    parts *= sum(n.total for n in small) / node.total
    by_name = sorted(small, key=lambda n: n.name)
    groups = []
    for run in _split(by_name, max(1, int(parts))):
        first, last = shown(run[0].name), shown(run[-1].name)
        name = f"{path}{first} \u2026 {last}"
        groups.append(Sector(first, name, _sums(run), is_group=True))
    if len(groups) == 1:
        (group,) = groups
        group.is_counted = True
        group.name = _more(group.counts) if wide else in_words(group.counts)
    named = _sums([*wide, *small])
    rest = [n - m for n, m in zip(node.counts, named, strict=True)]
    if sum(rest):
        around = f"the rest of {path or 'all hosts'}"
        groups.append(Sector(_more(rest), around, rest, is_group=True, is_counted=True))
    return groups


def _more(counts: Sequence[int]) -> str:
    return f"and {sum(counts):,} more"


def _split(nodes: list[Node], parts: int) -> Iterator[list[Node]]:
    """Cut nodes into runs of about as many URLs each."""
    total = sum(node.total for node in nodes)
    before = itertools.accumulate((node.total for node in nodes), initial=0)
    numbers = {id(n): at * parts // total for n, at in zip(nodes, before, strict=False)}
    for _, run in itertools.groupby(nodes, key=lambda node: numbers[id(node)]):
        yield list(run)


def _sums(nodes: list[Node]) -> list[int]:
    return [sum(node.counts[kind] for node in nodes) for kind in Kind]


def _spread(sector: Sector) -> None:
    """Give each child its share of the next ring, and the last one all that is left."""
    before = 0
    for part in sector.children:
        part.ring = sector.ring + 1
        part.section = sector.section
        part.start = sector.start + sector.turns * before / sector.total
        before += part.total
        part.end = sector.start + sector.turns * before / sector.total
    sector.children[-1].end = sector.end
