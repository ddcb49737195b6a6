"""Environments, one for each set of requirements, kept in a cache."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.applications.application import Environment

__all__ = ["CannotInstallError", "find_python", "install", "versions"]

# A slow index, and packages without a wheel that are compiled.
INSTALL_TIMEOUT_S = 1800

# The last pip for Python 3.6.
OLD_PIP = "pip==21.3.1"


class CannotInstallError(Exception):
    """An environment cannot be made; the text says why."""


def find_python(version: str) -> str:
    """Return the path of an interpreter, on the path or under pyenv.

    Raises:
        CannotInstallError: there is none.
    """
    if not version:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which(f"python{version}")]
    found += sorted(map(str, pyenv.glob(f"versions/{version}.*/bin/python")))
    for python in filter(None, found):
        if _is_there(python):
            return python
    raise CannotInstallError(f"Python {version} is not installed")


def _is_there(python: str) -> bool:
    # A command of pyenv exists for versions that are not selected, and then fails.
    done = subprocess.run([python, "-V"], capture_output=True, check=False)
    return done.returncode == 0


def install(environment: Environment, cache: Path) -> Path:
    """Return the folder of an environment, made if necessary.

    Raises:
        CannotInstallError: a command has failed.
    """
    python = find_python(environment.python)
    key = json.dumps([python, *environment])
    folder = cache / "environments" / hashlib.sha256(key.encode()).hexdigest()[:16]
    complete = folder / "complete"
    if not complete.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _run([python, "-m", "venv", str(folder)])
        pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet"]
        if environment.python:
            _run([*pip, OLD_PIP])
        _run([*pip, *environment.requirements.split()])
        if environment.npm:
            _run(["npm", "install", "--prefix", str(folder), *environment.npm])
        complete.touch()
    return folder


def versions(folder: Path, *packages: str) -> dict[str, str]:
    """Return the version of Python, and those of packages, in an environment."""
    listed = _run([str(folder / "bin/python"), "-m", "pip", "list", "--format=json"])
    by_name = {row["name"].lower(): row["version"] for row in json.loads(listed)}
    python = _run([str(folder / "bin/python"), "-V"]).split()[1]
    return {"python": python} | {name: by_name.get(name, "-") for name in packages}


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            text=True,
            timeout=INSTALL_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        print(exc, file=sys.stderr)
        raise CannotInstallError("its requirements cannot be installed") from exc
    if done.returncode:
        # The output names folders and hosts, which do not belong in the table.
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        raise CannotInstallError("its requirements cannot be installed")
    return done.stdout
