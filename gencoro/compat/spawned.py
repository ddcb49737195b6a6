"""The main module of processes spawned by multiprocessing under ``gencoro run``.

Such a process imports the program's main module again, under another name.
"""

import os
import runpy

from gencoro.compat.installer import install
from gencoro.compat.run_program import MAIN, spawn_like_this

__all__: list[str] = []

# Only multiprocessing gives it this name.
if __name__ == "__mp_main__":
    install()
    spawn_like_this()
    kind, _, main = os.environ[MAIN].partition(":")
    run = runpy.run_path if kind == "file" else runpy.run_module
    globals().update(run(main, run_name=__name__))
