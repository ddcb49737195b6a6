"""Who imports whom: downwards only, by the two tables here, and never in a circle.

The imports are read from the source, so those that a run does not reach count too.
"""

import ast
import graphlib
import importlib
import pathlib
from collections.abc import Iterator
from typing import NamedTuple

import pytest

import gencoro

pytestmark = pytest.mark.once

ROOT = pathlib.Path(gencoro.__file__).parent.parent

# A module imports from its own level or one below.  A package is one entry.
LEVELS = {
    "gencoro": {
        "cancelling": 0,
        "context_hook": 0,
        "errors": 0,
        "frames": 0,
        "deprecated": 1,
        "futures": 1,
        "beside_tornado": 2,
        "legacy_names": 2,
        "callback_argument": 3,
        "stack_context": 3,
        "yieldables": 3,
        "executors": 4,
        "runner": 4,
        "waiting": 4,
        "concurrent": 5,
        "debugging": 5,
        "introspect": 5,
        "coroutines": 6,
        "ioloop": 8,
        "virtual_clock": 6,
        "gen": 7,
        "legacy": 9,
        "testrun": 9,
        "__init__": 11,
        "compat": 10,
        "pytest_fixtures": 10,
        "testing": 10,
        "__main__": 11,
        "pytest_plugin": 11,
    },
    "crawler_app": {
        "__init__": 0,
        "demo_site": 0,
        "errors": 0,
        "models": 0,
        "progress": 0,
        "text": 0,
        "database": 1,
        "urls": 1,
        "config": 2,
        "frontier": 2,
        "httpclient": 2,
        "index": 2,
        "politeness": 2,
        "fetcher": 3,
        "robots": 3,
        "documents": 4,
        "archive": 5,
        "crawl": 6,
        "monitor": 7,
        "results": 7,
        "dashboard": 8,
        "directory": 8,
        "terminal": 8,
        "crawler": 9,
        "report": 9,
        "commands": 10,
        "__main__": 11,
    },
}

# This hands out a name from above, in its module's __getattr__ and nowhere else.  What
# `gencoro.legacy_names` hands out is imported by a name from its table.
FACADES = {"gencoro.gen"}

# What a program can do without; an import of it may stand in a function.
OPTIONAL = {"ada_url", "idna", "pycurl", "selectolax", "twisted", "webencodings"}

# pytest loads its plugins in every run, also for people who have no use for them: these
# import in functions what costs time.
PLUGIN = {"gencoro.pytest_fixtures", "gencoro.pytest_plugin"}

# All that the crawler may know of gencoro.
PUBLIC = {"gencoro.gen", "gencoro.concurrent", "gencoro.ioloop"}


class Import(NamedTuple):
    """One imported name: the module it comes from, and where the import stands."""

    importer: str
    line: int
    target: str
    name: str | None
    function: str | None

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}: imports {self.target}"


def modules_of(package: str) -> dict[str, pathlib.Path]:
    """Return the files of a package by the dotted names of their modules."""
    found = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


MODULES = {
    name: path for package in LEVELS for name, path in modules_of(package).items()
}


def imports_of(module: str) -> Iterator[Import]:
    """Read every import of a module, those in functions included."""
    tree = ast.parse(MODULES[module].read_text())
    yield from _imports_in(tree, module, None)


def _imports_in(node: ast.AST, module: str, function: str | None) -> Iterator[Import]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        # The outermost one tells whether it is the module's own __getattr__.
        function = function or node.name
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(module, node.lineno, alias.name, None, function)
    if isinstance(node, ast.ImportFrom):
        assert not node.level, f"{module}: write the whole name of an imported module"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            target = whole if whole in MODULES else str(node.module)
            name = None if whole in MODULES else alias.name
            yield Import(module, node.lineno, target, name, function)
    for child in ast.iter_child_nodes(node):
        yield from _imports_in(child, module, function)


def level_of(module: str) -> int:
    """Look a module up in the tables."""
    package, _, rest = module.partition(".")
    entry = rest.partition(".")[0] or "__init__"
    assert entry in LEVELS[package], (
        f"{module} is in no table: give {entry!r} a level in LEVELS[{package!r}]"
    )
    return LEVELS[package][entry]


def is_own(module: str, package: str) -> bool:
    return module.partition(".")[0] == package


def is_upward_door(found: Import) -> bool:
    return found.importer in FACADES and found.function == "__getattr__"


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_downwards_only(module):
    package = module.partition(".")[0]
    level = level_of(module)

    upward = [
        str(found)
        for found in imports_of(module)
        if is_own(found.target, package)
        and level_of(found.target) > level
        and not is_upward_door(found)
    ]

    assert upward == []


@pytest.mark.parametrize("package", LEVELS)
def test_modules_import_each_other_in_no_circle(package):
    graph = {
        module: {
            found.target
            for found in imports_of(module)
            if is_own(found.target, package) and not is_upward_door(found)
        }
        for module in MODULES
        if is_own(module, package)
    }

    # Raises CycleError, which names the circle.
    order = list(graphlib.TopologicalSorter(graph).static_order())

    assert set(graph) <= set(order)


@pytest.mark.parametrize("module", MODULES)
def test_function_imports_optional_packages_only(module):
    hidden = [
        str(found)
        for found in imports_of(module)
        if found.function is not None
        and module not in PLUGIN
        and not is_upward_door(found)
        and found.target.partition(".")[0] not in OPTIONAL
    ]

    assert hidden == []


@pytest.mark.parametrize("module", modules_of("crawler_app"))
def test_crawler_uses_only_public_names_of_gencoro(module):
    private = []
    for found in imports_of(module):
        if not is_own(found.target, "gencoro"):
            continue
        if found.target not in PUBLIC or not _is_public(found.target, found.name):
            private.append(f"{found} {found.name or ''}")
    private += _private_attributes(module)

    assert private == []


def _is_public(target, name):
    return name is None or name in importlib.import_module(target).__all__


def _private_attributes(module):
    """List uses like ``gen._null_future``."""
    names = {
        found.target.rpartition(".")[2]: found.target
        for found in imports_of(module)
        if found.target in PUBLIC and found.name is None
    }
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            target = names.get(node.value.id)
            if target and not _is_public(target, node.attr):
                yield f"{module}, line {node.lineno}: {node.value.id}.{node.attr}"


@pytest.mark.parametrize("module", modules_of("gencoro"))
def test_only_ioloop_and_what_is_above_it_imports_tornado(module):
    if level_of(module) >= LEVELS["gencoro"]["ioloop"]:
        return

    found = [str(one) for one in imports_of(module) if is_own(one.target, "tornado")]

    assert found == []


def test_module_that_is_in_no_table_is_told_so():
    with pytest.raises(AssertionError, match="give 'new' a level in LEVELS"):
        level_of("gencoro.new")
