"""What holds for each row of the table and each module that the rows name."""

import inspect
import pkgutil
import re

import pytest

import gencoro.compat
from gencoro.compat import installer
from gencoro.compat.names import INSTEAD, TABLE
from tests.helpers.compat.rows import uses

# Modules of today's Tornado, of which some names are put, wrapped or refused.
PATCHED_MODULES = sorted(
    {installer._module_of(name) for name in TABLE if name.startswith("tornado.")}
    - {name for name, row in TABLE.items() if row.how == "module"}
    - {"tornado.database", "tornado.win32_support"}
)

REFUSED = [
    name
    for name, row in TABLE.items()
    if row.how == "none" and installer._module_of(name) in PATCHED_MODULES
]


def _contents(module):
    """Return what a module has, and what each class that it defines has."""
    found = {"": dict(vars(module))}
    for name, thing in vars(module).items():
        if isinstance(thing, type) and thing.__module__ == module.__name__:
            found[name] = dict(vars(thing))
    return found


@pytest.mark.parametrize("name", PATCHED_MODULES)
def test_uninstall_leaves_the_module_as_it_was(name):
    module = pytest.importorskip(name)
    gencoro.compat.install()  # so that what it imports is there
    gencoro.compat.uninstall()
    before = _contents(module)

    gencoro.compat.install()
    installed = _contents(module)
    gencoro.compat.uninstall()

    assert installed != before
    assert _contents(module) == before


@uses(*REFUSED)
@pytest.mark.parametrize("name", REFUSED)
def test_name_that_is_not_served_says_what_to_use(compat, name):
    pytest.importorskip(installer._module_of(name))
    place, _, own_name = name.rpartition(".")
    owner = pkgutil.resolve_name(place)

    with pytest.raises(AttributeError, match=re.escape(INSTEAD[name])):
        getattr(owner, own_name)
    if inspect.ismodule(owner):
        with pytest.raises(ImportError, match=re.escape(INSTEAD[name])):
            exec(f"from {place} import {own_name}")  # noqa: S102
