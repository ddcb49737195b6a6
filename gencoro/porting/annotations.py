"""Return annotations: ``Generator[...]`` and ``Future[...]`` become the type of the value.

Pure.  Used by `gencoro.porting.rewriting`.
"""

import ast
import re
from collections.abc import Iterator

from gencoro.compat.doctor.program import Function
from gencoro.compat.doctor.text import Edit

__all__ = ["edits_of_annotations"]

# The place of the value's type among the parameters of a type.
_PLACES = {
    "AsyncFuture": 0,
    "Awaitable": 0,
    "Coroutine": 2,
    "Future": 0,
    "Generator": 2,
}
_BARE = frozenset({*_PLACES, "Iterable", "Iterator"})
_TYPE_COMMENT = re.compile(rb"(#\s*type:\s*\(.*\)\s*->\s*)([^#\r\n]+?)(?=\s*(?:#|$))")


def edits_of_annotations(function: Function) -> Iterator[Edit]:
    """Yield the change of what a coroutine says that it returns."""
    text = function.module.text
    returns = function.node.returns
    if returns is not None:
        is_text = isinstance(returns, ast.Constant) and isinstance(returns.value, str)
        before = str(returns.value) if isinstance(returns, ast.Constant) else None
        value = value_in(before if is_text and before else text.of(returns))
        start, end = text.span(returns)
        if value is None:
            arrow = text.data.rindex(b"->", 0, start)
            yield Edit(arrow - (text.data[arrow - 1 : arrow] == b" "), end)
        elif value != (before if is_text else text.of(returns)):
            yield Edit(start, end, repr(value) if is_text else value)
    for number in range(function.line, function.node.body[0].lineno):
        found = _TYPE_COMMENT.search(text.line(number))
        value = value_in(found[2].decode()) if found else None
        if found and value != found[2].decode():
            start = text.offset(number, 0)
            new = value or "Any"
            yield Edit(start + found.start(2), start + found.end(2), new)


def value_in(text: str) -> str | None:
    """Return the type of the value in that of a coroutine; None if it is not known.

    >>> value_in("Generator[Any, Any, int]"), value_in("gen.Future[str]")
    ('int', 'str')
    >>> value_in("Generator"), value_in("int")
    (None, 'int')
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return text
    inner = node.value if isinstance(node, ast.Subscript) else node
    name = ast.unparse(inner).rpartition(".")[2]
    if not isinstance(node, ast.Subscript) or name not in _PLACES:
        return None if name in _BARE else text
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    place = _PLACES[name]
    # Generator has had defaults for its last parameters since Python 3.13.
    return ast.unparse(parts[place]) if place < len(parts) else "None"
