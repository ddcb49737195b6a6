"""Runs applications and writes their results: ``python -m tests.applications --help``."""

import argparse
import asyncio
import importlib
import os
import pkgutil
import shutil
import sys
from pathlib import Path

import tests.applications
from tests.applications import results
from tests.applications.application import Application
from tests.applications.environments import CannotInstallError, install, versions
from tests.applications.processes import StepError, adopt_orphans, free_port, run

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))

# Of one application in one way; each step has a limit of its own.
JOB_TIMEOUT_S = 600.0


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
            start = f"python -m gencoro run {application.command}"
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
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=names, help=", ".join(names)
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


def _result(application: Application, column: str, cache: Path) -> dict[str, object]:
    """Install an application, do its job, and return what the JSON says of it."""
    environment = application.old if column == "old" else application.new
    result: dict[str, object] = {"steps": [], "reason": "", "versions": {}}
    try:
        installed = install(environment, cache)
        result["versions"] = versions(installed, "tornado")
        asyncio.run(_do_job(application, column, installed, cache, result))
    except (CannotInstallError, StepError, TimeoutError) as exc:
        result["reason"] = str(exc) or f"{JOB_TIMEOUT_S} s have passed"
    return result


async def _do_job(
    application: Application,
    column: str,
    installed: Path,
    cache: Path,
    result: dict[str, object],
) -> None:
    folder = cache / "runs" / f"{application.name}-{application.version}-{column}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    port = free_port()
    launcher = "-m gencoro run" if column == "compat" else ""
    launcher = f"{installed}/bin/python {launcher}".rstrip()
    values = {"port": port, "folder": folder, "here": HERE, "launcher": launcher}
    command = f"{launcher} {application.command}".split()
    command += [option.format(**values) for option in application.options]
    variables = _variables(installed, cache, folder) | {
        name: value.format(**values) for name, value in application.variables.items()
    }
    is_server = any("{port}" in option for option in application.options)
    async with (
        asyncio.timeout(JOB_TIMEOUT_S),
        run(command, variables, folder, port if is_server else None) as program,
    ):
        result["steps"] = program.steps
        if is_server:
            async with program.step("starts"):
                await program.listens()
        await application.job(program)


def _variables(installed: Path, cache: Path, folder: Path) -> dict[str, str]:
    """Return an environment in which nothing of this machine's user is found."""
    # Only this package, not the folder with the tests.
    only_gencoro = cache / "path"
    only_gencoro.mkdir(exist_ok=True)
    link = only_gencoro / "gencoro"
    link.unlink(missing_ok=True)
    link.symlink_to(ROOT / "gencoro")
    path = f"{installed}/bin:{installed}/node_modules/.bin:{os.environ['PATH']}"
    return {
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PATH": path,
        "PYTHONPATH": str(only_gencoro),
        "PYTHONWARNINGS": "ignore",
        "SHELL": "/bin/sh",
        "TMPDIR": "/tmp",
    }


if __name__ == "__main__":
    sys.exit(main())
