"""``io_loop=`` of Tornado's own classes and functions is left out.

Since Tornado 5 they use the current loop.  The argument goes where it is None or
``IOLoop.current()`` as it is written there; any other loop stays, and the doctor lists it.

Pure.
"""

import ast
from collections.abc import Iterator

from gencoro.compat.doctor.arguments import legacy_arguments
from gencoro.compat.doctor.program import Module, Program
from gencoro.compat.doctor.rows import ROWS, TODAY
from gencoro.porting.fixers.fixer import Fix, Fixer, without_argument

__all__ = ["IO_LOOP"]

_CURRENT = "tornado.ioloop.IOLoop.current"
_TEST_CASES = "tornado.testing.Async"


def _find(program: Program) -> Iterator[Fix]:
    for module in program.modules.values():
        if b"loop" not in module.source or b"tornado" not in module.source:
            continue
        for node in module.nodes:
            if isinstance(node, ast.Call) and (node.args or node.keywords):
                yield from _of_call(program, module, node)


def _of_call(program: Program, module: Module, call: ast.Call) -> Iterator[Fix]:
    texts = (ast.unparse(a).lower() for a in (*call.args, *call.keywords))
    if not any("loop" in text for text in texts):
        return
    scope = module.scope_at(call)
    for found in legacy_arguments(call, scope, TODAY, ROWS, None):
        if found.word != "io_loop":
            continue
        is_named = isinstance(found.node, ast.keyword)
        argument = found.node if is_named else next(reversed(call.args), None)
        value = argument.value if isinstance(argument, ast.keyword) else argument
        if argument is not None and _is_current(program, module, value):
            edit = without_argument(module, call, argument)
            yield Fix("GC102", module, call, (edit,))


def _is_current(program: Program, module: Module, node: ast.AST | None) -> bool:
    match node:
        case ast.Constant(value=None):
            return True
        case ast.Call(func=func, args=[], keywords=[]):
            return module.names(func) == {_CURRENT}
        case ast.Attribute(value=ast.Name(id="self"), attr="io_loop"):
            function = module.function_at(node)
            owner = function.owner if function is not None else None
            bases = program.bases_of(owner) if owner is not None else []
            is_own = owner is not None and "self.io_loop =" in ast.unparse(owner)
            return not is_own and any(b.startswith(_TEST_CASES) for b in bases)
    return False


IO_LOOP = Fixer("GC102", "io_loop= of Tornado's own functions is left out", _find)
