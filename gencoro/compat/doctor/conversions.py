"""What ``python -m gencoro convert`` would do about a legacy name.

Rule: only the code of the fixer, which decides on each use; `gencoro.porting` has the rest.

Pure.  Used by `gencoro.compat.doctor.findings`.
"""

from gencoro.compat.doctor.uses import Use

__all__ = ["CONVERSIONS", "IO_LOOP", "conversion_of"]

# The fixers by the names and arguments that they replace.
CONVERSIONS = {
    ("tornado.gen.Task", ""): "GC105",
    ("tornado.gen.coroutine", "callback"): "GC106",
    ("tornado.gen.engine", ""): "GC104",
    ("tornado.ioloop.IOLoop.instance", ""): "GC101",
    ("tornado.stack_context.NullContext", ""): "GC108",
    ("tornado.stack_context.wrap", ""): "GC108",
    ("tornado.web.asynchronous", ""): "GC103",
}

# The fixer of an argument that each of Tornado's classes had.
IO_LOOP = "GC102"


def conversion_of(use: Use) -> str:
    """Return the code of the fixer for a use; empty if there is none.

    >>> from gencoro.compat.doctor.uses import use_of
    >>> conversion_of(use_of("tornado.gen.engine", 7))
    'GC104'
    """
    if use.argument == "io_loop":
        return IO_LOOP
    return CONVERSIONS.get((use.name, use.argument), "")
