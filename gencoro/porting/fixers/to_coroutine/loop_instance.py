"""``IOLoop.instance()`` becomes ``IOLoop.current()``."""

import ast
import functools
import re
import sys
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.legacy import calls, legacy_refusal
from gencoro.porting.callbacks.loops import clears_loop, makes_loops, uses_threads
from gencoro.porting.coroutines.candidates import COROUTINE
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Module, Program
from gencoro.porting.program.patched_names import is_swapped

__all__ = ["LOOP_INSTANCE"]

CODE = "GC101"

_INSTANCE = "tornado.ioloop.IOLoop.instance"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the calls that are replaced."""
    for module, call in calls(program, _INSTANCE):
        func = call.func
        if not isinstance(func, ast.Attribute):
            continue
        if is_swapped(program, _INSTANCE):
            yield legacy_refusal(module, call, "swapped", "IOLoop.instance")
        elif _may_be_in_thread(program, module, call):
            yield legacy_refusal(module, call, "threads")
        elif _may_be_cleared(program) and not _is_on_loop(program, module, call):
            yield legacy_refusal(module, call, "no-loop")
        else:
            yield Fix(CODE, module, call.lineno, (Change(func, _changed),))


def _may_be_in_thread(program: Program, module: Module, call: ast.Call) -> bool:
    """Return whether a thread may get the program's loop.

    Another package may call a function on a thread of its own; what it does there is to
    go back to the loop, by ``add_callback``.
    """
    function = module.function_at(call)
    is_on_loop = _is_on_loop(program, module, call)
    if function is not None and is_on_loop:
        return False
    is_on_main = is_on_loop or _is_on_main_thread(program, module, call)
    if is_on_main and (not uses_threads(program) or _is_for_one_thread(program)):
        return False
    goes_back = function is not None and any(
        isinstance(node, ast.Attribute) and node.attr == "add_callback"
        for node in function.own
    )
    return uses_threads(program) or goes_back and _imports_other(program, module)


@functools.lru_cache(maxsize=2000)
def _imports_other(program: Program, module: Module) -> bool:
    """Return whether a module imports a package that is not read."""
    known = {*sys.stdlib_module_names, "gencoro", "tornado"}
    known |= {part for path in program.modules for part in re.split(r"[\\/.]", path)}
    imported: set[str] = set()
    for node in module.nodes:
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.add(node.module or "")
    return any(name.partition(".")[0] not in known for name in imported)


def _is_on_main_thread(program: Program, module: Module, call: ast.Call) -> bool:
    """Return whether a call is made while a script is run that no other module imports.

    The body of another module runs where it is imported, which may be on a thread.
    """
    node: ast.AST = module.enclosing(call)
    while isinstance(node, ast.ClassDef):
        node = module.enclosing(node)
    return node is module.tree and not program.is_imported(module)


@functools.lru_cache(maxsize=1)
def _is_for_one_thread(program: Program) -> bool:
    """Return whether no other thread asks for the program's loop.

    It might be the first to do so, and make the loop that the main thread then finds.
    """
    found = list(calls(program, _INSTANCE))
    called = {call.func for _, call in found}
    is_passed_on = any(
        isinstance(node, ast.Attribute) and node.attr == "instance"
        for module in program.modules.values()
        for node in module.nodes
        if node not in called and _INSTANCE in _names(module, node)
    )
    return not is_passed_on and all(
        _is_on_loop(program, module, call) or _is_on_main_thread(program, module, call)
        for module, call in found
    )


def _names(module: Module, node: ast.AST) -> set[str]:
    return module.names(node) if isinstance(node, ast.Attribute) else set()


def _is_on_loop(program: Program, module: Module, call: ast.Call) -> bool:
    """Return whether a call is in a coroutine, or where the module is run."""
    function = module.function_at(call)
    if function is not None:
        return function.has_decorator(COROUTINE) and not makes_loops(program)
    if module.enclosing(call) is not module.tree:
        return False
    node: ast.AST | None = call
    while node is not None:
        if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
            return True
        node = module.parents.get(node)
    return False


@functools.lru_cache(maxsize=1)
def _may_be_cleared(program: Program) -> bool:
    """Return whether a program may have a loop that is not the current one.

    Where none is current, instance() returns the program's loop, and current() makes
    another.  Between tests none is, so those that share a loop find it by instance().
    """
    is_new = "get_new_ioloop" in program.functions_by_name
    return is_new or clears_loop(program)


def _changed(node: Any) -> Any:
    return node.with_changes(attr=cst.Name("current"))


LOOP_INSTANCE = Fixer(
    CODE,
    "IOLoop.instance() becomes IOLoop.current()",
    "Since Tornado 5 they are the same: the loop of the calling thread.  In Tornado 4 "
    "instance() was the loop of the main thread on every thread.  So a call stays if it may be "
    "made on another thread: in a program with threads, and in a function that calls "
    "``add_callback``, if its module imports another package, which may run the function on a "
    "thread.  Two kinds of calls are replaced even there: those in coroutines, if the program "
    "makes no loops, and the statements of a script that no other module imports, if nothing "
    "else may ask for the loop first.  Calls outside of coroutines also stay if the program "
    "clears the current loop, as tests do that share a loop by ``get_new_ioloop``: current() "
    "would make another one.",
    (
        Example(
            "A program with one thread",
            """\
from tornado.ioloop import IOLoop

def begin(callback):
    IOLoop.instance().add_callback(callback)

IOLoop.instance().start()
""",
            """\
from tornado.ioloop import IOLoop

def begin(callback):
    IOLoop.current().add_callback(callback)

IOLoop.current().start()
""",
        ),
        Example(
            "Another class",
            """\
from mylib import IOLoop

IOLoop.instance().start()
""",
        ),
        Example(
            "A program with threads",
            """\
import threading
from tornado.ioloop import IOLoop

def work(callback):
    IOLoop.instance().add_callback(callback)

threading.Thread(target=work).start()
""",
            refused="GC950",
        ),
        Example(
            "The statements of a script with threads",
            """\
import threading
from tornado.ioloop import IOLoop

loop = IOLoop.instance()
threading.Thread(target=loop.add_callback, args=(loop.stop,)).start()
loop.start()
""",
            """\
import threading
from tornado.ioloop import IOLoop

loop = IOLoop.current()
threading.Thread(target=loop.add_callback, args=(loop.stop,)).start()
loop.start()
""",
        ),
        Example(
            "A function that another package may call on a thread",
            """\
import mqtt
from tornado.ioloop import IOLoop

def on_message(message):
    IOLoop.instance().add_callback(print, message)

mqtt.subscribe(on_message)
""",
            refused="GC950",
        ),
        Example(
            "Tests that share a loop",
            """\
from tornado.ioloop import IOLoop
from tornado.testing import AsyncTestCase

class SharedTest(AsyncTestCase):
    def get_new_ioloop(self):
        return IOLoop.instance()
""",
            refused="GC976",
        ),
    ),
    find,
)
