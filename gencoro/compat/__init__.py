"""Runs unmodified code for Tornado 2 to 5 on today's Tornado.

Called before the legacy imports, `install` restores what Tornado has removed from its
modules, and the old meaning of what has changed.  Modern code in the same process keeps
working.  `gencoro.compat.names` is the table of these names; ``python -m gencoro doctor``
lists the ones a code base uses, and ``python -m gencoro run`` installs them for a script.

Public are `install`, `installed` and `uninstall`.

Inside::

    names        the table of legacy names
    installer    patches Tornado by the table, and undoes it
    modules      the replacements, one file for each module of Tornado
    python       the same for what Python's standard library has removed
    policies     asyncio's event loop policies, which it will remove
    calls        support for callback=, io_loop= and streams
    run_program  runs a program with compat installed; spawned: processes of multiprocessing
    startup      has other child processes run with compat too
    doctor       reports the legacy names in source code
"""

from gencoro import needs_tornado  # noqa: F401
from gencoro.compat.installer import install, installed, uninstall

__all__ = ["install", "installed", "uninstall"]
