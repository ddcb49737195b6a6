"""``gen.Task(loop.add_timeout, deadline)`` is ``gen.sleep(seconds)``.

Pure.  Used by `gencoro.porting.rewriting`.
"""

import ast

from gencoro.compat.doctor.program import Module

__all__ = ["seconds_of_sleep"]

_TASK = "tornado.gen.Task"


def seconds_of_sleep(module: Module, node: ast.expr) -> ast.expr | None:
    """Return the seconds that a yielded Task sleeps; None if it does something else.

    The deadline is the time of now plus the seconds, or a ``timedelta(seconds=...)``.
    """
    if not isinstance(node, ast.Call) or module.names(node.func) != {_TASK}:
        return None
    match [*node.args, *node.keywords]:
        case [ast.Attribute(attr="add_timeout"), ast.expr() as deadline]:
            return _seconds(module, deadline)
        case [ast.Attribute(attr="call_later"), ast.expr() as seconds]:
            return seconds
    return None


def _seconds(module: Module, deadline: ast.expr) -> ast.expr | None:
    match deadline:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            if _is_now(module, left):
                return right
            return left if _is_now(module, right) else None
        case ast.Call(
            func=func, args=[], keywords=[ast.keyword(arg="seconds", value=seconds)]
        ) if module.names(func) == {"datetime.timedelta"}:
            return seconds
    return None


def _is_now(module: Module, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or node.args:
        return False
    is_of_loop = isinstance(node.func, ast.Attribute) and (
        node.func.attr == "time" and "loop" in ast.unparse(node.func.value).lower()
    )
    return is_of_loop or module.names(node.func) == {"time.time"}
