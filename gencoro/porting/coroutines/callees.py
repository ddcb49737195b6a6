"""Finds which coroutines use each other, and what follows from that.

Rule: a use of what may be a coroutine counts, whether it is called there or not.

Pure.  Used by `gencoro.porting.coroutines.decisions`.
"""

import ast
from collections.abc import Iterable, Mapping

from gencoro.porting.coroutines.candidates import candidates_of
from gencoro.porting.coroutines.handled_errors import exits
from gencoro.porting.program import Function, Program
from gencoro.porting.program.call_graph import components
from gencoro.porting.program.references import references_of

__all__ = ["callees_of", "cleaning", "recursive", "waiting_for_exits"]

# Statements that may do something when a coroutine is closed.
_CLEANING = (ast.AsyncWith, ast.Try, ast.With)


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
    """Return the coroutines that use one that may exit the program, and its name."""
    exiting = [function for function in callees if exits(function, program)]
    return _callers(callees, exiting)


def cleaning(callees: Mapping[Function, list[Function]]) -> set[Function]:
    """Return the coroutines that do something at their end, or use one that does."""
    found = [f for f in callees if any(isinstance(n, _CLEANING) for n in f.own)]
    return {*found, *_callers(callees, found)}


def _callers(
    callees: Mapping[Function, list[Function]], used: Iterable[Function]
) -> dict[Function, str]:
    """Return what uses some coroutines, directly or through others, and their names."""
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
