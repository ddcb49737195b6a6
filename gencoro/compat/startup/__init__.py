"""Has the Python processes that a program starts run with compat too.

Rule: a process that does not import Tornado is left alone.

Inside::

    sitecustomize  what Python imports first in a child process
"""

import os
import sys

__all__ = ["run_children_alike"]

HERE = os.path.dirname(os.path.abspath(__file__))


def run_children_alike(record: str | None = None) -> None:
    """Put the folder with our `sitecustomize` on the path of child processes.

    Left alone are processes that ignore the environment (``python -E``), or that run another
    Python than this one.

    Args:
        record: The file in which to record them; None to record as this process was told to.
    """
    python_path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if HERE not in python_path:
        python_path.insert(0, HERE)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, python_path))
    prefix = f"{sys.prefix}{os.pathsep}"
    if record is not None or not os.environ.get("GENCORO_RUN", "").startswith(prefix):
        os.environ["GENCORO_RUN"] = f"{prefix}{record or ''}"
