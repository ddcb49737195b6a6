"""Compares random programs: the same ones each time, or new ones with ``--programs``.

``FUZZ_FACTOR`` multiplies their number.  A program is written from random bytes, one for
each choice.  Hypothesis would draw the choices one by one, which takes longer than all the
rest.
"""

import random
from collections.abc import Callable

import pytest

from tests.helpers.fuzzing import examples

__all__ = ["compare_random"]

# Nine in ten programs need no more; from then on the first option is taken.
CHOICES = 600

SEED = 1

Compare = Callable[[bytes], None]


def compare_random(
    pytestconfig: pytest.Config, ordinary_programs: int, compare: Compare
) -> None:
    """Call a comparison with the choices of many programs; reduce those that fail.

    With ``--again`` only the first fifth of the ordinary programs.
    """
    wished = pytestconfig.getoption("--programs")
    ordinary_programs = examples(ordinary_programs)
    if pytestconfig.getoption("--again"):
        ordinary_programs //= 5
    drawn = random.Random(None if wished else SEED)
    for _ in range(wished or ordinary_programs):
        choices = drawn.randbytes(CHOICES)
        if _fails(compare, choices):
            compare(_reduced(compare, choices))


def _reduced(compare: Compare, choices: bytes) -> bytes:
    """Cut choices out, or take the first option, as long as the comparison still fails."""
    size = len(choices) // 2
    while size:
        for start in range(0, len(choices), size):
            before, after = choices[:start], choices[start + size :]
            for simpler in (before + after + bytes(size), before + bytes(size) + after):
                if simpler != choices and _fails(compare, simpler):
                    choices = simpler
                    break
        size //= 2
    return choices


def _fails(compare: Compare, choices: bytes) -> bool:
    try:
        compare(choices)
    except Exception:  # a difference, or an error in what is compared
        return True
    return False
