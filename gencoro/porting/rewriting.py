"""Rewrites one coroutine as an ``async def``.

Rule: what a person would write, and no more: ``await``, ``return``, ``async def``, and the
decorator is gone.  Parentheses that only a ``yield`` needed go with it.

Pure.  Used by `gencoro.porting.conversion`.
"""

import ast
from collections.abc import Iterator, Mapping

from gencoro.compat.doctor.program import Function
from gencoro.compat.doctor.text import Edit
from gencoro.porting.annotations import edits_of_annotations
from gencoro.porting.coroutines import COROUTINE, Coroutine
from gencoro.porting.imports import Names
from gencoro.porting.returns import is_only_raised, raised_returns
from gencoro.porting.sleeps import seconds_of_sleep

__all__ = ["edits_of"]

# What binds less tightly than `await`.
_LOOSE = (
    ast.Await,
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Lambda,
    ast.NamedExpr,
    ast.UnaryOp,
)


def edits_of(
    coroutine: Coroutine, wrappers: Mapping[ast.Yield, str], names: Names
) -> Iterator[Edit]:
    """Yield the edits that make an ``async def`` of a coroutine.

    Args:
        wrappers: The function of `gen` or `asyncio` that each yielded value needs.
        names: How its module refers to those.

    Raises:
        NameTaken: a name that is needed means something else there.
    """
    function = coroutine.function
    text = function.module.text
    if coroutine.kind == COROUTINE:
        yield from _without_decorator(function, coroutine.decorator)
    start, _ = text.span(function.node)
    yield Edit(start, start, "async ")
    yield from edits_of_annotations(function)
    for node in function.own:
        if isinstance(node, ast.Yield):
            yield from _awaited(function, node, wrappers.get(node, ""), names)
        elif isinstance(node, ast.Try):
            yield from _without_handlers(function, node)
    for raised in raised_returns(function):
        if not _is_in_handler_that_goes(function, raised):
            yield from _returned(function, raised)


def _without_decorator(function: Function, decorator: ast.expr) -> Iterator[Edit]:
    """Remove a decorator with its line; a comment there stays, unless it is for tools."""
    text = function.module.text
    start, end = text.span(decorator)
    line_start, _ = text.line_at(start)
    _, line_end = text.line_at(end)
    comment = text.data[end:line_end].strip()
    if not comment.startswith(b"#") or comment.startswith((b"# noqa", b"# type:")):
        yield Edit(line_start, line_end)
    else:
        at = text.data.rindex(b"@", line_start, start)
        yield Edit(at, text.data.index(b"#", end))


def _awaited(
    function: Function, node: ast.Yield, wrapper: str, names: Names
) -> Iterator[Edit]:
    text = function.module.text
    start, end = text.span(node)
    if wrapper == "sleep":
        # One turn of the loop, as gen.moment is; gen.sleep(0) is a timer, and takes two.
        sleep = f"{names.of_asyncio(function, 'sleep')}(0)"
        if node.value is not None and b"#" in text.data[start:end]:
            yield Edit(start, start + len("yield"), "await")
            yield Edit(*text.span(node.value), sleep)
        else:
            yield Edit(start, end, f"await {sleep}")
    else:
        value = node.value
        assert value is not None, "a bare yield becomes a sleep"
        yield from _await_of(function, node, value, wrapper, names)
    yield from _without_parentheses(function, node, start, end)


def _await_of(
    function: Function, node: ast.Yield, value: ast.expr, wrapper: str, names: Names
) -> Iterator[Edit]:
    text = function.module.text
    start, end = text.span(node)
    first = text.span(value)[0]
    seconds = seconds_of_sleep(function.module, value)
    if seconds is not None:
        sleep = names.of_gen(function, "sleep")
        yield Edit(start, end, f"await {sleep}({text.of(seconds)})")
    elif wrapper:
        is_asyncio = wrapper == "wrap_future"
        refer = names.of_asyncio if is_asyncio else names.of_gen
        callee = refer(function, wrapper)
        # The value's own parentheses become those of the call.
        is_in = text.data[first - 1 : first] + text.data[end - 1 : end] == b"()"
        if is_in and first - 1 > start and not isinstance(value, ast.Tuple):
            yield Edit(start, first - 1, f"await {callee}")
            return
        yield Edit(start, first, f"await {callee}(")
        yield Edit(end, end, ")")
    elif isinstance(value, _LOOSE) and not _has_parentheses(function, node, value):
        yield Edit(start, first, "await (")
        yield Edit(end, end, ")")
    else:
        yield Edit(start, start + len("yield"), "await")


