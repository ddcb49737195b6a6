"""The maps of the architecture show the modules as they are."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

# One file for each module of Tornado, of the same name.
MIRROR = ROOT / "gencoro/compat/modules"

PACKAGES = [
    path.parent
    for name in ("crawler_app", "gencoro")
    for path in sorted((ROOT / name).glob("*/**/__init__.py"))
    if path.parent != MIRROR
]

pytestmark = pytest.mark.once


def test_picture_is_current():
    drawn = runpy.run_path(str(DOCS / "draw_layers.py"))["draw"]()

    assert (DOCS / "layers.svg").read_text(encoding="utf-8") == drawn, (
        "run `python docs/draw_layers.py`"
    )


@pytest.mark.parametrize(
    "package", PACKAGES, ids=lambda package: str(package.relative_to(ROOT))
)
def test_head_of_a_package_names_its_modules(package):
    head = ast.get_docstring(ast.parse((package / "__init__.py").read_text()))
    files = {path.stem for path in package.glob("*.py")} - {"__init__"}
    modules = set(filter(str.isidentifier, files))  # others are read by other programs

    assert modules - set(re.findall(r"\w+", head or "")) == set()
