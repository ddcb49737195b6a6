"""Records which rows of compat's table the tests use."""

from collections.abc import Callable
from typing import TypeVar

__all__ = ["USED", "uses"]

T = TypeVar("T")

# Filled while the files of tests are imported.
USED: set[str] = set()


def uses(*names: str) -> Callable[[T], T]:
    """Say that a test uses these names as legacy code would."""
    USED.update(names)
    return lambda test: test
