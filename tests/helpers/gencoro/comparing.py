"""How often random programs are compared: the same ones each time, or new ones if wished."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

__all__ = ["on_random"]


def on_random(
    pytestconfig: pytest.Config, ordinary_programs: int, *strategies: st.SearchStrategy
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Call a comparison with what is drawn, as often as ``--programs`` says.

    With ``--again`` only the first fifth of the ordinary programs.
    """
    wished = pytestconfig.getoption("--programs")
    if pytestconfig.getoption("--again"):
        ordinary_programs //= 5
    often = settings(
        max_examples=wished or ordinary_programs,
        derandomize=wished is None,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )

    def decorate(compare: Callable[..., None]) -> Any:
        return often(given(*strategies)(compare))

    return decorate
