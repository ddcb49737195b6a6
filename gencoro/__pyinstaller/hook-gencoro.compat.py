"""Modules that a frozen legacy program needs, and that no import statement names.

The table of names leads to them: Tornado's own, and those that replace their names.
"""

from gencoro.compat.names import TABLE
from gencoro.legacy_names import NAMES

__all__ = ["hiddenimports"]

_places = {row.place.partition(":")[0] for row in TABLE.values()}
_legacy = {
    "gencoro.legacy." + legacy.place.partition(".")[0]
    for names in NAMES.values()
    for legacy in names.values()
}
# Without the modules that compat itself makes.
hiddenimports = sorted(_places - TABLE.keys() - {""} | _legacy)
