"""The order in which functions can be converted step by step.

Rule: callees come before callers, and functions that call each other together.  The state
between two steps is a program that runs: coroutines of both kinds can be yielded and
awaited.

Pure.  Used by `gencoro.porting.command`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gencoro.porting.converting import Conversion, convert
from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Function, Program
from gencoro.porting.program.call_graph import components
from gencoro.porting.program.references import references_of
from gencoro.porting.selection import Selection

__all__ = ["plan_of", "steps_of"]


def plan_of(
    sources: Mapping[str, bytes], selection: Selection, as_json: bool = False
) -> str:
    """Return the plan for sources, as text or JSON."""
    conversion = convert(sources, selection)
    functions = _converted(conversion)
    steps = steps_of(Program(sources), functions)
    stays = _first_reasons(conversion)
    if as_json:
        return json.dumps(_data(steps, stays), indent=2) + "\n"
    return "".join(f"{line}\n" for line in _lines(steps, stays))


def _converted(conversion: Conversion) -> set[tuple[str, str]]:
    return {
        (fix.function.module.path, fix.function.name)
        for fix in conversion.fixes
        if fix.function is not None
    }


def _first_reasons(conversion: Conversion) -> list[Refusal]:
    """Return one refusal for each function that stays."""
    first: dict[tuple[str, str], Refusal] = {}
    for refusal in conversion.refusals:
        if refusal.function is not None:
            first.setdefault((refusal.file, refusal.function.name), refusal)
    return list(first.values())


def steps_of(program: Program, chosen: set[tuple[str, str]]) -> list[list[Function]]:
    """Return groups of functions, callees first; each group goes together.

    Args:
        chosen: The file and the name of each function to put in order.
    """
    functions = [f for f in program.functions if (f.module.path, f.name) in chosen]
    callees: dict[Function, list[Function]] = {f: [] for f in functions}
    references = references_of(program)
    for function in functions:
        for use in references.of(function):
            user = use.module.function_at(use.node)
            if user in callees and use.is_resolved:
                callees[user].append(function)
    return components(callees)


def _lines(steps: list[list[Function]], stays: list[Refusal]) -> Iterator[str]:
    if steps:
        yield "In this order:"
        yield ""
    for number, group in enumerate(steps, 1):
        for function in group:
            mark = f"{number}." if function is group[0] else ""
            place = f"{function.module.path}:{function.line}"
            yield f"{mark:>5} {function.name}  {place}"
    if stays:
        yield ""
        yield "These stay:"
        yield ""
    for refusal in stays:
        name = refusal.function.name if refusal.function is not None else ""
        yield f"      {name}  {refusal.file}:{refusal.line}"
        yield f"          {refusal.code} {refusal.why}; {refusal.advice}"
    count = sum(map(len, steps))
    total = count + len(stays)
    share = f" ({100 * count / total:.0f} %)" if total else ""
    yield ""
    yield f"{count} of {total} functions can be converted{share}"


def _data(steps: list[list[Function]], stays: list[Refusal]) -> dict[str, Any]:
    return {
        "steps": [
            [{"file": f.module.path, "line": f.line, "function": f.name} for f in group]
            for group in steps
        ],
        "stays": [
            {
                "file": r.file,
                "line": r.line,
                "function": r.function.name if r.function is not None else None,
                "code": r.code,
                "why": r.why,
                "advice": r.advice,
            }
            for r in stays
        ],
    }
