"""What an import loads: a guard on its cost that needs no clock."""

import json
import subprocess

import pytest

from tests.helpers.scripts import start_python

# Prints the modules that a statement loads in addition to those of another one.
LOADED = """
import json, sys
exec(sys.argv[1])
before = set(sys.modules)
exec(sys.argv[2])
print(json.dumps(sorted(sys.modules.keys() - before)))
"""

# Loaded on demand: each takes a tenth of the time of `import gencoro.ioloop` or more.
ON_DEMAND = (
    "gencoro.compat",
    "gencoro.introspect",
    "gencoro.legacy",
    "gencoro.porting",
    "gencoro.testing",
)


def loaded(first, then):
    process = start_python("-c", LOADED, first, then, stderr=subprocess.PIPE)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def in_packages(modules, packages):
    prefixes = tuple(f"{name}." for name in packages)
    return [name for name in modules if f"{name}.".startswith(prefixes)]


@pytest.mark.parametrize(
    ("tornado", "ours", "others"),
    [
        (
            "import tornado.ioloop",
            "import gencoro.ioloop",
            {
                "concurrent.futures.thread",
                "dataclasses",
                "gc",
                "tornado.gen",
                "tornado.platform",
                "tornado.platform.asyncio",
            },
        ),
        ("import tornado.gen", "import gencoro.gen", {"dataclasses", "gc"}),
    ],
)
def test_import_loads_little_more_than_that_of_tornado(tornado, ours, others):
    modules = loaded(tornado, ours)

    assert in_packages(modules, ON_DEMAND) == []
    assert {name for name in modules if name.split(".")[0] != "gencoro"} <= others


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--version"], (*ON_DEMAND, "tornado")),
        (["ps", "--help"], ("gencoro.compat", "gencoro.porting", "tornado")),
        (["run", "no-such-file"], ("gencoro.compat.doctor", "gencoro.porting")),
    ],
)
def test_command_loads_its_own_modules_only(arguments, unneeded):
    call = f"""
import contextlib, io, gencoro.__main__
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    gencoro.__main__.main({arguments})
"""

    modules = loaded("", call)

    assert "gencoro.__main__" in modules
    assert in_packages(modules, unneeded) == []