def _has_parentheses(function: Function, node: ast.Yield, value: ast.expr) -> bool:
    """Return whether there are parentheses around the whole value of a ``yield``."""
    text = function.module.text
    start, end = text.span(node)
    first, last = text.span(value)
    between = text.data[start + len("yield") : first]
    return b"(" in between and last < end


def _without_parentheses(
    function: Function, node: ast.Yield, start: int, end: int
) -> Iterator[Edit]:
    """Remove the parentheses around a ``yield`` unless the ``await`` needs them, too."""
    module = function.module
    data = module.text.data
    parent = module.parents[node]
    if isinstance(module.parents[parent], ast.Raise) and isinstance(parent, ast.Call):
        return  # they go with those of gen.Return
    is_needed = (
        (isinstance(parent, (ast.Attribute, ast.Subscript)) and node is parent.value)
        or (isinstance(parent, ast.Call) and node is parent.func)
        or isinstance(parent, (ast.Await, ast.Yield, ast.FormattedValue))
    )
    if is_needed or node.lineno != node.end_lineno:
        return
    if data[start - 1 : start] == b"(" and data[end : end + 1] == b")":
        # Where a keyword came right before, such as in `return(yield f())`.
        before = data[start - 2 : start - 1].decode("latin-1")
        yield Edit(start - 1, start, " " if before.isalnum() else "")
        yield Edit(end, end + 1)


def _returned(function: Function, node: ast.Raise) -> Iterator[Edit]:
    """Make ``return value`` of ``raise gen.Return(value)``."""
    text = function.module.text
    start, end = text.span(node)
    exc = node.exc
    value = None
    if isinstance(exc, ast.Call):
        value = next(iter([*exc.args, *(k.value for k in exc.keywords)]), None)
    if value is None:
        yield Edit(start, end, "return")
        return
    assert isinstance(exc, ast.Call), "it has a value"
    first, last = text.span(value)
    opening = text.span(exc.func)[1]
    before, after = text.data[opening:first], text.data[last:end]
    is_genexp = isinstance(value, ast.GeneratorExp) and first == opening
    if is_genexp:
        yield Edit(start, first, "return ")
    elif b"\n" in before + after or not _is_one_line(value, text.data[first:last]):
        # The parentheses of the call stay around a value of several lines.
        yield Edit(start, opening, "return ")
        if exc.keywords:
            keyword_start = text.span(exc.keywords[0])[0]
            yield Edit(keyword_start, first)
        if b"," in after:
            comma = last + after.index(b",")
            yield Edit(comma, comma + 1)
    else:
        yield Edit(start, first, "return ")
        yield Edit(last, end)


def _is_one_line(value: ast.expr, text: bytes) -> bool:
    """Return whether a value can stand behind a ``return`` without parentheses."""
    if isinstance(value, ast.Yield):
        text = text.removeprefix(b"yield")  # it becomes an await
    try:
        tree = ast.parse(b"def f():\n return " + text.strip())
    except SyntaxError:
        return False
    body = getattr(tree.body[0], "body", [])
    return len(tree.body) == 1 and len(body) == 1


def _without_handlers(function: Function, node: ast.Try) -> Iterator[Edit]:
    """Remove ``except gen.Return: raise``: nothing raises it any more."""
    going = [h for h in node.handlers if is_only_raised(function.module, h)]
    if len(going) == len(node.handlers) and not node.finalbody:
        return
    text = function.module.text
    for handler in going:
        start, end = text.span(handler)
        line_start, _ = text.line_at(start)
        _, line_end = text.line_at(end)
        if not text.data[end:line_end].strip():
            yield Edit(line_start, line_end)


def _is_in_handler_that_goes(function: Function, node: ast.Raise) -> bool:
    for block, _ in function.around(node):
        if isinstance(block, ast.ExceptHandler):
            return is_only_raised(function.module, block)
    return False
