"""What in a program starts threads, or makes another loop the current one.

Rule: it counts wherever it is, and under any name that it is imported by.

Pure.  Used by other modules of `gencoro.porting.callbacks` and by
`gencoro.porting.fixers.to_coroutine.loop_instance`.
"""

import ast
import functools
import re

from gencoro.porting.callbacks.legacy import calls, names_of
from gencoro.porting.coroutines.tasks import runs_loop_of_asyncio
from gencoro.porting.program import Module, Program
from gencoro.porting.program.origins import original_names
from gencoro.porting.program.receivers import assignments

__all__ = [
    "clears_loop",
    "has_one_loop",
    "holds_loop",
    "makes_loops",
    "switches_loops",
    "uses_threads",
]

_LOOP = "tornado.ioloop.IOLoop"
_LOOPS = frozenset({f"{_LOOP}.current", f"{_LOOP}.instance"})
_RUN = frozenset({f"{_LOOP}.run_sync", f"{_LOOP}.start"})

_THREADS = frozenset(
    {"_thread", "concurrent", "multiprocessing", "thread", "threading", "threads"}
)
_IN_THREADS = ("_executor", "to_thread")
_OF_THREADS = ("QueueListener", "Thread")

# Names of what makes a loop, what leaves a thread without a current one for a while, and
# whatever changes which is the current one.
_MAKING = frozenset({"make_current", "new_event_loop"})
_CLEARING = frozenset({"clear_current", "set_event_loop"})
_SWITCHING = (
    _MAKING | _CLEARING | {"clear_instance", "install", "set_event_loop_policy"}
)

# Names in packages that may bring a loop of their own.
_OF_OTHER_LOOPS = re.compile(
    r"\.asyncio|^asyncio|^asynctest|^zmq|^twisted|.IOLoop$|loop_policy|TestCase$|^mock$"
)


@functools.lru_cache(maxsize=1)
def uses_threads(program: Program) -> bool:
    """Return whether any module imports or names what starts threads."""
    return any(
        _starts_threads(node)
        for module in program.modules.values()
        for node in module.nodes
    )


def _starts_threads(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(_THREADS & {*alias.name.split(".")} for alias in names)
        case ast.ImportFrom(module=str(source), names=names):
            parts = {*source.split(".")}
            if parts & _THREADS and source != "tornado.concurrent":
                return True
            imported = {alias.name for alias in names}
            if source != "tornado" and imported & _THREADS:
                return True
            return any(map(_names_threads, imported))
        case ast.Attribute(attr=name):
            return _names_threads(name)
    return False


def _names_threads(name: str) -> bool:
    """Return whether a name is like ``run_in_executor`` or ``ThreadingMixIn``."""
    return name.endswith(_IN_THREADS) or name.startswith(_OF_THREADS)


@functools.lru_cache(maxsize=1)
def makes_loops(program: Program) -> bool:
    """Return whether the threads of a program may run coroutines on loops of their own."""
    return any(calls(program, _LOOP)) or _changes_loops(program, _MAKING)


@functools.lru_cache(maxsize=1)
def clears_loop(program: Program) -> bool:
    """Return whether a program may have a loop that is not the current one."""
    return _changes_loops(program, _CLEARING)


@functools.lru_cache(maxsize=1)
def switches_loops(program: Program) -> bool:
    """Return whether a program may make another loop the current one."""
    return any(calls(program, _LOOP)) or _changes_loops(program, _SWITCHING)


def _changes_loops(program: Program, names: frozenset[str]) -> bool:
    """Return whether a program names one of these functions, or runs a loop of asyncio."""
    return any(
        bool(original_names(module, node) & names) or runs_loop_of_asyncio(module, node)
        for module in program.modules.values()
        for node in module.nodes
    )


@functools.lru_cache(maxsize=1)
def has_one_loop(program: Program) -> bool:
    """Return whether a program runs a loop, and certainly makes no other one."""
    is_run = any(
        _runs_loop(program, module, node)
        for module in program.modules.values()
        for node in module.nodes
        if isinstance(node, ast.Attribute) and node.attr in ("run_sync", "start")
    )
    return is_run and not (
        uses_threads(program)
        or switches_loops(program)
        or any(
            _OF_OTHER_LOOPS.search(word)
            for module in program.modules.values()
            for node in module.nodes
            for word in _words_of(node)
        )
    )


def _runs_loop(program: Program, module: Module, method: ast.Attribute) -> bool:
    """Return whether a method runs the current loop, or that of an attribute."""
    if {thing.name for thing in module.things(method)} & _RUN:
        return True
    match method.value:
        case ast.Attribute(attr=holder):
            return holds_loop(program, holder)
    return False


def holds_loop(program: Program, holder: str) -> bool:
    """Return whether everything that is assigned to an attribute is the current loop.

    A caller may pass another one.
    """
    given = assignments(program).get(holder, [])
    return bool(given) and all(_is_loop(module, value) for module, value in given)


def _is_loop(module: Module, value: ast.expr | None) -> bool:
    """Return whether a value is the current loop, or one that a caller passes."""
    match value:
        case ast.Call(func=func, args=[], keywords=[]):
            return bool(names_of(module, func)) and names_of(module, func) <= _LOOPS
        case ast.BoolOp(op=ast.Or(), values=[ast.Name(), last]):
            return _is_loop(module, last)
    return False


def _words_of(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return [word]
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=source, names=names):
            return [source or "", *(alias.name for alias in names)]
    return []
