"""Tests that were written for Tornado 5 get a comment that says so."""

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from gencoro.compat.doctor.eras import MARK
from gencoro.porting.callbacks.modernized_tests import tests_needing_era
from gencoro.porting.fixer import Change, Example, Fix, Fixer
from gencoro.porting.program import Module, Program

__all__ = ["TEST_ERAS"]

CODE = "GC117"


def find(program: Program) -> Iterator[Fix]:
    """Yield the comments of the modules whose tests need them."""
    for path in program.legacy_before:
        module = program.modules[path]
        place = _place(module)
        if place is not None and tests_needing_era(program, path, was_legacy=True):
            kind = "" if hasattr(place, "body") else "SimpleStatementLine"
            change = Change(place, _with_comment, kind)
            yield Fix(CODE, module, place.lineno, (change,))


def _place(module: Module) -> ast.stmt | None:
    """Return the first statement after the docstring that begins a line."""
    last = 0
    for statement in module.tree.body:
        is_text = isinstance(statement, ast.Expr) and not last
        if not is_text and statement.lineno > last:
            return statement
        last = statement.end_lineno or statement.lineno
    return None


def _with_comment(node: Any) -> Any:
    comment = cst.EmptyLine(indent=False, comment=cst.Comment(MARK))
    return node.with_changes(leading_lines=[*node.leading_lines, comment])


TEST_ERAS = Fixer(
    CODE,
    "tests of Tornado 5 get a comment that says so",
    "With `gencoro.compat`, the error of a callback fails a test only in a module that uses "
    "something of Tornado 5, or has this comment.  It is written where a conversion removes "
    "the last such use from tests that may need that; it has no meaning without "
    "`gencoro.compat`.",
    (
        Example(
            "A test that starts a callback",
            """\
from tornado import gen
from tornado.testing import AsyncTestCase, gen_test

class Test(AsyncTestCase):
    @gen_test
    def test(self):
        done = []
        self.io_loop.add_callback(lambda: done.append(1))
        yield gen.Task(self.io_loop.add_callback)
        self.assertEqual(done, [1])
""",
            """\
# gencoro: tests of Tornado 5
from tornado import gen
from tornado.testing import AsyncTestCase, gen_test

class Test(AsyncTestCase):
    @gen_test
    def test(self):
        done = []
        self.io_loop.add_callback(lambda: done.append(1))
        yield gen.moment
        yield gen.moment
        self.assertEqual(done, [1])
""",
        ),
        Example(
            "A test that starts no callback",
            """\
from tornado import gen
from tornado.testing import AsyncTestCase, gen_test

class Test(AsyncTestCase):
    @gen_test
    def test(self):
        yield gen.Task(self.io_loop.add_callback)
""",
            """\
from tornado import gen
from tornado.testing import AsyncTestCase, gen_test

class Test(AsyncTestCase):
    @gen_test
    def test(self):
        yield gen.moment
        yield gen.moment
""",
        ),
    ),
    find,
)
