"""Random programs do the same before and after they are converted.

A coroutine that is awaited gives its result to its caller at once; a generator coroutine
does in the next turn of the loop.  So what else is due in that turn may come later, at the
same virtual time; that is the only difference, and few programs show it.
"""

import itertools

import pytest

from tests.helpers.gencoro.comparing import compare_random
from tests.helpers.porting.playing import convert
from tests.helpers.porting.programs import written
from tests.helpers.porting.stand import play

pytestmark = pytest.mark.once

ORDINARY_PROGRAMS = 30

# Of all programs; where the start of a coroutine is late, it is more than half of them.
MOST_WITH_TIES = 0.05


def test_a_random_program_does_as_before(pytestconfig, tmp_path):
    path = tmp_path / "program.py"
    ties = []

    def compare(choices):
        program = written(choices)
        path.write_text(program)
        # The stand itself calls `f0`, and keeps its Future.
        convert(tmp_path, "--only-functions", r"program\.(?!f0$)")

        before, after = play(program), play(path.read_text())

        same = _by_time(after) == _by_time(before)
        assert same, f"they differ on\n{program}\nconverted\n{path.read_text()}"
        ties.append(after != before)

    compare_random(pytestconfig, ORDINARY_PROGRAMS, compare)
    assert sum(ties) <= MOST_WITH_TIES * len(ties)


def _by_time(events):
    """Return the events of each time, sorted; and then the errors."""
    *timed, errors = events
    groups = itertools.groupby(timed, key=lambda event: event[0])
    return [sorted(map(str, group)) for _, group in groups], errors
