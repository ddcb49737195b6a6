"""What is sent to another process works there without gencoro, on every Python."""

import importlib
import inspect
import json
import subprocess

from gencoro.introspect.remote import by_script, script as payload
from gencoro.introspect.remote.decoding import decoded
from tests.helpers.scripts import start_python

# Examines itself as the script does that `sys.remote_exec` runs, on Pythons without it too.
EXAMINED = """
import asyncio, concurrent.futures, json, runpy, sys

async def tea():
    await asyncio.gather(cake(), asyncio.shield(cake()), asyncio.wait_for(cake(), 60))

async def cake():
    await asyncio.sleep(60)

def examine():
    # What the sources use of gencoro, and `ABSENT` lacks, raises an error here.
    modules = runpy.run_path(sys.argv[1])["PrivateModules"](json.load(sys.stdin))
    name = "gencoro.introspect.snapshot"
    snapshot = modules.import_(name, fromlist=("answer_to",))
    print(snapshot.answer_to(100, 60.0, sys._getframe()))
    assert not [name for name in sys.modules if name.startswith("gencoro")]

async def main():
    task = asyncio.create_task(tea())
    await asyncio.sleep(0.001)
    examine()
    task.cancel()

asyncio.run(main())
"""


def test_process_without_gencoro_is_examined():
    modules = {name: importlib.import_module(name) for name in by_script.SENT}
    sources = {name: inspect.getsource(module) for name, module in modules.items()}
    process = start_python(
        "-c", EXAMINED, payload.__file__, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )

    out, err = process.communicate(json.dumps(sources))

    assert process.returncode == 0, err
    snapshot = decoded(out)
    assert snapshot.tree().count("cake() at <string>:8") == 3
    assert str(snapshot.steps[0]).startswith("MainThread runs:\nmain() at <string>:")
