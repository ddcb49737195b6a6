"""Measures the converter on packages and writes the results: ``python -m tests.porting --help``."""

import argparse
import os
import sys
from pathlib import Path

from tests.porting.measuring import WAYS, Measuring
from tests.porting.packages import PACKAGES
from tests.porting.results import RESULTS, record

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def main() -> int:
    """Measure what the command line names, or everything."""
    parser = argparse.ArgumentParser("python -m tests.porting", description=__doc__)
    names = sorted({package.name for package in PACKAGES})
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument(
        "--ways",
        default=",".join(WAYS),
        help="the ways to convert them (default: %(default)s)",
    )
    parser.add_argument(
        "--no-suites", action="store_true", help="do not run the packages' own tests"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=CACHE / "gencoro-applications",
        help="where sources and environments are kept (default: %(default)s)",
    )
    parser.add_argument(
        "--gencoro",
        type=Path,
        default=ROOT,
        help="the checkout whose converter is measured (default: this one)",
    )
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="(default: %(default)s)"
    )
    args = parser.parse_args()
    if unknown := set(args.names) - set(names):
        parser.error(f"there is no package {min(unknown)}")
    measuring = Measuring(args.cache.resolve(), args.gencoro.resolve())
    for package in PACKAGES:
        if args.no_suites:
            package = package._replace(suite="")
        if not args.names or package.name in args.names:
            result = measuring.measure(package, tuple(args.ways.split(",")))
            record(package.title, result, args.results)
            print(package.title, *result.items(), sep="\n    ", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
