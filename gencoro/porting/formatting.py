"""Keeps formatted files formatted: runs ruff over files that it had formatted before.

Rule: a file that ``ruff format`` would change anyway is not touched by it.

Used by `gencoro.porting.command`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

__all__ = ["find_ruff", "keep_formatted"]


def keep_formatted(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return changed sources, with those formatted that were so before.

    Without ruff, they are returned as they are.
    """
    ruff = find_ruff()
    if ruff is None:
        return dict(after)
    return {
        path: _formatted(ruff, path, source)
        if _formatted(ruff, path, before[path]) == before[path]
        else source
        for path, source in after.items()
    }


def find_ruff() -> str | None:
    """Return the ruff of this environment, or the one on the path."""
    return shutil.which("ruff", path=os.path.dirname(sys.executable)) or shutil.which(
        "ruff"
    )


def _formatted(ruff: str, path: str, source: bytes) -> bytes:
    """Return a source as ruff formats it, by the configuration that its path has."""
    done = subprocess.run(
        [ruff, "format", "--no-cache", "--stdin-filename", path, "-"],
        input=source,
        capture_output=True,
        check=False,
    )
    # A file that ruff cannot parse, or is told to leave alone, stays.
    return done.stdout if done.returncode == 0 and done.stdout else source
