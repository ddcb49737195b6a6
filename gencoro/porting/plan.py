"""The order in which coroutines can be converted step by step.

Rule: callees come before callers, and functions that call each other together.  Any part of
the plan leaves a program that runs: coroutines of both kinds can be yielded and awaited.

Pure.  Used by `gencoro.porting.command`.
"""

import ast
import json
from collections.abc import Iterator
from typing import Any

from gencoro.compat.doctor.program import Function
from gencoro.porting.conversion import Conversion
from gencoro.porting.decisions import Decision
from gencoro.porting.report import of_left, sentence_of, summary_of

__all__ = ["plan_of", "steps_of"]


def plan_of(conversion: Conversion, as_json: bool = False) -> str:
    """Return the plan of a conversion, as text or JSON."""
    steps = steps_of(conversion)
    if as_json:
        return json.dumps(_data(steps, conversion.left), indent=2) + "\n"
    return "".join(f"{line}\n" for line in _lines(steps, conversion))


def steps_of(conversion: Conversion) -> list[list[Function]]:
    """Return groups of functions, callees first; each group goes together."""
    program = conversion.program
    functions = [d.function for d in conversion.converted]
    chosen = set(functions)
    callees = {
        function: [
            called
            for node in function.own
            if isinstance(node, ast.Call)
            for called in program.functions_of(function.module, node.func)
            if called in chosen
        ]
        for function in functions
    }
    return _components(callees)


def _components(callees: dict[Function, list[Function]]) -> list[list[Function]]:
    """Return the functions, callees first; those that reach each other are together."""
    reached = {function: _reached(callees, function) for function in callees}
    found: list[list[Function]] = []
    for function in sorted(callees, key=lambda f: len(reached[f])):
        if not any(function in group for group in found):
            found.append(
                [
                    f
                    for f in callees
                    if f in reached[function] and function in reached[f]
                ]
            )
    return found


def _reached(callees: dict[Function, list[Function]], start: Function) -> set[Function]:
    """Return a function and everything it calls, directly or not."""
    found, pending = {start}, [start]
    while pending:
        new = set(callees[pending.pop()]) - found
        found |= new
        pending += new
    return found


def _lines(steps: list[list[Function]], conversion: Conversion) -> Iterator[str]:
    if steps:
        yield "In this order:"
        yield ""
    for number, group in enumerate(steps, 1):
        for function in group:
            mark = f"{number}." if function is group[0] else ""
            yield f"{mark:>5} {function.name}  {function.module.path}:{function.line}"
    if conversion.left:
        yield ""
        yield "These stay:"
        yield ""
    for decision in conversion.left:
        function, first = decision.function, decision.stays[0]
        yield f"      {function.name}  {function.module.path}:{function.line}"
        code = of_left(decision)["reasons"][0]["code"]
        yield f"          {code} {sentence_of(first)} ({first.file}:{first.line})"
    yield ""
    yield summary_of(conversion).rstrip("\n")


def _data(steps: list[list[Function]], left: list[Decision]) -> dict[str, Any]:
    return {
        "steps": [
            [{"file": f.module.path, "line": f.line, "function": f.name} for f in group]
            for group in steps
        ],
        "left": [of_left(decision) for decision in left],
    }
