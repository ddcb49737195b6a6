"""``raise gen.Return(x)`` becomes ``return x``."""

from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.porting.coroutines.decisions import decisions_of
from gencoro.porting.coroutines.raised_returns import raised_returns
from gencoro.porting.coroutines.return_classes import raised_objects
from gencoro.porting.fixer import Change, Example, Fix, Fixer
from gencoro.porting.program import Program
from gencoro.porting.source.nodes import returned

__all__ = ["RETURNS"]

CODE = "GC208"


def find(program: Program) -> Iterator[Fix]:
    """Yield the changes of raised values."""
    for conversion in decisions_of(program).conversions:
        function = conversion.function
        for node, _ in raised_returns(function):
            change = Change(node, _change)
            yield Fix(CODE, function.module, node.lineno, (change,), function)
        for node in raised_objects(function, program):
            change = Change(node, _to_value)
            yield Fix(CODE, function.module, node.lineno, (change,), function)


def _change(node: cst.Raise) -> Any:
    call = node.exc
    semicolon = node.semicolon
    if not isinstance(call, cst.Call) or not call.args:
        return cst.Return(semicolon=semicolon)
    argument = call.args[0]
    after: Any = argument.whitespace_after_arg
    if isinstance(argument.comma, cst.Comma):
        after = argument.comma.whitespace_after
    value: Any = argument.value
    bare = value
    while len(bare.lpar) == 1 and isinstance(bare, cst.Await):
        bare = bare.with_changes(lpar=[], rpar=[])
    if bare is not value and "\n" not in cst.Module(body=()).code_for_node(value):
        value = bare
    result = returned(value, call.whitespace_before_args, after)
    return result.with_changes(semicolon=semicolon)


def _to_value(node: cst.Raise) -> Any:
    assert node.exc is not None, "an object is raised"
    return cst.Return(
        cst.Attribute(node.exc, cst.Name("value")),
        whitespace_after_return=node.whitespace_after_raise,
        semicolon=node.semicolon,
    )


RETURNS = Fixer(
    CODE,
    "raise gen.Return becomes return",
    "It dates from Python 2, whose generators could not return a value.  Where a handler "
    "or a context manager would see the exception, the function is refused.",
    (
        Example(
            "Values on one line, on several, and none",
            """\
from tornado import gen

@gen.coroutine
def main(number):
    if number is None:
        raise gen.Return()
    if number < 0:
        raise gen.Return(
            {"number": number}  # negative
        )
    raise gen.Return(2 * number)
""",
            """\
async def main(number):
    if number is None:
        return
    if number < 0:
        return (
            {"number": number}  # negative
        )
    return 2 * number
""",
        ),
        Example(
            "A class that inherits from it",
            """\
from tornado import gen

class Created(gen.Return):
    def __init__(self, thing):
        super().__init__((201, thing))

@gen.coroutine
def post(thing):
    yield gen.sleep(0.01)
    raise Created(thing)
""",
            """\
from tornado import gen

class Created(gen.Return):
    def __init__(self, thing):
        super().__init__((201, thing))

async def post(thing):
    await gen.sleep(0.01)
    return Created(thing).value
""",
        ),
        Example(
            "A handler that catches it",
            """\
from tornado import gen

@gen.coroutine
def main():
    try:
        raise gen.Return((yield gen.sleep(0.01)))
    except Exception:
        raise gen.Return("failed")
""",
            refused="GC905",
        ),
        Example(
            "A context manager that may roll back",
            """\
from tornado import gen

@gen.coroutine
def main(database):
    with database.transaction():
        raise gen.Return((yield gen.sleep(0.01)))
""",
            refused="GC906",
        ),
    ),
    find,
)
