"""What is public: what the modules say is what the reference and the guides show."""

import importlib
import re
from pathlib import Path

import pytest

# Legacy names warn when they are looked up.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

DOCS = Path(__file__).parent.parent / "docs"
README = DOCS.parent / "README.md"

REFERENCE = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("reference/*.rst"))
)

# Of each module with an entry: the names that its entry leaves out.
ENTRIES = {
    module: set(re.findall(r"\w+", excluded or ""))
    for module, excluded in re.findall(
        r"automodule:: (\S+)\n(?:   :(?:members|imported-members):\n)*"
        r"(?:   :exclude-members: ((?:.+\n)(?:      .+\n)*))?",
        REFERENCE,
    )
}
FACES = ["gencoro", "crawler_app", "crawler_app.httpclient"]


def _names_of(module):
    return set(importlib.import_module(module).__all__)


@pytest.mark.parametrize("module", ENTRIES)
def test_public_names_exist(module):
    loaded = importlib.import_module(module)

    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []


@pytest.mark.parametrize("module", ENTRIES)
def test_name_that_an_entry_leaves_out_has_another(module):
    elsewhere = {
        name
        for other, excluded in ENTRIES.items()
        if other not in (module, "gencoro")
        for name in _names_of(other) - excluded
    }
    by_hand = set(re.findall(r"py:data:: (\w+)", REFERENCE))
    handed_on = set(re.findall(r"``(\w+)``", REFERENCE))

    assert ENTRIES[module] <= _names_of(module) | by_hand
    assert ENTRIES[module] - elsewhere - by_hand - handed_on == set()


def test_page_on_what_is_public_names_the_modules_of_the_reference():
    page = (DOCS / "public.rst").read_text(encoding="utf-8")

    named = set(re.findall(r"`((?:gencoro|crawler_app)(?:\.\w+)*)`", page))

    assert named == set(ENTRIES)


@pytest.mark.parametrize(
    "path",
    [
        README,
        *DOCS.glob("*.rst"),
        *DOCS.glob("examples/*.py"),
        *DOCS.glob("patterns/*.py"),
    ],
    ids=lambda path: path.name,
)
def test_guides_import_public_names_only(path):
    inside = []
    for module, names in re.findall(
        r"^(?:>>> | *)from ((?:gencoro|crawler_app)[\w.]*) import (.+)",
        path.read_text(encoding="utf-8"),
        re.MULTILINE,
    ):
        for name in re.findall(r"\w+", names):
            whole = f"{module}.{name}"
            is_public = whole in ENTRIES or (
                module in ENTRIES
                and hasattr(importlib.import_module(module), name)
                and not name.startswith("_")
            )
            inside += [] if is_public else [whole]

    assert inside == []


@pytest.mark.parametrize("module", FACES)
def test_face_offers_its_names_and_no_others(module):
    loaded = importlib.import_module(module)

    assert set(loaded.__all__) <= set(dir(loaded))
    with pytest.raises(AttributeError, match="Nothing"):
        _ = loaded.Nothing
