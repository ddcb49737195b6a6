"""Return annotations: ``Generator[...]`` and the like become the type of the value."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.coroutines.decisions import decisions_of
from gencoro.porting.fixer import Change, Example, Fix, Fixer
from gencoro.porting.program import Function, Program

__all__ = ["ANNOTATIONS"]

CODE = "GC210"

# The place of the value's type among the parameters of a type.
_PLACES = {
    "AsyncFuture": 0,
    "Awaitable": 0,
    "Coroutine": 2,
    "Future": 0,
    "Generator": 2,
}
_READERS = re.compile(
    rb"\b(?:__annotations__|get_annotations|get_type_hints|getfullargspec|signature)\b"
)
_TYPE_COMMENT = re.compile(r"(#\s*type:\s*\(.*\)\s*->\s*)(.+)$")
_BARE = frozenset({*_PLACES, "Iterable", "Iterator"})


def find(program: Program) -> Iterator[Fix]:
    """Yield the changes of annotations, if the program does not look at them."""
    if any(_READERS.search(module.source) for module in program.modules.values()):
        return
    for conversion in decisions_of(program).conversions:
        function = conversion.function
        returns = function.node.returns
        if returns is not None and _describes_generator(returns):
            change = Change(function.node, _change)
            yield Fix(CODE, function.module, returns.lineno, (change,), function)
        if _has_type_comment(function):
            change = Change(function.node, _change_comment)
            yield Fix(CODE, function.module, function.line, (change,), function)


def _describes_generator(node: ast.expr) -> bool:
    text = node.value if isinstance(node, ast.Constant) else ast.unparse(node)
    return isinstance(text, str) and _value_in(text) != text


def _value_in(text: str) -> str | None:
    """Return the type of the value; None if it is unknown.

    >>> _value_in("Generator[Any, Any, int]"), _value_in("gen.Future[str]")
    ('int', 'str')
    >>> _value_in("Generator"), _value_in("int")
    (None, 'int')
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return text
    inner = node.value if isinstance(node, ast.Subscript) else node
    name = ast.unparse(inner).rpartition(".")[2]
    if not isinstance(node, ast.Subscript):
        return None if name in _BARE else text
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    place = _PLACES.get(name)
    if place is None:
        return None if name in _BARE else text
    # Generator has had defaults for its last parameters since Python 3.13.
    return ast.unparse(parts[place]) if place < len(parts) else "None"


def _has_type_comment(function: Function) -> bool:
    """Return whether a comment below the ``def`` describes a generator."""
    lines = function.module.source.splitlines()
    above = lines[function.line - 1 : function.node.body[0].lineno - 1]
    found = [_TYPE_COMMENT.search(line.decode("latin-1")) for line in above]
    return any(f is not None and _value_in(f[2]) != f[2] for f in found)


def _change_comment(node: cst.FunctionDef) -> cst.FunctionDef:
    """Change the type in a comment below the ``def``."""
    body = node.body
    if not isinstance(body, cst.IndentedBlock):
        return node
    header = body.header.with_changes(comment=_changed(body.header.comment))
    first: Any = body.body[0]
    lines = [
        line.with_changes(comment=_changed(line.comment))
        for line in first.leading_lines
    ]
    first = first.with_changes(leading_lines=lines)
    return node.with_changes(
        body=body.with_changes(header=header, body=[first, *body.body[1:]])
    )


def _changed(comment: cst.Comment | None) -> cst.Comment | None:
    found = _TYPE_COMMENT.search(comment.value) if comment is not None else None
    if comment is None or found is None:
        return comment
    return comment.with_changes(value=f"{found[1]}{_value_in(found[2]) or 'Any'}")


def _change(node: cst.FunctionDef) -> cst.FunctionDef:
    returns = node.returns
    if returns is None:
        return node
    annotation: Any = returns.annotation
    is_text = isinstance(annotation, cst.SimpleString)
    code = cst.Module(body=()).code_for_node(annotation)
    value = _value_in(ast.literal_eval(code) if is_text else code)
    if value is None:
        return node.with_changes(returns=None)
    if is_text:
        quote = annotation.quote
        new: Any = annotation.with_changes(value=f"{quote}{value}{quote}")
    else:
        new = cst.parse_expression(value)
    return node.with_changes(returns=returns.with_changes(annotation=new))


ANNOTATIONS = Fixer(
    CODE,
    "the annotation of a result becomes that of its value",
    "The body of a coroutine is a generator, and a call returns a Future; what an async "
    "def returns is the value itself.",
    (
        Example(
            "A generator, a Future and a type comment",
            """\
from typing import Any, Generator
from tornado import gen

@gen.coroutine
def one() -> Generator[Any, Any, int]:
    yield gen.sleep(0.01)
    return 1

@gen.coroutine
def two() -> "gen.Future[int]":
    yield gen.sleep(0.01)
    return 2

@gen.coroutine
def three(number):
    # type: (int) -> Generator[Any, Any, int]
    yield gen.sleep(0.01)
    return 3 * number
""",
            """\
from typing import Any, Generator
from tornado import gen

async def one() -> int:
    await gen.sleep(0.01)
    return 1

async def two() -> "int":
    await gen.sleep(0.01)
    return 2

async def three(number):
    # type: (int) -> int
    await gen.sleep(0.01)
    return 3 * number
""",
        ),
    ),
    find,
)
