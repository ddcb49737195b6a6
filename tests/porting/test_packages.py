"""Packages that were written for Tornado 2 to 4 do as before when they are converted.

The tests are those of ``tests/compat/test_packages.py``; the programs that use the packages
are converted too.  With ``FUZZ_FACTOR=2`` they are all of them.
"""

import os
import pathlib
import shutil

import pytest

from tests.compat import test_packages as unmodified
from tests.helpers.compat.archives import ARCHIVES, PROGRAMS, Packages
from tests.helpers.fuzzing import some
from tests.helpers.porting.playing import convert

pytestmark = pytest.mark.once

# Its program waits for Futures with results of their own, of a class that is not read with it:
# `with await lock.acquire()` is listed, and fails.
TORO = "test_toro"

TESTS = [n for n in vars(unmodified) if n.startswith("test_") and n != TORO]

# Some of the same tests, with the fixture below.
vars().update((name, vars(unmodified)[name]) for name in ("port", *some(TESTS, 3)))


class ConvertedPackages(Packages):
    """The same packages and programs, converted."""

    def __init__(self, folder: pathlib.Path, plain: Packages) -> None:
        super().__init__(folder)
        self._plain = plain
        self._programs = folder / "programs"
        shutil.copytree(PROGRAMS, self._programs)
        convert(self._programs)

    def path(self, name: str) -> pathlib.Path:
        path = self._folder / name
        if not path.exists():
            shutil.copytree(self._plain.path(name), path)
            if name in ARCHIVES:
                convert(path)
        return path

    def run(self, *command: str, using: str, cwd: pathlib.Path = PROGRAMS) -> str:
        moved = [part.replace(str(PROGRAMS), str(self._programs)) for part in command]
        folder = self._programs if cwd == PROGRAMS else cwd
        return super().run(*moved, using=using, cwd=folder)


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    here = tmp_path_factory.getbasetemp()
    shared = here.parent if "PYTEST_XDIST_WORKER" in os.environ else here
    return ConvertedPackages(here / "converted", Packages(shared / "packages"))
