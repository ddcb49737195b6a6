"""What ``python -m gencoro convert`` does about a legacy name, or what a person writes.

Rule: callback style is written by hand; ``docs/porting.rst`` has a tested example for each name.

Pure.  Used by `gencoro.compat.doctor.findings`.
"""

from gencoro.compat.doctor.threads import ON_THREAD
from gencoro.compat.doctor.uses import Use

__all__ = ["by_hand", "conversion_of"]

# The small edits of the converter, by the names that they replace.
_EDITS = {
    "tornado.gen.Task": "GC105",
    "tornado.ioloop.IOLoop.instance": "GC101",
}
_EDITS_BY_ARGUMENT = {"io_loop": "GC102"}

# What to write, and the section of docs/porting.rst.
_BY_HAND = {
    "tornado.concurrent.return_future": (
        "make it a coroutine, and return the result",
        "concurrent.return_future",
    ),
    "tornado.gen.Arguments": ("return a tuple, and unpack it", "gen.Arguments"),
    "tornado.gen.Callback": (
        "keep the Future that the call returns, and yield it where you waited",
        "gen.Callback, gen.Wait, gen.WaitAll",
    ),
    "tornado.gen.Task": (
        "yield the call of a coroutine, or of a function that returns a Future",
        "gen.engine, gen.Task",
    ),
    "tornado.gen.YieldPoint": ("join its parts into a coroutine", "gen.YieldPoint"),
    "tornado.gen.engine": (
        "decorate it with gen.coroutine, and return what it passed to its callback",
        "gen.engine, gen.Task",
    ),
    "tornado.web.asynchronous": (
        "decorate the method with gen.coroutine, and yield what its callbacks waited for",
        "web.asynchronous",
    ),
}
_SAME = {
    "tornado.gen.MultiYieldPoint": "tornado.gen.YieldPoint",
    "tornado.gen.Wait": "tornado.gen.Callback",
    "tornado.gen.WaitAll": "tornado.gen.Callback",
    "tornado.gen.YieldFuture": "tornado.gen.YieldPoint",
    "tornado.web.RequestHandler.async_callback": "tornado.web.asynchronous",
}
_CONTEXTS = (
    "use a context variable, or `try` around what is yielded",
    "StackContext, wrap",
)
_CALLBACK = (
    "yield the call without its callback",
    "callback= of a coroutine or of run_on_executor",
)
_LOOP_ON_THREAD = (
    "pass the loop to the thread: this is a new one there, and loses its callbacks",
    "IOLoop.instance",
)


def conversion_of(use: Use) -> str:
    """Return the code of the edit that the converter makes; empty if there is none.

    >>> from gencoro.compat.doctor.uses import use_of
    >>> conversion_of(use_of("tornado.ioloop.IOLoop.instance", 7))
    'GC101'
    """
    if use.argument:
        return _EDITS_BY_ARGUMENT.get(use.argument, "")
    return _EDITS.get(use.name, "")


def by_hand(use: Use) -> str:
    """Return what a person writes instead; empty if that is not described.

    >>> from gencoro.compat.doctor.uses import use_of
    >>> by_hand(use_of("tornado.gen.Wait", 7)).partition(":")[0]
    'by hand'
    """
    if use.argument == "callback":
        found = _CALLBACK
    elif use.argument == ON_THREAD:
        found = _LOOP_ON_THREAD
    elif use.name.startswith("tornado.stack_context"):
        found = _CONTEXTS
    elif not use.argument and _SAME.get(use.name, use.name) in _BY_HAND:
        found = _BY_HAND[_SAME.get(use.name, use.name)]
    else:
        return ""
    what, section = found
    return f"by hand: {what}; see {section!r} in docs/porting.rst"
