"""Measures packages and writes their results: ``python -m tests.porting --help``."""

import argparse
import os
import sys
from pathlib import Path

from tests.applications.processes import adopt_orphans
from tests.porting.measuring import measure
from tests.porting.measuring_battery import measure_battery
from tests.porting.results import BATTERY, record
from tests.porting.subjects import SUBJECTS

__all__ = ["main"]

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def main() -> int:
    """Measure what the command line names, or everything."""
    parser = argparse.ArgumentParser("python -m tests.porting", description=__doc__)
    names = [BATTERY, *SUBJECTS]
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=names, help=", ".join(names)
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=CACHE / "gencoro-applications",
        help="where environments are kept (default: %(default)s)",
    )
    args = parser.parse_args()
    adopt_orphans()
    for name in args.names or names:
        if name == BATTERY:
            title, result = BATTERY, measure_battery(args.cache)
        else:
            title = SUBJECTS[name].title
            result = measure(SUBJECTS[name], args.cache)
        record(title, result)
        print(name, *result.items(), sep="\n    ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
