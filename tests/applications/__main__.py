"""Runs applications and writes their results: ``python -m tests.applications --help``."""

import argparse
import asyncio
import importlib
import os
import pkgutil
import sys
from pathlib import Path
from typing import Any

import tests.applications
from tests.applications import results
from tests.applications.application import Application
from tests.applications.environments import CannotInstallError, install, versions
from tests.applications.processes import StepError, adopt_orphans
from tests.applications.starting import JOB_TIMEOUT_S, Place, do_job

__all__ = ["main"]

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def main() -> int:
    """Run what the command line names; the exit status is 1 if anything has failed."""
    applications = _applications()
    args = _parser(list(applications)).parse_args()
    adopt_orphans()
    failed = False
    for name in args.names or applications:
        for column in args.columns.split(","):
            application = applications[name]
            result = _result(application, column, args.cache)
            title = f"{application.name} {application.version}"
            command = application.command.format(here="tests/applications")
            start = f"python -m gencoro run {command}"
            results.record(title, start, column, result)
            reason = result["reason"]
            print(f"{name} {column}: {', '.join(result['steps'])}; {reason or 'done'}")
            failed = failed or bool(reason)
    return failed


def _applications() -> dict[str, Application]:
    """Return the applications by the name of their module."""
    found = {}
    for module in pkgutil.iter_modules(tests.applications.__path__):
        if module.name != "__main__":
            loaded = importlib.import_module(f"tests.applications.{module.name}")
            if hasattr(loaded, "APPLICATION"):
                found[module.name] = loaded.APPLICATION
    return found


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m tests.applications", description=__doc__
    )
    # No name at all is checked as well: by an empty list, on some Pythons.
    choices: list[object] = [*names, []]
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=choices, help=", ".join(names)
    )
    parser.add_argument(
        "--columns",
        default=",".join(results.COLUMNS),
        help="the ways to start them (default: %(default)s)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=CACHE / "gencoro-applications",
        help="where environments and logs are kept (default: %(default)s)",
    )
    return parser


def _result(application: Application, column: str, cache: Path) -> dict[str, Any]:
    """Install an application, do its job, and return what the JSON says of it."""
    environment = application.old if column == "old" else application.new
    result: dict[str, Any] = {"steps": [], "reason": "", "versions": {}}
    try:
        installed = install(environment, cache)
        result["versions"] = versions(installed, "tornado")
        folder = cache / "runs" / f"{application.name}-{application.version}-{column}"
        launcher = "-m gencoro run" if column == "compat" else ""
        place = Place(folder, installed, f"{installed}/bin/python {launcher}".rstrip())
        asyncio.run(do_job(application, place, result))
    except (CannotInstallError, StepError, TimeoutError) as exc:
        result["reason"] = str(exc) or f"{JOB_TIMEOUT_S} s have passed"
    return result


if __name__ == "__main__":
    sys.exit(main())
