"""What is public: what the modules say is what the reference and the guides show."""

import ast
import enum
import importlib
import inspect
import re
import textwrap
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
PACKAGES = ("gencoro", "crawler_app")
FACES = ["gencoro", "crawler_app", "crawler_app.httpclient"]


# Its fields are options, which docs/config.rst describes one by one.
DESCRIBED_ELSEWHERE = {"CrawlConfig"}


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


def _our_bases(cls):
    return [base for base in cls.__mro__ if base.__module__.startswith(PACKAGES)]


def _classes_of(module):
    """Return the public classes; a legacy name of gencoro is not looked up."""
    loaded = importlib.import_module(module)
    names = _names_of(module) - DESCRIBED_ELSEWHERE
    if module.startswith("gencoro"):
        names &= set(vars(loaded))
    classes = [getattr(loaded, name) for name in sorted(names)]
    return [
        each
        for each in classes
        if inspect.isclass(each)
        and _our_bases(each)
        and not issubclass(each, enum.Enum)
    ]


def _attributes_of(cls):
    """Return the public attributes: fields, and what ``__init__`` sets on the object."""
    names = set(vars(cls).get("__annotations__", {}))
    init = vars(cls).get("__init__")
    if init is not None and "__dataclass_fields__" not in vars(cls):
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(init)))):
            match node:
                case ast.Attribute(value=ast.Name("self"), attr=name, ctx=ast.Store()):
                    names.add(name)
    return {name for name in names if not name.startswith("_")}


def _undescribed(cls):
    """Return the attributes that no docstring names, and the properties without one."""
    bases = _our_bases(cls)
    text = "\n".join(inspect.getdoc(each) or "" for each in bases)
    described = {
        name
        for names in re.findall(r"(?m)^ +(\w+(?:, \w+)*): ", text)
        for name in names.split(", ")
    }
    properties = {
        name: each.__doc__
        for base in reversed(bases)
        for name, each in vars(base).items()
        if isinstance(each, property) and not name.startswith("_")
    }
    attributes = set().union(*map(_attributes_of, bases)) - set(properties)
    return (attributes - described) | {n for n, text in properties.items() if not text}


@pytest.mark.parametrize("module", ENTRIES)
def test_documentation_names_every_attribute_of_a_public_class(module):
    undescribed = {cls.__name__: _undescribed(cls) for cls in _classes_of(module)}

    assert {name: missing for name, missing in undescribed.items() if missing} == {}
