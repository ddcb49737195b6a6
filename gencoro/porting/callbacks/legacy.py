"""Shared analysis and rewrites for the fixers of callback style.

Rule: a call counts only if it certainly is that of a function of Tornado or the program;
what may start a thread counts, wherever it is.

Pure.  Used by `gencoro.porting.callbacks`, the fixers for ``--to coroutine`` and
`gencoro.porting.converting`.
"""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.compat.doctor.rows import ROWS, TODAY
from gencoro.porting.coroutines.awaitables import awaitables_of
from gencoro.porting.coroutines.candidates import COROUTINE
from gencoro.porting.fixer import Change, Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.reasons import REASONS
from gencoro.porting.source.imports import Reference, reference_to_gen
from gencoro.porting.source.nodes import ended_like

__all__ = [
    "CALLBACK_WORDS",
    "as_coroutine",
    "called_coroutines",
    "calls",
    "function_refusal",
    "is_certain_call",
    "is_method_of_tornado",
    "is_of_library",
    "is_yielded",
    "legacy_refusal",
    "made_coroutine",
    "names_of",
    "task_call",
    "without_arguments",
    "without_callback",
    "without_last_positional",
]

CALLBACK_WORDS = frozenset({"callback", "streaming_callback", "done_callback"})

_OF_LIBRARY = frozenset(
    {
        "tornado.httpclient.AsyncHTTPClient.fetch",
        "tornado.netutil.Resolver.resolve",
        "tornado.tcpclient.TCPClient.connect",
    }
)

_MULTI = frozenset({"tornado.gen.multi", "tornado.gen.multi_future"})

# Classes with methods that start callbacks; `ROWS` has those whose callback is gone.
_OWNERS = (
    "tornado.ioloop.IOLoop",
    "tornado.iostream.IOStream",
    "tornado.process.Subprocess",
    "tornado.websocket.WebSocketClientConnection",
)


def legacy_refusal(
    module: Module,
    node: ast.AST,
    reason: str,
    name: str = "",
    function: Function | None = None,
) -> Refusal:
    """Return why something in callback style stays.

    Args:
        reason: A key of `REASONS`.
        name: What the sentence names.
    """
    found = REASONS[reason]
    why = found.why.replace("{name}", " ".join(name.split())[:60])
    line = getattr(node, "lineno", 0)
    return Refusal(module.path, line, found.code, why, found.advice, function)


def function_refusal(function: Function, reason: str, name: str = "") -> Refusal:
    """Return why a function in callback style stays, see `legacy_refusal`."""
    return legacy_refusal(function.module, function.node, reason, name, function)


def calls(program: Program, *names: str) -> Iterator[tuple[Module, ast.Call]]:
    """Yield the calls of functions of Tornado that are certainly those."""
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Call) and names_of(module, node.func) & set(names):
                yield module, node


def names_of(module: Module, node: ast.expr) -> set[str]:
    """Return the names of Tornado that an expression stands for, if they are certain."""
    if not isinstance(node, (ast.Attribute, ast.Name)):
        return set()
    names = module.names(node)
    return names if names and module.scope_at(node).is_certain(node) else set()


def called_coroutines(
    program: Program, module: Module, node: ast.expr
) -> list[Function]:
    """Return the coroutines that an expression certainly is one of; none if not certain.

    Every function of the program with that name must be a coroutine that takes no callback.
    """
    functions = program.functions_of(module, node)
    if not functions or not is_certain_call(program, module, node):
        return []
    named = program.functions_by_name[functions[0].node.name]
    candidates = named if isinstance(node, ast.Attribute) else functions
    return functions if all(map(_is_plain_coroutine, candidates)) else []


def is_certain_call(program: Program, module: Module, node: ast.expr) -> bool:
    """Return whether an expression certainly is one function of the program.

    Objects of other packages, and Tornado's, may have a method of the same name.
    """
    functions = awaitables_of(program).callees(module, node)
    is_resolved = bool(program.functions_of(module, node))
    is_shared = isinstance(node, ast.Attribute) and is_method_of_tornado(node.attr)
    return bool(functions) and (is_resolved or not is_shared)


def is_method_of_tornado(name: str) -> bool:
    """Return whether a class of Tornado has, or had, a method that may take a callback."""
    return bool(ROWS.of_method(name)) or any(
        TODAY.has(f"{owner}.{name}") for owner in _OWNERS
    )


