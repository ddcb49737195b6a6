"""Converts a package, by this converter or by its peer, and runs it.

Each run has a copy of the environment, or of the archives, of its own.
"""

import ast
import asyncio
import json
import pathlib
import shutil
import subprocess
import sys
from typing import Any

from gencoro.compat.doctor.program import Program
from tests.applications.environments import CannotInstallError, install
from tests.applications.processes import StepError
from tests.applications.results import OWN_TESTS
from tests.applications.starting import JOB_TIMEOUT_S, Place, do_job
from tests.helpers.compat.archives import ARCHIVES, Packages
from tests.helpers.porting.playing import functions_of
from tests.porting.subjects import Subject, application_of

__all__ = ["measure", "peer"]

# Its versions of today cannot parse; these are those it was published with.
PEER = "tornado-async-transformer==0.2.0 libcst==0.1.2 parso==0.5.2"

DECORATORS = frozenset(
    {"tornado.gen.coroutine", "tornado.gen.engine", "tornado.testing.gen_test"}
)

CONVERT = "-m gencoro convert --to async --write"


def measure(subject: Subject, cache: pathlib.Path) -> dict[str, Any]:
    """Return what a package does before, after, and after the peer."""
    run = _run_application if subject.application else _run_program
    commands = {
        "before": [],
        "after": [sys.executable, *CONVERT.split()],
        "peer": [str(peer(cache)), "-m", "tornado_async_transformer.tool"],
    }
    return {name: run(subject, cache, name, line) for name, line in commands.items()}


def peer(cache: pathlib.Path) -> pathlib.Path:
    """Return the interpreter of an environment that has the peer."""
    folder = cache / "peer"
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin/python"), "-m", "pip", "install", "-q"]
        subprocess.run([*pip, *PEER.split()], check=True)
    return folder / "bin/python"


def _run_application(
    subject: Subject, cache: pathlib.Path, name: str, command: list[str]
) -> dict[str, Any]:
    application = application_of(subject)
    folder = _new(cache / "converted" / f"{subject.application}-{name}")
    shutil.copytree(install(application.new, cache), folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    counts = _convert([packages / f for f in subject.folders], command)
    result: dict[str, Any] = {"steps": []}
    place = Place(
        cache / "runs" / folder.name, folder, f"{folder}/bin/python -m gencoro run"
    )
    try:
        asyncio.run(do_job(application, place, result))
    except (CannotInstallError, StepError, TimeoutError) as exc:
        outcome = str(exc) or f"{JOB_TIMEOUT_S} s have passed"
    else:
        outcome = f"all {len(result['steps'])} steps"
    if result["steps"] and result["steps"][0].startswith(OWN_TESTS):
        outcome = result["steps"][0].removeprefix(OWN_TESTS)
    return counts | {"outcome": outcome}


def _run_program(
    subject: Subject, cache: pathlib.Path, name: str, command: list[str]
) -> dict[str, Any]:
    plain = Packages(_kept(cache / "archives"))
    folder = _new(cache / "converted" / f"{subject.program}-{name}")
    for archive in subject.using.split():
        shutil.copytree(plain.path(archive), folder / archive)
    counts = _convert([folder / f for f in subject.folders if f in ARCHIVES], command)
    try:
        done = Packages(folder).result(subject.program, using=subject.using)
    except AssertionError as exc:
        return counts | {"outcome": str(exc).strip().splitlines()[-1]}
    return counts | {"outcome": json.dumps(done, ensure_ascii=False)}


def _kept(folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _new(folder: pathlib.Path) -> pathlib.Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return folder


def _convert(folders: list[pathlib.Path], command: list[str]) -> dict[str, int]:
    """Convert folders as one program; return how many coroutines there are, and are new."""
    before = _coroutines(folders)
    if command:
        # The peer has an exit status of 0 always; this converter 1 if something is left.
        subprocess.run([*command, *map(str, folders)], check=False, capture_output=True)
    after = _functions(folders)
    native = sum(isinstance(after.get(key), ast.AsyncFunctionDef) for key in before)
    return {"coroutines": len(before), "converted": native}


def _coroutines(folders: list[pathlib.Path]) -> set[tuple[str, str]]:
    """Return the functions with a decorator of Tornado's for coroutines."""
    sources = {
        str(path): path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
    }
    return {
        (function.module.path, function.name.replace(".<locals>", ""))
        for function in Program(sources).functions
        if isinstance(function.node, ast.FunctionDef)
        and any(set(names) & DECORATORS for _, names in function.decorators())
    }


def _functions(folders: list[pathlib.Path]) -> dict[tuple[str, str], Any]:
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            try:
                functions = functions_of(path.read_bytes())
            except SyntaxError:  # of an older Python
                continue
            found.update(((str(path), name), node) for name, node in functions.items())
    return found
