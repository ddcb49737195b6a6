"""docs/layers.svg is drawn from .importlinter and from the modules as they are."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"

pytestmark = pytest.mark.once


def test_picture_is_current():
    drawn = runpy.run_path(str(DOCS / "draw_layers.py"))["draw"]()

    assert (DOCS / "layers.svg").read_text(encoding="utf-8") == drawn, (
        "run `python docs/draw_layers.py`"
    )
