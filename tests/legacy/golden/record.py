"""Record the traces of the golden programs on the installed Tornado.

On an old one, which needs an old interpreter, those of all programs; they are what gencoro
is compared with.  From any directory::

    python3.6 -m venv old && old/bin/pip install tornado==4.5.3
    old/bin/python tests/legacy/golden/record.py            # all programs
    old/bin/python tests/legacy/golden/record.py NAME ...   # print these, write nothing

With today's interpreter, those of gencoro, of the programs that differ on purpose.

Each program is played several times and must do the same each time.
"""

import json
import os
import sys

import tornado

sys.path.insert(0, os.path.abspath(__file__ + "/../../../.."))

from tests.legacy.golden import stage

TIMES = 3


def traces_of(names, package):
    """Play programs; return their traces by their names."""
    programs = stage.load_programs()
    traces = {}
    for name in names:
        traces[name] = stage.play(programs[name], package)
        for _ in range(TIMES - 1):
            again = stage.play(programs[name], package)
            assert again == traces[name], (name, again, traces[name])
    return traces


def differing():
    """Return the names of the programs that differ on purpose."""
    # It is written for today's Python only.
    from tests.helpers.legacy import differences

    return differences.reasons()


def write(traces, file_name):
    """Write traces into a file, one program in each line."""
    path = os.path.join(stage.HERE, "traces", file_name)
    lines = [f'"{name}": {json.dumps(traces[name])}' for name in sorted(traces)]
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    print(len(traces), "programs:", path)


def main(names):
    is_old = tornado.version_info < (6,)
    package = "tornado" if is_old else "gencoro"
    if names:
        for name, trace in traces_of(names, package).items():
            print(name, *trace, sep="\n    ")
    elif is_old:
        traces = traces_of(stage.load_programs(), package)
        write(traces, f"tornado-{tornado.version}.json")
    else:
        write(traces_of(differing(), package), "gencoro.json")


if __name__ == "__main__":
    main(sys.argv[1:])
