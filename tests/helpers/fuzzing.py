"""How long the generated tests go on: for seconds in the suite, longer when asked to."""

import os

__all__ = ["examples"]

FACTOR = int(os.environ.get("FUZZ_FACTOR", "1"))


def examples(count):
    """Return a number of examples, multiplied by ``FUZZ_FACTOR``."""
    return count * FACTOR
