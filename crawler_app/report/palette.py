"""The colors of a sunburst, on white and on dark.

Pure.  Sections have hues.  Dark and light ones take turns, so that neighbors differ for
those who do not see the hues; red is kept for what is broken.
"""

from crawler_app.report.sectors import NEUTRAL

__all__ = ["DARK", "LEFT_OPACITY", "LIGHT", "OPACITIES", "RED", "STYLE", "colors"]

DARK, LIGHT = "#1c1f23", "#ffffff"
RED = "#d9303c"

# Each with the color of what is written on it.
SECTIONS = (
    ("#2f6db3", LIGHT),
    ("#efb54a", DARK),
    ("#1d8277", LIGHT),
    ("#b9a0e3", DARK),
    ("#66761b", LIGHT),
    ("#7cc4ee", DARK),
    ("#6e4a9e", LIGHT),
    ("#8fd3ae", DARK),
    ("#87592b", LIGHT),
    ("#d8c48f", DARK),
)
NO_SECTION = ("#8b96a3", DARK)

# Further out the background shows through, and what is written there is in the ink that
# goes with the background.
OPACITIES = (1.0, 0.44, 0.4, 0.36, 0.32)
LEFT_OPACITY = 0.15

# The attributes beside these rules have the same colors, for programs that know no
# variables.
STYLE = (
    ".sunburst{max-width:100%;height:auto}"
    ".sunburst path:hover{stroke-opacity:.75}"
    f".sunburst .ink{{fill:var(--text,{DARK})}}"
    f".sunburst .back{{fill:var(--surface,{LIGHT})}}"
    f".sunburst .halo{{stroke:var(--surface,{LIGHT})}}"
    f"@media print{{.sunburst{{--surface:{LIGHT};--text:{DARK}}}}}"
)


def colors(section: int) -> tuple[str, str]:
    """Return the color of a section, and that of what is written on it.

    >>> colors(0) == colors(len(SECTIONS)) != colors(NEUTRAL)
    True
    """
    return NO_SECTION if section == NEUTRAL else SECTIONS[section % len(SECTIONS)]
