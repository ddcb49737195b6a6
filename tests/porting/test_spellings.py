"""A program in other words does as it did, too.

A converter that knows things by how they are written passes the battery, and fails here.
A few programs are played in one spelling each, or with ``FUZZ_FACTOR=2`` each in every one.
"""

import itertools

import pytest

from tests.helpers.fuzzing import some
from tests.helpers.porting.battery import cases
from tests.helpers.porting.playing import convert, outcome
from tests.helpers.porting.spellings import SPELLINGS, respelled

pytestmark = pytest.mark.once

PAIRS = some(list(itertools.product(cases(), SPELLINGS)), 111)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_program_in_other_words_does_as_before(spelling, player, tmp_path):
    wrong = []
    for number, case in enumerate(case for case, name in PAIRS if name == spelling):
        files = respelled(case.files, SPELLINGS[spelling])
        if files == case.files:
            continue
        folder = tmp_path / str(number)
        case.write(folder)
        before = player.play(folder)
        done = outcome(case._replace(files=files), folder, player)
        if done.before != before:
            continue  # its names, or the order of its definitions, matter
        convert(folder, case.target)
        again = {path: (folder / path).read_bytes() for path in files}
        if done.after != before or again != done.texts:
            wrong.append(case.name)

    assert wrong == []
