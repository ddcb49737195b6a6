"""Legacy uses that no fixer converted, each with a reason.

Rule: what the doctor finds, and no fixer has converted or refused, is refused here, so that
nothing of Tornado's removed interface stays in silence.

Pure.  Used by `gencoro.porting.converting`.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping

from gencoro.compat.doctor.conversions import REMOVED, reason_of
from gencoro.compat.doctor.uses import Use
from gencoro.compat.doctor.visitor import Found, Visitor
from gencoro.porting.callbacks.legacy import calls
from gencoro.porting.fixer import Refusal
from gencoro.porting.program import Module, Program
from gencoro.porting.program.scopes import SourceScope
from gencoro.porting.reasons import REASONS

__all__ = ["remaining_uses"]

_TASK = "tornado.gen.Task"

_REASONS_BY_CODE = {reason.code: reason for reason in REASONS.values()}


def remaining_uses(program: Program, refusals: Iterable[Refusal]) -> Iterator[Refusal]:
    """Yield the refusals of legacy uses, apart from those on lines that have one."""
    refused = {place for refusal in refusals for place in _places_of(refusal)}
    tasks = _functions_of_tasks(program)
    for module in program.modules.values():
        found = list(_found_in(module)) if program.knows_tornado(module) else []
        used = {f.use.name for f in found if f.alias is None}
        for use, alias in found:
            if alias is not None and _is_used(use.name, used):
                continue
            if (module.path, use.line) not in refused:
                code = reason_of(use) if alias is None else REMOVED
                yield _refusal(module, use, code, tasks)


def _functions_of_tasks(program: Program) -> dict[tuple[str, int], str]:
    """Return what the Tasks on each line run."""
    return {
        (module.path, call.func.lineno): ast.unparse(call.args[0])
        for module, call in calls(program, _TASK)
        if call.args
    }


def _is_used(imported: str, used: set[str]) -> bool:
    """Return whether an imported name, or one of its names, has a use of its own."""
    return any(f"{name}.".startswith(f"{imported}.") for name in used)


def _places_of(refusal: Refusal) -> Iterator[tuple[str, int]]:
    """Yield the lines that a refusal is about; of a function, with its decorators."""
    yield refusal.file, refusal.line
    if refusal.function is not None:
        node = refusal.function.node
        lines = [node.lineno, *(d.lineno for d in node.decorator_list)]
        yield from ((refusal.file, line) for line in range(min(lines), max(lines) + 1))


def _found_in(module: Module) -> Iterator[Found]:
    """Yield the uses of names and arguments that Tornado has removed."""
    ignored = frozenset(_visited(module, frozenset()).dispensable)
    for found in _visited(module, ignored).found:
        if reason_of(found.use):
            yield found


def _visited(module: Module, ignored: frozenset[ast.alias]) -> Visitor:
    top = module.top
    return Visitor(
        module.tree, top._modules, top.file, ignored, scope_class=SourceScope
    )


def _refusal(
    module: Module, use: Use, code: str, tasks: Mapping[tuple[str, int], str]
) -> Refusal:
    reason = _REASONS_BY_CODE[code]
    name = f"{use.name}({use.argument}=)" if use.argument else use.name
    if name == _TASK:
        name = tasks.get((module.path, use.line), name)
    why = reason.why.replace("{name}", " ".join(name.split())[:60])
    return Refusal(module.path, use.line, reason.code, why, reason.advice)
