"""Play the golden programs in a Python with strict options.

Prints each program that does not do as recorded, and what it does; or, called with
``warnings``, each warning as ``file:line: text``.  It needs no ``assert``, which some of
these options take away.
"""

import contextvars
import gc
import json
import pathlib
import sys
import warnings

from tests.helpers.legacy.differences import reasons
from tests.legacy.golden import stage

# Golden programs that read the docstrings of their functions.
OF_DOCSTRINGS = {
    "coroutine_looks_like_its_function",
    "engine_tells_its_name_and_what_it_wraps",
    "return_future_wraps_methods_and_keeps_their_names",
    "run_on_executor_hands_on_arguments_and_keeps_the_name",
}


def recorded():
    """Return what each program does, as recorded."""
    traces = pathlib.Path(stage.HERE, "traces")
    found = json.loads((traces / "tornado-4.5.3.json").read_text())
    ours = json.loads((traces / "gencoro.json").read_text())
    return found | {name: ours[name] for name in reasons()}


def said(trace):
    """Return a trace without the warnings of debug mode, some of which tell of time."""
    return [line for line in trace if not line.startswith("log WARNING")]


def main(tells_warnings):
    programs = stage.load_programs()
    left_out = OF_DOCSTRINGS if sys.flags.optimize > 1 else set()
    expected = recorded()
    with warnings.catch_warnings(record=tells_warnings) as told:
        if tells_warnings:
            warnings.simplefilter("always")
        for name in sorted(programs.keys() - left_out):
            gc.freeze()  # only what the program makes is collected: so it is quick
            run = contextvars.copy_context().run
            trace = run(stage.play, programs[name], "gencoro", warn=True)
            if said(trace) != said(expected[name]):
                print(name, trace)
    for one in told or ():
        print(f"{one.filename}:{one.lineno}: {one.message}")


if __name__ == "__main__":
    main(tells_warnings=sys.argv[1:] == ["warnings"])
