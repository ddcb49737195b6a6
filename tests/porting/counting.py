"""Which coroutines a source has, and what has become of them: read from the sources alone.

Rule: the converter is not asked, so that it cannot praise itself.  A coroutine is *bare* if it
is an ``async def`` with the decorators it had before, without that of the coroutine.

>>> before = coroutines_in("from tornado import gen\\n@gen.coroutine\\ndef f():\\n    yield g()\\n")
>>> after = functions_in("async def f():\\n    await g()\\n")
>>> [fate_of(coroutine, after.get(key)) for key, coroutine in before.items()]
['bare']
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

__all__ = [
    "Function",
    "coroutines_in",
    "fate_of",
    "functions_in",
    "is_test",
]

# Modules with another thing of that name.
NOT_TORNADO = frozenset({"asyncio", "types", "trollius"})

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Key = tuple[str, int]


class Function(NamedTuple):
    """A function of a source.

    Attributes:
        is_async: Whether it is an ``async def``.
        has_yield: Whether it has a ``yield`` of its own.
        line: The line of its first decorator.
        decorators: Each as it is written.
    """

    is_async: bool
    has_yield: bool
    line: int
    decorators: tuple[str, ...]


def functions_in(source: str | bytes) -> dict[Key, Function]:
    """Return the functions by qualified name, and which of that name it is.

    Raises:
        SyntaxError: this Python cannot read the source.
    """
    found: dict[Key, Function] = {}
    for name, node in _walk(ast.parse(source), ""):
        number = sum(other == name for other, _ in found)
        decorators = tuple(map(ast.unparse, node.decorator_list))
        line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        is_async = isinstance(node, ast.AsyncFunctionDef)
        has_yield = any(map(_has_yield, node.body))
        found[name, number] = Function(is_async, has_yield, line, decorators)
    return found


def coroutines_in(source: str | bytes) -> dict[Key, Function]:
    """Return the functions with ``gen.coroutine``, and the tests with ``gen_test`` alone."""
    others = _imported_from_elsewhere(ast.parse(source))
    return {
        key: function
        for key, function in functions_in(source).items()
        if not function.is_async
        and any(_is_tornados(decorator, others) for decorator in function.decorators)
    }


def is_test(function: Function) -> bool:
    """Return whether a function is decorated with ``gen_test``, and not as a coroutine."""
    last = {_last_name(decorator) for decorator in function.decorators}
    return "gen_test" in last and "coroutine" not in last


def fate_of(before: Function, after: Function | None) -> str:
    """Return what became of a coroutine.

    ``bare``, ``left``, ``gone``, ``wrapped`` (it has another decorator instead), or
    ``generator``, which is a defect: its ``yield`` makes it an asynchronous generator.
    """
    if after is None:
        return "gone"
    if not after.is_async:
        return "left"
    if after.has_yield:
        return "generator"
    kept = [d for d in before.decorators if _last_name(d) != "coroutine"]
    return "bare" if list(after.decorators) == kept else "wrapped"


def _walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, FunctionNode]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FunctionNode):
            yield prefix + child.name, child
            yield from _walk(child, f"{prefix}{child.name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _walk(child, f"{prefix}{child.name}.")
        else:
            yield from _walk(child, prefix)


def _has_yield(node: ast.AST) -> bool:
    if isinstance(node, FunctionNode | ast.ClassDef | ast.Lambda):
        return False
    is_yield = isinstance(node, ast.Yield | ast.YieldFrom)
    return is_yield or any(map(_has_yield, ast.iter_child_nodes(node)))


def _last_name(decorator: str) -> str:
    return decorator.partition("(")[0].rpartition(".")[2]


def _is_tornados(decorator: str, others: set[str]) -> bool:
    names = ("coroutine", "gen_test")
    return _last_name(decorator) in names and not others.intersection(
        (decorator.partition(".")[0], decorator.partition("(")[0])
    )


def _imported_from_elsewhere(tree: ast.Module) -> set[str]:
    """Return names of other things: asyncio's, and a package's own ``gen_test``."""
    names = {*NOT_TORNADO, "pytest", "mark"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            is_tornado = "tornado" in module or module.startswith("gencoro")
            names.update(
                alias.asname or alias.name
                for alias in node.names
                if module in NOT_TORNADO or alias.name == "gen_test" and not is_tornado
            )
    return names
