"""Converts the small programs of the battery, by this converter and by its peer."""

import collections
import pathlib
import subprocess
import tempfile
from collections.abc import Callable

from tests.helpers.porting.battery import Case, cases
from tests.helpers.porting.playing import Player, convert, fates
from tests.porting.measuring import peer

__all__ = ["measure_battery"]

_Programs = dict[pathlib.Path, Case]


def measure_battery(cache: pathlib.Path) -> dict[str, dict[str, int]]:
    """Return how many programs are right, refused and wrong, after each converter."""
    command = [str(peer(cache)), "-m", "tornado_async_transformer.tool"]

    def convert_each(programs: _Programs) -> None:
        for folder, case in programs.items():
            convert(folder, case.target)

    def convert_by_peer(programs: _Programs) -> None:
        line = [*command, *map(str, programs)]
        subprocess.run(line, check=False, capture_output=True)

    return {"after": _measured(convert_each), "peer": _measured(convert_by_peer)}


def _measured(convert_all: Callable[[_Programs], None]) -> dict[str, int]:
    player = Player()
    with tempfile.TemporaryDirectory() as root:
        programs = {pathlib.Path(root) / str(n): c for n, c in enumerate(cases())}
        for folder, case in programs.items():
            case.write(folder)
        before = {folder: player.play(folder) for folder in programs}
        convert_all(programs)
        counts = collections.Counter(
            _outcome(case, folder, player.play(folder) == before[folder])
            for folder, case in programs.items()
        )
    player.close()
    return {kind: counts[kind] for kind in ("right", "refused", "wrong")}


def _outcome(case: Case, folder: pathlib.Path, is_same: bool) -> str:
    if not is_same:
        return "wrong"
    converted, _ = fates(case, {p: (folder / p).read_bytes() for p in case.files})
    return "right" if converted else "refused"
