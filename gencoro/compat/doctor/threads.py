"""Finds `IOLoop.current()` in functions that run on another thread than the loop's.

Until Tornado 4 it was the program's loop there.  Today it is a new one, which never runs, so
that callbacks are lost without an error.

Rule: only functions that the source shows to run on a thread count, with the functions that
they call, unless one of them makes or runs a loop there.  Used by
`gencoro.compat.doctor.visitor`.
"""

import ast
from collections.abc import Iterator

from gencoro.compat.doctor.differences import is_coroutine
from gencoro.compat.doctor.members import own_nodes
from gencoro.compat.doctor.naming import Scope
from gencoro.compat.doctor.rows import TODAY
from gencoro.compat.doctor.things import Function, Thing

__all__ = ["ON_THREAD", "loops_on_threads"]

# The argument of such a use.
ON_THREAD = "on another thread"

# What calls a function on a thread: the places and the names of the arguments that it calls.
_STARTERS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "_thread.start_new_thread": ((0,), ()),
    "asyncio.to_thread": ((0,), ()),
    "thread.start_new_thread": ((0,), ()),
    "threading.Thread": ((1,), ("target",)),
    "threading.Timer": ((1,), ("function",)),
}
_STARTING_METHODS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "apply_async": ((0, 3), ("func", "callback")),
    "run_in_executor": ((1,), ("func",)),
    "submit": ((0,), ("fn",)),
}

_ON_EXECUTOR = "tornado.concurrent.run_on_executor"
_LOOP = "tornado.ioloop.IOLoop"
_CURRENT = frozenset({f"{_LOOP}.current", f"{_LOOP}.instance"})

# What gives a thread a loop of its own.
_RUNS_LOOP = frozenset({f"{_LOOP}.run_sync", f"{_LOOP}.start", "asyncio.run"})
_MAKES_LOOP = frozenset({"make_current", "new_event_loop", "set_event_loop"})


def loops_on_threads(node: ast.AST, scope: Scope) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names and the places of uses, given the node that shows the thread.

    The place is the node itself if the use is in another module.
    """
    for thing in _run_elsewhere(node, scope):
        calls = list(_calls(thing, set()))
        if any(_gives_loop(call, within) for call, within in calls):
            continue
        for call, within in calls:
            if not call.args and not call.keywords:
                for name in sorted(_CURRENT & _names(call, within)):
                    yield name, call if within.file == scope.file else node


def _run_elsewhere(node: ast.AST, scope: Scope) -> Iterator[Thing]:
    """Yield the functions that a node runs on another thread."""
    if isinstance(node, ast.Call):
        for argument in _given(node, scope):
            for thing in scope.things(argument):
                if isinstance(thing.node, Function) and not thing.is_object:
                    yield thing if thing.home else thing._replace(home=scope)
    elif isinstance(node, ast.ClassDef):
        run = scope.members(node).methods.get("run")
        if run is not None and "threading.Thread" in scope.bases(node):
            yield Thing("", node=run, home=scope.inner(node))
    elif isinstance(node, ast.FunctionDef):
        decorators = [
            d.func if isinstance(d, ast.Call) else d for d in node.decorator_list
        ]
        things = (thing for d in decorators for thing in scope.things(d))
        if any(scope.defining_name(thing.name) == _ON_EXECUTOR for thing in things):
            yield Thing("", node=node, home=scope)


def _given(call: ast.Call, scope: Scope) -> Iterator[ast.expr]:
    """Yield the functions that a call passes to a thread; of a partial its function."""
    starters = [_STARTERS[name] for name in _names(call, scope) if name in _STARTERS]
    if isinstance(call.func, ast.Attribute) and call.func.attr in _STARTING_METHODS:
        starters.append(_STARTING_METHODS[call.func.attr])
    for places, words in starters:
        given = [call.args[place] for place in places if place < len(call.args)]
        given += [k.value for k in call.keywords if k.arg in words]
        for argument in given:
            match argument:
                case ast.Call(func=func, args=[function, *_]) if (
                    ast.unparse(func).rpartition(".")[2] == "partial"
                ):
                    yield function
                case _:
                    yield argument


def _calls(thing: Thing, seen: set[ast.AST]) -> Iterator[tuple[ast.Call, Scope]]:
    """Yield the calls in a function, and in those of the program that it calls."""
    node, home = thing.node, thing.home
    if node is None or node in seen or not isinstance(home, Scope):
        return
    seen.add(node)
    scope = home.inner(node)
    for part in own_nodes(node):
        if isinstance(part, ast.Call):
            yield part, scope
            for callee in scope.things(part.func):
                is_run = isinstance(callee.node, (ast.FunctionDef, ast.Lambda))
                if is_run and not callee.is_object and not is_coroutine(callee):
                    yield from _calls(callee, seen)


def _names(call: ast.Call, scope: Scope) -> set[str]:
    things = scope.things(call.func)
    return {scope.defining_name(thing.name) for thing in things if not thing.is_object}


def _gives_loop(call: ast.Call, scope: Scope) -> bool:
    """Return True if a call makes a loop, or runs one."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _MAKES_LOOP:
        return True
    # The loop of an attribute may be the program's.
    of_attribute = isinstance(getattr(call.func, "value", None), ast.Attribute)
    if not of_attribute and _RUNS_LOOP & _names(call, scope):
        return True
    for thing in scope.things(call.func):
        classes = [thing.name]
        if isinstance(thing.node, ast.ClassDef) and thing.home is not None:
            classes = thing.home.bases(thing.node)
        if any(_LOOP in TODAY.owners(cls) for cls in classes):
            return not thing.is_object
    return False
