"""``IOLoop.instance()`` becomes ``IOLoop.current()``.

Since Tornado 5 they are the same: the loop of the calling thread.  In Tornado 4 instance() was
the loop of the main thread on every thread, so a program that may use threads is left alone;
and so is one that clears the current loop, as tests do that share a loop.

Pure.
"""

import ast
from collections.abc import Iterator

from gencoro.compat.doctor.program import Program
from gencoro.compat.doctor.text import Edit
from gencoro.porting.fixers.fixer import Fix, Fixer

__all__ = ["LOOP_INSTANCE"]

_INSTANCE = "tornado.ioloop.IOLoop.instance"

# Words of programs with threads, or with loops that are not current.
_SIGNS = (
    b"threading",
    b"concurrent.futures",
    b"run_on_executor",
    b"run_in_executor",
    b"ThreadPool",
    b"_thread",
    b"clear_current",
    b"get_new_ioloop",
    b"make_current",
)


def _find(program: Program) -> Iterator[Fix]:
    modules = program.modules.values()
    if any(sign in module.source for module in modules for sign in _SIGNS):
        return
    for module in modules:
        for node in module.nodes:
            match node:
                case ast.Call(func=ast.Attribute(attr="instance") as func, args=[]):
                    if module.names(func) == {_INSTANCE}:
                        _, end = module.text.span(func)
                        edit = Edit(end - len("instance"), end, "current")
                        yield Fix("GC101", module, node, (edit,))


LOOP_INSTANCE = Fixer("GC101", "IOLoop.instance() becomes IOLoop.current()", _find)
