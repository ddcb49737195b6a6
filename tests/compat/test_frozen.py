"""A legacy program that is frozen has all modules that it loads."""

import importlib.metadata
import json
import modulefinder
import os
import runpy
import subprocess
import sys

import tornado

import gencoro

PROGRAM = """
import gencoro.compat
gencoro.compat.install()
import json, sys
from tornado import auth, gen, httpclient, ioloop, stack_context, web, websocket, wsgi
@gen.engine
def main():
    yield gen.Task(ioloop.IOLoop.instance().add_callback)
    ioloop.IOLoop.instance().stop()
main()
ioloop.IOLoop.instance().start()
print(json.dumps([n for n in sys.modules if n.partition(".")[0] in ("gencoro", "tornado")]))
"""


def test_hook_names_what_no_import_statement_names(tmp_path):
    """With the modules that a freezer finds by reading the program."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, program], check=True, capture_output=True, text=True
    )
    [point] = importlib.metadata.entry_points(group="pyinstaller40", name="hook-dirs")
    [folder] = point.load()()
    hook = runpy.run_path(os.path.join(folder, "hook-gencoro.compat.py"))
    root = os.path.dirname(os.path.dirname(gencoro.__file__))
    # The standard library, which a freezer has too, would take most of the time.
    folders = [root, os.path.dirname(os.path.dirname(tornado.__file__))]
    finder = modulefinder.ModuleFinder(folders)
    with program.open("a") as file:
        file.writelines(f"import {name}\n" for name in hook["hiddenimports"])
    finder.run_script(str(program))

    made = {"tornado.stack_context"}  # by compat
    assert set(json.loads(done.stdout)) - finder.modules.keys() == made
