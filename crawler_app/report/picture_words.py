"""What the picture of a site says: its title, its description, its tooltips, its legend.

Pure.  All of it is for people, and nothing is escaped.
"""

from collections.abc import Iterable, Sequence

from crawler_app.report.sectors import NEUTRAL, Sector
from crawler_app.report.shape import Kind, in_words
from crawler_app.text.formatting import cut_middle

__all__ = ["description", "legend", "title", "tooltip"]

MAX_NAME_CHARS = 80
MAX_PATH_CHARS = 70

# Of the largest parts, in the description.
NAMED = 5


def title(whole: Sector) -> str:
    """Return what a picture is of."""
    return f"The shape of {cut_middle(whole.name, MAX_NAME_CHARS) or 'a site'}"


def description(whole: Sector, sectors: Iterable[Sector], first_ring: int) -> str:
    """Return what a person should know who does not see the picture.

    Args:
        sectors: All that there are.
        first_ring: The first ring that is divided.
    """
    if not whole.total:
        return "It has no URLs yet."
    main = [s for s in sectors if s.ring == first_ring and not s.is_group]
    words = f"It has {in_words(whole.counts)}."
    if main:
        largest = sorted(main, key=lambda s: -s.total)[:NAMED]
        shares = (f"{_path(s)} {_percent(s.turns)}" for s in largest)
        words += f" The largest parts are {', '.join(shares)}."
    return words


def tooltip(sector: Sector) -> str:
    """Return what one part of the picture is."""
    return f"{_path(sector)}: {_percent(sector.turns)}, {in_words(sector.counts)}"


def legend(sectors: Sequence[Sector], first_ring: int) -> list[tuple[str, str]]:
    """Return those of "red", "gray" and "pale" that there are, and what each means.

    Args:
        first_ring: The first ring that is divided; those within have no colors.
    """
    found = []
    fetched = [sector for sector in sectors if not sector.is_left]
    if any(sector.counts[Kind.BROKEN] for sector in sectors):
        found.append(("red", "red edge: the share that is broken"))
    if any(s.section == NEUTRAL and s.ring >= first_ring for s in fetched):
        found.append(("gray", "gray: single pages and redirects, or small directories"))
    if len(fetched) < len(sectors):
        found.append(("pale", "pale: not fetched"))
    return found


def _path(sector: Sector) -> str:
    path = cut_middle(sector.path, MAX_PATH_CHARS)
    # Isolated, or what is written from right to left takes the numbers after it along.
    return path if path.isascii() else f"\u2068{path}\u2069"


def _percent(share: float) -> str:
    """Return a share as a person reads it.

    >>> _percent(0.456), _percent(0.021), _percent(0.0001)
    ('46 %', '2.1 %', 'under 0.1 %')
    """
    if share < 0.001:
        return "under 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
