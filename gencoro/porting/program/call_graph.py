"""Strongly connected components of the call graph, callees first, and what is reachable.

Pure.  Used by other modules of `gencoro.porting`.
"""

from collections.abc import Callable, Iterable, Mapping

from gencoro.porting.program import Function

__all__ = ["components", "reachable"]


def components(callees: Mapping[Function, list[Function]]) -> list[list[Function]]:
    """Return the strongly connected components, callees first (Tarjan's algorithm)."""
    number: dict[Function, int] = {}
    low: dict[Function, int] = {}
    stack: list[Function] = []
    found: list[list[Function]] = []
    for root in callees:
        pending = [] if root in number else [(root, iter(callees[root]))]
        while pending:
            function, rest = pending[-1]
            if function not in number:
                number[function] = low[function] = len(number)
                stack.append(function)
            following = next((f for f in rest if f not in number or f in stack), None)
            if following is not None and following not in number:
                pending.append((following, iter(callees[following])))
                continue
            if following is not None:
                low[function] = min(low[function], number[following])
                continue
            pending.pop()
            if pending:
                caller = pending[-1][0]
                low[caller] = min(low[caller], low[function])
            if low[function] == number[function]:
                place = stack.index(function)
                found.append(stack[place:])
                del stack[place:]
    return found


def reachable(
    start: Iterable[Function], following: Callable[[Function], Iterable[Function]]
) -> dict[Function, None]:
    """Return functions, and those that follow them, directly or through others."""
    found = dict.fromkeys(start)
    pending = list(found)
    while pending:
        new = dict.fromkeys(f for f in following(pending.pop()) if f not in found)
        found |= new
        pending += new
    return found
