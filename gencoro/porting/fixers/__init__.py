"""The small edits beside the conversion of coroutines: one module for each.

Inside::

    fixer            what an edit is
    loop_instance    IOLoop.instance() becomes IOLoop.current()
    io_loop          io_loop= of Tornado's classes is left out
    maybe_future     gen.maybe_future() of a coroutine goes
    removed_imports  imports of names that Tornado no longer has
"""

from gencoro.porting.fixers.fixer import Fix, Fixer
from gencoro.porting.fixers.io_loop import IO_LOOP
from gencoro.porting.fixers.loop_instance import LOOP_INSTANCE
from gencoro.porting.fixers.removed_imports import REMOVED_IMPORTS

__all__ = ["FIXERS", "Fix", "Fixer"]

FIXERS = (LOOP_INSTANCE, IO_LOOP, REMOVED_IMPORTS)
