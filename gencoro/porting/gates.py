"""Calls whose result is waited for only if it is a Future.

Rule: ``result = f()``, and then ``if is_future(result): result = yield result``.  What such a
call may run stays a coroutine: an ``async def`` is no Future, and would be taken for the
result, in silence.

Pure.  Used by `gencoro.porting.uses`.
"""

import ast
from collections.abc import Callable, Iterator

from gencoro.compat.doctor.program import Module, Program

__all__ = ["gated_calls"]

_TESTS = frozenset(
    {
        "asyncio.futures.isfuture",
        "asyncio.isfuture",
        "tornado.concurrent.is_future",
        "tornado.gen.maybe_future",
    }
)


def gated_calls(
    program: Program, is_unwrapped: Callable[[Module, ast.Call], bool]
) -> dict[ast.Call, str]:
    """Return the calls that are gated, and the places of the gates.

    Args:
        is_unwrapped: Tells whether a ``gen.maybe_future`` goes, which is one.
    """
    found: dict[ast.Call, str] = {}
    for module in program.modules.values():
        if b"uture" not in module.source and b"add_done_callback" not in module.source:
            continue
        for node in module.nodes:
            if isinstance(node, (ast.Call, ast.Compare)):
                if isinstance(node, ast.Call) and is_unwrapped(module, node):
                    continue
                for call in _calls_of(module, _tested(module, node)):
                    found.setdefault(call, module.place_of(node))
    return found


def _tested(module: Module, node: ast.Call | ast.Compare) -> ast.expr | None:
    """Return what a test asks whether it is a Future; None for another expression."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, kind]):
            return value if "Future" in ast.unparse(kind) else None
        case ast.Call(
            func=ast.Name(id="hasattr"),
            args=[value, ast.Constant(value="add_done_callback")],
        ):
            return value
        case ast.Call(func=func, args=[value]):
            is_named = ast.unparse(func).rpartition(".")[2] in ("is_future", "isfuture")
            return value if is_named or module.names(func) & _TESTS else None
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[value]), comparators=[kind]
        ):
            return value if "Future" in ast.unparse(kind) else None
    return None


def _calls_of(module: Module, value: ast.expr | None) -> Iterator[ast.Call]:
    """Yield the calls whose results a value is."""
    if isinstance(value, ast.Call):
        yield value
    elif isinstance(value, ast.Name):
        for node in ast.walk(module.enclosing(value)):
            match node:
                case ast.Assign(targets=targets, value=ast.Call() as call):
                    names = [t.id for t in targets if isinstance(t, ast.Name)]
                    if value.id in names:
                        yield call