def _is_plain_coroutine(function: Function) -> bool:
    if any(parameter.arg in CALLBACK_WORDS for parameter in function.parameters):
        return False
    decorators = [
        (decorator, names)
        for decorator, names in function.decorators()
        if not (isinstance(decorator, ast.Name) and decorator.id.endswith("method"))
    ]
    return len(decorators) == 1 and decorators[0][1] == {COROUTINE}


def as_coroutine(function: Function, place: int) -> Change | None:
    """Return the change that replaces a decorator by ``gen.coroutine``.

    None if the module uses the name ``gen`` for something else.
    """
    decorator = function.node.decorator_list[place]
    gen = reference_to_gen(function)
    if isinstance(decorator, ast.Attribute) and _is_gen(function, decorator.value):
        gen = Reference(ast.unparse(decorator.value))
    if not gen.text:
        return None
    text = f"{gen.text}.coroutine"

    def change(node: Any) -> Any:
        decorators = list(node.decorators)
        new = cst.parse_expression(text)
        decorators[place] = decorators[place].with_changes(decorator=new)
        return node.with_changes(decorators=decorators)

    return Change(function.node, change, imports=gen.imports)


def made_coroutine(function: Function) -> Change | None:
    """Return the change that adds ``gen.coroutine`` below the decorators of a function.

    None if the module uses the name ``gen`` for something else.
    """
    gen = reference_to_gen(function)
    if not gen.text:
        return None
    decorator = cst.Decorator(cst.parse_expression(f"{gen.text}.coroutine"))

    def change(node: Any) -> Any:
        return node.with_changes(decorators=[*node.decorators, decorator])

    return Change(function.node, change, imports=gen.imports)


def is_of_library(module: Module, func: ast.expr) -> bool:
    """Return whether a function may be one of Tornado that has a fixer of its own."""
    return bool({thing.name for thing in module.things(func)} & _OF_LIBRARY)


def is_yielded(module: Module, call: ast.expr) -> bool:
    """Return whether an error of a call itself comes where its result is yielded."""
    node: ast.AST = call
    parent = module.parents[call]
    while _is_part_of_yielded(module, parent, node):
        node, parent = parent, module.parents[parent]
    return isinstance(parent, ast.Yield)


def _is_part_of_yielded(module: Module, node: ast.AST, part: ast.AST) -> bool:
    """Return whether a node collects a part of it, and does nothing else with it."""
    match node:
        case ast.List() | ast.ListComp() | ast.Dict() | ast.DictComp() | ast.keyword():
            return True
        case ast.Call(func=ast.Name(id="dict")):
            scope = module.scope_at(node)
            return scope._scope_of("dict") is None and node.func is not part
        case ast.Call(func=func, args=[first]):
            is_multi = bool(names_of(module, func)) and names_of(module, func) <= _MULTI
            return is_multi and first is part
    return False


def _is_gen(function: Function, node: ast.expr) -> bool:
    things = function.module.things(node, function.outer)
    return {thing.name for thing in things} == {"tornado.gen"}


def without_arguments(node: Any, *names: str) -> Any:
    """Return a call without the arguments that have one of these names."""
    return _with_only(
        node,
        [arg for arg in node.args if not (arg.keyword and arg.keyword.value in names)],
    )


def without_callback(node: Any) -> Any:
    """Return a call without ``callback=``."""
    return without_arguments(node, "callback")


def without_last_positional(node: Any) -> Any:
    """Return a call without the last argument that has no name and is not ``**``."""
    last = [arg for arg in node.args if arg.keyword is None and arg.star != "**"][-1]
    return _with_only(node, [arg for arg in node.args if arg is not last])


def _with_only(node: Any, kept: list[Any]) -> Any:
    """Return a call with some of its arguments."""
    if kept:
        kept[-1] = ended_like(kept[-1], node.args[-1])
    space = node.whitespace_before_args if kept else cst.SimpleWhitespace("")
    return node.with_changes(args=kept, whitespace_before_args=space)


def task_call(node: Any) -> Any:
    """Return the call that a Task makes."""
    function, *args = node.args
    space = (
        function.comma.whitespace_after if len(args) and _has_lines(function) else None
    )
    before = space if space is not None else node.whitespace_before_args
    return node.with_changes(
        func=function.value, args=args, whitespace_before_args=before
    )


def _has_lines(argument: Any) -> bool:
    comma = argument.comma
    return isinstance(comma, cst.Comma) and isinstance(
        comma.whitespace_after, cst.ParenthesizedWhitespace
    )
