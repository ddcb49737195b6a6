"""``io_loop=`` is removed from calls of Tornado's classes and functions."""

import ast
from collections.abc import Iterator
from typing import Any

from gencoro.compat.doctor.arguments import legacy_arguments
from gencoro.compat.doctor.rows import ROWS, TODAY
from gencoro.porting.callbacks.current_loops import is_current
from gencoro.porting.callbacks.legacy import (
    legacy_refusal,
    without_arguments,
    without_last_positional,
)
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Module, Program

__all__ = ["IO_LOOP_ARGUMENT"]

CODE = "GC102"

_LOOP = "tornado.ioloop.IOLoop"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the calls whose argument is left out."""
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Call):
                yield from _of_call(program, module, node)


def _of_call(
    program: Program, module: Module, call: ast.Call
) -> Iterator[Fix | Refusal]:
    scope = module.scope_at(call)
    for found in legacy_arguments(call, scope, TODAY, ROWS, None):
        if found.word != "io_loop":
            continue
        is_named = isinstance(found.node, ast.keyword)
        value = found.node.value if isinstance(found.node, ast.keyword) else None
        if value is None and call.args and not _is_in_place(module, call.args[:-1]):
            value = call.args[-1]
        if value is not None and is_current(program, module, value):
            change = Change(call, _changed if is_named else without_last_positional)
            yield Fix(CODE, module, call.lineno, (change,))
        else:
            name = ast.unparse(value or call)
            yield legacy_refusal(module, call, "io-loop", name)


def _is_in_place(module: Module, arguments: list[ast.expr]) -> bool:
    """Return whether one of the positional arguments may be a loop."""
    return any(
        ast.unparse(argument).endswith("io_loop")
        or any(thing.name == _LOOP for thing in module.things(argument))
        for argument in arguments
    )


def _changed(node: Any) -> Any:
    return without_arguments(node, "io_loop")


IO_LOOP_ARGUMENT = Fixer(
    CODE,
    "io_loop= of Tornado's own classes and functions is left out",
    "Since Tornado 5 they use the current loop.  The argument is left out where it is "
    "certainly that one: in a program that runs one loop and makes no other, uses no threads "
    "and has no test cases, every loop is.  Elsewhere it is what the same function got from "
    "``IOLoop.current()``, and a parameter that no call in the program passes.",
    (
        Example(
            "The current loop",
            """\
from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop, PeriodicCallback

client = AsyncHTTPClient(IOLoop.current())
PeriodicCallback(print, 1000, io_loop=None).start()
""",
            """\
from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop, PeriodicCallback

client = AsyncHTTPClient()
PeriodicCallback(print, 1000).start()
""",
        ),
        Example(
            "A program with one loop",
            """\
from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop

class Api:
    def __init__(self, io_loop=None):
        self.io_loop = io_loop or IOLoop.current()
        self.client = AsyncHTTPClient(io_loop=self.io_loop, max_clients=2)

Api()
IOLoop.current().start()
""",
            """\
from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop

class Api:
    def __init__(self, io_loop=None):
        self.io_loop = io_loop or IOLoop.current()
        self.client = AsyncHTTPClient(max_clients=2)

Api()
IOLoop.current().start()
""",
        ),
        Example(
            "A function of the program with such an argument",
            """\
from tornado.ioloop import IOLoop

def connect(io_loop):
    io_loop.add_callback(print)

connect(io_loop=IOLoop.current())
""",
        ),
        Example(
            "A loop from elsewhere",
            """\
from tornado.httpclient import AsyncHTTPClient

def client_of(io_loop):
    return AsyncHTTPClient(io_loop=io_loop)
""",
            refused="GC951",
        ),
    ),
    find,
)
