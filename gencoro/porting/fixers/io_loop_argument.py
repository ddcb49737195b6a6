"""``io_loop=`` of Tornado's own classes and functions is left out."""

import ast
from collections.abc import Iterator
from typing import Any

from gencoro.compat.doctor.arguments import legacy_arguments
from gencoro.compat.doctor.rows import ROWS, TODAY
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.legacy import legacy_refusal, uses_threads, without_arguments
from gencoro.porting.program import Module, Program

__all__ = ["IO_LOOP_ARGUMENT"]

CODE = "GC102"

_CURRENT = frozenset({"tornado.ioloop.IOLoop.current"})
_INSTANCE = frozenset({"tornado.ioloop.IOLoop.instance"})
_OF_TEST = "tornado.testing.AsyncTestCase"


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
        if not isinstance(found.node, ast.keyword):
            yield legacy_refusal(module, call, "io-loop", ast.unparse(call))
        elif _is_current(program, module, found.node.value):
            yield Fix(CODE, module, call.lineno, (Change(call, _changed),))
        else:
            name = ast.unparse(found.node.value)
            yield legacy_refusal(module, call, "io-loop", name)


def _is_current(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether an argument is certainly the current loop, or None."""
    match node:
        case ast.Constant(value=None):
            return True
        case ast.Call(func=func, args=[], keywords=[]):
            names = module.names(func)
            if names == _INSTANCE:
                return not uses_threads(program)
            return names == _CURRENT
        case ast.BoolOp(op=ast.Or(), values=values):
            return all(_is_current(program, module, value) for value in values)
        case ast.Attribute(value=ast.Name(id="self"), attr="io_loop"):
            return _is_in_test(module, node)
    return False


def _is_in_test(module: Module, node: ast.expr) -> bool:
    """Return whether an expression is in a method of a test that has a loop."""
    function = module.function_at(node)
    if function is None or function.owner is None:
        return False
    if "self.io_loop =" in ast.unparse(function.owner):
        return False
    bases = module.scope_at(function.owner).bases(function.owner)
    return any(_OF_TEST in TODAY.owners(base) for base in bases)


def _changed(node: Any) -> Any:
    return without_arguments(node, "io_loop")


IO_LOOP_ARGUMENT = Fixer(
    CODE,
    "io_loop= of Tornado's own classes and functions is left out",
    "Since Tornado 5 they use the current loop.  The argument is left out where it is "
    "certainly that one.",
    (
        Example(
            "The current loop",
            """\
from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop, PeriodicCallback

client = AsyncHTTPClient(io_loop=IOLoop.current())
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
            "A function of the program with such an argument",
            """\
from tornado.ioloop import IOLoop

def connect(io_loop):
    io_loop.add_callback(print)

connect(io_loop=IOLoop.current())
""",
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
