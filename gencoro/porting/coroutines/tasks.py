"""Finds programs that ask asyncio for Tasks, or cancel them.

Rule: the body of a coroutine runs in no Task, and a cancelled Task that waits for it leaves it
running; an ``async def`` that is awaited is a part of its caller's Task, and ends with it.

Pure.  Used by `gencoro.porting.coroutines.decisions` and
`gencoro.porting.coroutines.problems`.
"""

import ast
import functools

from gencoro.porting.program import Function, Module, Program
from gencoro.porting.program.origins import last_name, original_names

__all__ = [
    "asks_for_task",
    "cancels_tasks",
    "is_stop_of_loop",
    "runs_loop_of_asyncio",
    "stops_loop",
    "uses_tasks",
]

_TASKS = frozenset({"all_tasks", "current_task"})

# What cancels a Task when it is called, in asyncio and in the packages that add to it.
_CANCELLING = frozenset(
    {
        "TaskGroup",
        "cancel",
        "create_task_group",
        "fail_after",
        "fail_at",
        "move_on_after",
        "move_on_at",
        "timeout",
        "timeout_at",
        "wait_for",
    }
)

_STOP = "tornado.ioloop.IOLoop.stop"

# What cancels the Tasks that are left in the end, or after Ctrl-C.
_RUNNING = frozenset({"Runner", "run"})


def asks_for_task(function: Function) -> ast.AST | None:
    """Return where a function asks asyncio for the current Task; None if it does not."""
    module = function.module
    return next((node for node in function.own if _asks_for_task(module, node)), None)


@functools.lru_cache(maxsize=1)
def uses_tasks(program: Program) -> bool:
    """Return whether a program asks asyncio for the current Task, or for all of them."""
    modules = program.modules.values()
    return any(_asks_for_task(m, node) for m in modules for node in m.nodes)


@functools.lru_cache(maxsize=1)
def cancels_tasks(program: Program) -> bool:
    """Return whether a program may cancel a Task, itself or by a timeout."""
    modules = program.modules.values()
    return any(_may_cancel(m, node) for m in modules for node in m.nodes)


@functools.lru_cache(maxsize=1)
def stops_loop(program: Program) -> bool:
    """Return whether a program may stop its loop, and leave the Task of ``run_sync`` waiting.

    That Task keeps the body; the body of a coroutine is closed when nothing refers to it.
    """
    return any(
        is_stop_of_loop(module, node)
        for module in program.modules.values()
        for node in module.nodes
    )


def is_stop_of_loop(module: Module, node: ast.AST) -> bool:
    """Return whether an expression may be the method that stops a loop."""
    if not isinstance(node, ast.Attribute) or node.attr != "stop":
        return False
    names = {thing.name for thing in module.things(node)}
    return _STOP in names or "loop" in last_name(node.value).lower()


def _asks_for_task(module: Module, node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in _TASKS:
            return owner in _names_of_asyncio(module)
        case ast.Name(id=name):
            return name in _TASKS and name in _names_of_asyncio(module)
    return False


def _may_cancel(module: Module, node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="cancel"):
            return True  # it may be called later
        case ast.Call(
            func=ast.Attribute(attr="run_sync"), args=args, keywords=keywords
        ):
            return len(args) + len(keywords) > 1  # a timeout
        case ast.Call(func=ast.Name() | ast.Attribute() as callee):
            if original_names(module, callee) & _CANCELLING:
                return True
            return runs_loop_of_asyncio(module, callee)
    return False


def runs_loop_of_asyncio(module: Module, node: ast.AST) -> bool:
    """Return whether an expression is ``asyncio.run`` or ``asyncio.Runner``."""
    root = node.value if isinstance(node, ast.Attribute) else node
    is_run = bool(original_names(module, node) & _RUNNING)
    return is_run and last_name(root) in _names_of_asyncio(module)


@functools.lru_cache(maxsize=2000)
def _names_of_asyncio(module: Module) -> frozenset[str]:
    """Return the names under which a module imports asyncio, or something of it."""
    found = set()
    for node in module.nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            package = getattr(node, "module", None) or ""
            for alias in node.names:
                if f"{package}.{alias.name}".strip(".").startswith("asyncio"):
                    found.add(alias.asname or alias.name.partition(".")[0])
    return frozenset(found)
