"""``yield gen.maybe_future(f())`` becomes ``yield f()`` where ``f`` is a coroutine.

Tornado's maybe_future knows Futures only, and takes an ``async def`` for a value.  A value
that may be None as well goes through ``gen.convert_yielded``.  So it is a part of the
conversion of ``f``, and not switched off alone.

Pure.  Used by `gencoro.porting.conversion`.
"""

import ast

from gencoro.compat.doctor.program import Module
from gencoro.compat.doctor.text import Edit
from gencoro.porting.fixers.fixer import Fix

__all__ = ["CODE", "TITLE", "unwrapping"]

CODE = "GC113"
TITLE = "gen.maybe_future() of a coroutine goes"


def unwrapping(module: Module, call: ast.Call, may_be_none: bool) -> Fix:
    """Return the edit of a call that `Decisions.unwrapped` has found."""
    text = module.text
    start, end = text.span(call)
    func_end = text.span(call.func)[1]
    first, last = text.span(call.args[0])
    if may_be_none:
        name_start = func_end - len("maybe_future")
        edits = [Edit(name_start, func_end, "convert_yielded")]
    elif isinstance(call.args[0], ast.Call) and b"\n" not in text.data[func_end:first]:
        edits = [Edit(start, first), Edit(last, end)]
    else:
        edits = [Edit(start, func_end)]  # the parentheses stay
    return Fix(CODE, module, call, tuple(edits))
