"""How long the generated tests go on: for seconds in the suite, longer when asked to."""

import os

from hypothesis import settings
from hypothesis.internal.conjecture import providers

__all__ = ["FACTOR", "examples", "load_profile", "some"]

FACTOR = int(os.environ.get("FUZZ_FACTOR", "1"))


def examples(count):
    """Return a number of examples, multiplied by ``FUZZ_FACTOR``."""
    return count * FACTOR


def some(things, one_in):
    """Return one of every ``one_in`` things, or with ``FUZZ_FACTOR`` all of them."""
    return things if FACTOR > 1 else things[::one_in]


def load_profile():
    """Multiply the examples of the tests that do not say how many they want.

    None has a deadline, which a busy machine would exceed.
    """
    count = examples(settings.default.max_examples)
    settings.register_profile("fuzz", max_examples=count, deadline=None)
    settings.load_profile("fuzz")
    if FACTOR == 1:
        # Hypothesis parses all of our source for constants to try, in each worker.  Of 10,000
        # a hundred examples would use some five.
        providers._get_local_constants = lambda: providers._local_constants
