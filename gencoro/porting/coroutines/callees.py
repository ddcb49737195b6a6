"""Finds which coroutines use each other, and what follows from that.

Rule: a use of what may be a coroutine counts, whether it is called there or not.

Pure.  Used by `gencoro.porting.coroutines.decisions`.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping

from gencoro.porting.coroutines.awaitables import Kind, awaitables_of
from gencoro.porting.coroutines.candidates import candidates_of
from gencoro.porting.coroutines.handled_errors import exits
from gencoro.porting.program import Function, Program
from gencoro.porting.program.call_graph import components
from gencoro.porting.program.origins import last_name
from gencoro.porting.program.references import references_of

__all__ = ["callees_of", "cleaning", "recursive", "waiting_for_exits"]

# Statements that may do something when a coroutine is closed.
_CLEANING = (ast.AsyncWith, ast.Try, ast.With)

# Methods of a loop, which waits for the coroutine that it gets itself.
_OF_LOOP = frozenset(
    {
        "add_callback",
        "add_future",
        "add_timeout",
        "call_at",
        "call_later",
        "run_sync",
        "spawn_callback",
    }
)


def callees_of(
    converting: Iterable[Function], program: Program
) -> dict[Function, list[Function]]:
    """Return which coroutines each of them uses, also those that are not converted."""
    found = [candidate.function for candidate in candidates_of(program)]
    callees: dict[Function, list[Function]] = {
        function: [] for function in [*found, *converting]
    }
    for function in callees:
        for use in references_of(program).of(function):
            user = use.module.function_at(use.node)
            if user in callees:
                callees[user].append(function)
    return callees


def recursive(callees: Mapping[Function, list[Function]]) -> set[Function]:
    """Return the coroutines that call themselves, directly or through others."""
    return {
        function
        for group in components(callees)
        for function in group
        if len(group) > 1 or function in callees[function]
    }


def waiting_for_exits(
    callees: Mapping[Function, list[Function]], program: Program
) -> dict[Function, str]:
    """Return the coroutines that may use one that may exit the program, and its name."""
    exiting = [function for function in callees if exits(function, program)]
    return _callers(callees, exiting, program)


def _is_passed_on(function: Function, program: Program) -> bool:
    """Return whether a function may be called by another name, or is looked up by its own."""
    if references_of(program).is_named(function):
        return True
    for use in references_of(program).of(function):
        parent = use.module.parents[use.node]
        if not isinstance(parent, ast.Call) or (
            parent.func is not use.node and last_name(parent.func) not in _OF_LOOP
        ):
            return True
    return False


def _waits_for_any(function: Function, program: Program) -> bool:
    """Return whether a coroutine may wait for any function."""
    awaitables = awaitables_of(program)
    return any(
        awaitables.kind(function.module, part) is Kind.ANYTHING
        for node in function.yields
        for part in _parts_of(node.value)
    )


def _parts_of(node: ast.expr | None) -> Iterator[ast.expr]:
    """Yield what is waited for if an expression is yielded."""
    match node:
        case ast.List(elts=parts) | ast.Dict(values=parts):
            yield from parts
        case ast.ListComp(elt=part) | ast.DictComp(value=part):
            yield part
        case ast.expr():
            yield node


def cleaning(
    callees: Mapping[Function, list[Function]], program: Program
) -> set[Function]:
    """Return the coroutines that do something at their end, or may use one that does."""
    found = [f for f in callees if any(isinstance(n, _CLEANING) for n in f.own)]
    return {*found, *_callers(callees, found, program)}


def _callers(
    callees: Mapping[Function, list[Function]],
    used: Iterable[Function],
    program: Program,
) -> dict[Function, str]:
    """Return what may use some coroutines, directly or through others, and their names."""
    used = list(used)
    found = _known_callers(callees, used)
    passed = [f for f in (*used, *found) if _is_passed_on(f, program)]
    if passed:
        unknown = [f for f in callees if f not in found and _waits_for_any(f, program)]
        found |= dict.fromkeys(unknown, passed[0].name)
        found |= _known_callers(callees, unknown)
    return found


def _known_callers(
    callees: Mapping[Function, list[Function]], used: Iterable[Function]
) -> dict[Function, str]:
    callers: dict[Function, list[Function]] = {function: [] for function in callees}
    for caller, its in callees.items():
        for callee in its:
            callers[callee].append(caller)
    found: dict[Function, str] = {}
    for function in used:
        pending = [function]
        while pending:
            new = [f for f in callers[pending.pop()] if f not in found]
            found.update(dict.fromkeys(new, function.name))
            pending += new
    return found
