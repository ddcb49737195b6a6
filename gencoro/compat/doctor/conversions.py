"""Which fixer of ``python -m gencoro convert`` replaces a legacy name.

Rule: only the code of the fixer, which decides on each use, or of the reason for which it
stays; `gencoro.porting` has the rest.

Pure.  Used by `gencoro.compat.doctor.findings` and `gencoro.porting.callbacks.remaining`.
"""

from gencoro.compat.doctor.uses import Use

__all__ = ["CONVERSIONS", "IO_LOOP", "REMOVED", "conversion_of", "reason_of"]

# The fixers by the names and arguments that they replace.
CONVERSIONS = {
    ("tornado.concurrent.return_future", ""): "GC112",
    ("tornado.gen.Callback", ""): "GC111",
    ("tornado.gen.Task", ""): "GC105",
    ("tornado.gen.Wait", ""): "GC111",
    ("tornado.gen.WaitAll", ""): "GC111",
    ("tornado.httpclient.AsyncHTTPClient.fetch", "callback"): "GC109",
    ("tornado.gen.coroutine", "callback"): "GC106",
    ("tornado.gen.engine", ""): "GC104",
    ("tornado.ioloop.IOLoop.instance", ""): "GC101",
    ("tornado.netutil.Resolver.resolve", "callback"): "GC110",
    ("tornado.stack_context", ""): "GC107",
    ("tornado.stack_context.NullContext", ""): "GC108",
    ("tornado.stack_context.StackContext", ""): "GC115",
    ("tornado.stack_context.wrap", ""): "GC108",
    ("tornado.tcpclient.TCPClient.connect", "callback"): "GC110",
    ("tornado.web.RequestHandler.async_callback", ""): "GC103",
    ("tornado.web.asynchronous", ""): "GC103",
}

# The fixer of an argument that each of Tornado's classes had.
IO_LOOP = "GC102"

# The reasons for which other uses stay, or these where it is not certain.
_REASONS_BY_ARGUMENT = {
    "callback": "GC960",
    "io_loop": "GC951",
    "streaming_callback": "GC960",
}
_REASONS_BY_NAME = {
    "tornado.concurrent.return_future": "GC964",
    "tornado.gen.Arguments": "GC963",
    "tornado.gen.Callback": "GC961",
    "tornado.gen.MultiYieldPoint": "GC962",
    "tornado.gen.Task": "GC957",
    "tornado.gen.Wait": "GC961",
    "tornado.gen.WaitAll": "GC961",
    "tornado.gen.YieldFuture": "GC962",
    "tornado.gen.YieldPoint": "GC962",
    "tornado.gen.engine": "GC956",
    "tornado.ioloop.IOLoop.instance": "GC950",
    "tornado.web.asynchronous": "GC954",
}
_CONTEXTS = "tornado.stack_context"
_OF_CONTEXTS = "GC965"
REMOVED = "GC966"


def conversion_of(use: Use) -> str:
    """Return the code of the fixer for a use; empty if there is none.

    >>> from gencoro.compat.doctor.uses import use_of
    >>> conversion_of(use_of("tornado.gen.engine", 7))
    'GC104'
    """
    if use.argument == "io_loop":
        return IO_LOOP
    return CONVERSIONS.get((use.name, use.argument), "")


def reason_of(use: Use) -> str:
    """Return the code of the reason for which a use stays; empty if Tornado had none.

    >>> from gencoro.compat.doctor.uses import use_of
    >>> reason_of(use_of("tornado.gen.YieldPoint", 7)), reason_of(use_of("tornado.web.b", 7))
    ('GC962', 'GC966')
    """
    if use.note or not use.name.startswith("tornado."):
        return ""
    if use.argument in _REASONS_BY_ARGUMENT:
        return _REASONS_BY_ARGUMENT[use.argument]
    if use.name.startswith(_CONTEXTS):
        return _OF_CONTEXTS
    is_known = use.row is not None or bool(use.argument)
    return _REASONS_BY_NAME.get(use.name, REMOVED if is_known else "")
