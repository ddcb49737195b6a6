"""``stack_context.NullContext`` and ``wrap`` are removed if there are no stack contexts."""

import ast
import collections
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.callbacks.legacy import legacy_refusal, names_of
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Module, Program
from gencoro.porting.program.origins import last_name

__all__ = ["NULL_CONTEXTS"]

CODE = "GC108"

_NULL = "tornado.stack_context.NullContext"
_WRAP = "tornado.stack_context.wrap"

# What makes stack contexts of its own, for the errors of callbacks.
_MAKERS = frozenset(
    {
        "tornado.concurrent.return_future",
        "tornado.gen.Callback",
        "tornado.gen.Task",
        "tornado.gen.Wait",
        "tornado.gen.WaitAll",
        "tornado.gen.YieldPoint",
        "tornado.gen.engine",
        "tornado.stack_context.ExceptionStackContext",
        "tornado.stack_context.StackContext",
        "tornado.stack_context.run_with_stack_context",
        "tornado.web.asynchronous",
    }
)

_OF_COLLECTIONS = frozenset(dir(list) + dir(set) + dir(dict) + dir(collections.deque))


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the ``with`` statements and the calls that do nothing."""
    made = _made(program)
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Call) and names_of(module, node.func) & {
                _NULL,
                _WRAP,
            }:
                if made:
                    yield legacy_refusal(module, node, "context", made)
                else:
                    yield from _of_call(module, node)


def _made(program: Program) -> str:
    """Return what makes a stack context in a program; empty if nothing may."""
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, (ast.Attribute, ast.Name)):
                found = module.names(node) & _MAKERS
                if found:
                    return min(found).rpartition(".")[2]
            if isinstance(node, ast.keyword) and node.arg == "callback":
                return "callback="
    return ""


def _of_call(module: Module, call: ast.Call) -> Iterator[Fix | Refusal]:
    if names_of(module, call.func) == {_WRAP}:
        is_plain = len(call.args) == 1 and not call.keywords
        is_plain = is_plain and _is_only_called(module, call)
        if is_plain and isinstance(call.args[0], (ast.Attribute, ast.Name, ast.Lambda)):
            yield Fix(CODE, module, call.lineno, (Change(call, _argument),))
        return
    item = module.parents[call]
    statement = module.parents[item]
    if not isinstance(statement, ast.With) or _waits(module, statement):
        return  # a coroutine that yields in such a block gets an error
    if _is_alone(statement):
        yield Fix(CODE, module, call.lineno, (Change(statement, _body),))


def _waits(module: Module, statement: ast.With) -> bool:
    """Return whether a generator yields inside a block."""
    around = module.enclosing(statement)
    return any(
        isinstance(node, (ast.Yield, ast.YieldFrom))
        and module.enclosing(node) is around
        for node in ast.walk(statement)
    )


def _is_only_called(module: Module, call: ast.Call) -> bool:
    """Return whether a wrapped function is not told apart from the function itself."""
    match module.parents[call]:
        case ast.Call(func=func):
            names = [thing.name for thing in module.things(func)]
            return func is call or any(name.startswith("tornado.") for name in names)
        case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)]):
            return not any(
                _is_told_apart(module, node)
                for node in module.nodes
                if last_name(node) == name
            )
    return False


def _is_told_apart(module: Module, node: ast.AST) -> bool:
    """Return whether something is compared, or put into a collection."""
    parent = module.parents[node]
    match parent:
        case ast.Compare(comparators=[ast.Constant(value=None)]):
            return False
        case ast.Call(func=ast.Attribute(attr=method)):
            return parent.func is not node and method in _OF_COLLECTIONS
    kinds = (ast.Compare, ast.Dict, ast.List, ast.Set, ast.Subscript, ast.Tuple)
    return isinstance(parent, kinds)


def _is_alone(statement: ast.With) -> bool:
    return len(statement.items) == 1 and statement.items[0].optional_vars is None


def _argument(node: Any) -> Any:
    argument = node.args[0].value
    if isinstance(argument, cst.Lambda) and not argument.lpar:
        return argument.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return argument


def _body(node: Any) -> Any:
    """Return the statements of a block, in its place, with its comments."""
    if isinstance(node.body, cst.SimpleStatementSuite):
        line = cst.SimpleStatementLine(
            node.body.body,
            leading_lines=node.leading_lines,
            trailing_whitespace=node.body.trailing_whitespace,
        )
        return cst.FlattenSentinel([line])
    first, *rest = node.body.body
    lines = [*node.leading_lines]
    if node.body.header.comment is not None:
        lines.append(cst.EmptyLine(comment=node.body.header.comment))
    first = first.with_changes(leading_lines=[*lines, *first.leading_lines])
    statements = [first, *rest]
    if node.body.footer and any(line.comment for line in node.body.footer):
        return node  # a comment after the block would lose its place
    return cst.FlattenSentinel(statements)


NULL_CONTEXTS = Fixer(
    CODE,
    "stack_context.NullContext and wrap are left out where there is no other stack context",
    "They keep contexts away from callbacks, or take them along; in a program without "
    "contexts they do nothing.",
    (
        Example(
            "A block and a wrapped function",
            """\
from tornado import ioloop, stack_context

def begin(callback):
    with stack_context.NullContext():
        # Soon.
        ioloop.IOLoop.current().add_callback(stack_context.wrap(callback))
""",
            """\
from tornado import ioloop

def begin(callback):
    # Soon.
    ioloop.IOLoop.current().add_callback(callback)
""",
        ),
        Example(
            "A program with another context",
            """\
from tornado import ioloop, stack_context
from mylib import handler

def begin(callback):
    with stack_context.NullContext():
        ioloop.IOLoop.current().add_callback(callback)

with stack_context.ExceptionStackContext(handler):
    begin(print)
""",
            refused="GC959, GC965",
        ),
    ),
    find,
)
