"""Statements that certainly raise no error, and start nothing.

Rule: what is not known may raise an error.  Logging shows its own errors, and raises none.

Pure.  Used by `gencoro.porting.callbacks.request_handlers`.
"""

import ast
import http
from collections.abc import Iterator

from gencoro.porting.program import Function, Program
from gencoro.porting.program.inheritance import has_unknown_heir
from gencoro.porting.program.library_names import library_name
from gencoro.porting.program.origins import last_name

__all__ = ["assigned_names", "is_quiet"]

_LOGS = frozenset({"critical", "debug", "error", "info", "warning"})

# Methods of a handler, of which constants are checked here.
_HANDLER = "tornado.web.RequestHandler"
_HEADERS = frozenset({"add_header", "set_header"})

# Attributes that each request has.
_OF_REQUEST = frozenset(
    {
        "arguments",
        "body",
        "headers",
        "host",
        "method",
        "path",
        "query",
        "remote_ip",
        "uri",
    }
)


def is_quiet(program: Program, function: Function, statement: ast.stmt) -> bool:
    """Return whether a statement of a request handler raises no error."""
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=targets, value=value):
            are_plain = all(_is_plain_target(program, function, t) for t in targets)
            return are_plain and _is_value(program, function, statement, value)
        case ast.Expr(value=ast.Call(keywords=[]) as call):
            values = call.args
            if _is_log(program, function, call):
                return all(_is_value(program, function, statement, v) for v in values)
            return _is_of_handler(program, function, call)
    return False


def assigned_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names of the variables and attributes that a statement assigns."""
    for node in ast.walk(statement):
        if isinstance(getattr(node, "ctx", None), ast.Store):
            yield last_name(node)


def _is_plain_target(program: Program, function: Function, target: ast.expr) -> bool:
    match target:
        case ast.Name(id=name):
            return function.scope._scope_of(name) is function.scope
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            is_method = {name, "__setattr__"} & program.functions_by_name.keys()
            return not is_method and not has_unknown_heir(function, program)
    return False


def _is_value(
    program: Program, function: Function, statement: ast.stmt, value: ast.expr
) -> bool:
    """Return whether an expression certainly has a value, and computes nothing."""
    match value:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return _is_bound(function, statement, name)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(_is_value(program, function, statement, p) for p in parts)
        case ast.Dict(keys=[], values=[]):
            return True
        case ast.Attribute(
            value=ast.Attribute(value=ast.Name(id="self"), attr="request"), attr=name
        ):
            return name in _OF_REQUEST and "request" not in program.functions_by_name
    return False


def _is_bound(function: Function, statement: ast.stmt, name: str) -> bool:
    """Return whether a variable certainly has a value where a statement is."""
    if any(parameter.arg == name for parameter in function.parameters):
        return not any(isinstance(node, ast.Delete) for node in function.own)
    return any(
        isinstance(earlier, ast.Assign)
        and earlier.lineno < statement.lineno
        and any(isinstance(t, ast.Name) and t.id == name for t in earlier.targets)
        for earlier in function.node.body
    )


def _is_log(program: Program, function: Function, call: ast.Call) -> bool:
    """Return whether a call logs something, and runs no logging code of the program."""
    module, func = function.module, call.func
    if not isinstance(func, ast.Attribute) or func.attr not in _LOGS:
        return False
    if {"emit", "filter", "handle", "makeRecord"} & program.functions_by_name.keys():
        return False
    if library_name(program, module, func) == f"logging.{func.attr}":
        return True
    made = module.values_of(func.value)[-1]
    return (
        isinstance(made, ast.Call)
        and library_name(program, module, made.func) == "logging.getLogger"
    )


def _is_of_handler(program: Program, function: Function, call: ast.Call) -> bool:
    """Return whether a call sets a header or the status, or writes a constant."""
    names = function.module.names(call.func)
    owner, _, name = (
        names.copy().pop().rpartition(".") if len(names) == 1 else ("",) * 3
    )
    if owner != _HANDLER or name in program.functions_by_name:
        return False
    match [part.value for part in call.args if isinstance(part, ast.Constant)]:
        case [str(header), str(value)] if name in _HEADERS:
            return len(call.args) == 2 and (header + value).isprintable()
        case [int(code)] if name == "set_status":
            return len(call.args) == 1 and code in {
                status.value for status in http.HTTPStatus
            }
        case [str() | bytes()]:
            return len(call.args) == 1 and name == "write"
    return False
