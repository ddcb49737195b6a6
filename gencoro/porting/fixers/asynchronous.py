"""``web.asynchronous`` above a coroutine or an engine is left out."""

import ast
from collections.abc import Iterator
from typing import Any

from gencoro.porting.candidates import COROUTINE
from gencoro.porting.finishing import ends_each_path
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.legacy import (
    as_coroutine,
    legacy_refusal,
    may_start_callbacks,
)
from gencoro.porting.program import Function, Program
from gencoro.porting.references import references_of
from gencoro.porting.trees import without_decorator

__all__ = ["ASYNCHRONOUS"]

CODE = "GC103"

_ASYNCHRONOUS = "tornado.web.asynchronous"
_ENGINE = "tornado.gen.engine"

# Methods of a handler that finish the answer.
_FINISHERS = frozenset({"finish", "redirect", "render", "send_error"})


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the handlers that need the decorator no longer."""
    for function in program.functions:
        decorators = list(function.decorators())
        for place, (decorator, names) in enumerate(decorators):
            if names == {_ASYNCHRONOUS} and function.outer.is_certain(decorator):
                below = [n for _, n in decorators[place + 1 :]]
                yield _of_function(program, function, place, below)


def _of_function(
    program: Program, function: Function, place: int, below: list[set[str]]
) -> Fix | Refusal:
    refused = _problem(program, function, below)
    if refused:
        reason, name = refused
        return legacy_refusal(function.module, function.node, reason, name, function)
    coroutine = as_coroutine(function, place + 1) if below == [{_ENGINE}] else None
    if below == [{_ENGINE}] and coroutine is None:
        return legacy_refusal(
            function.module, function.node, "name-taken", "gen", function
        )

    def change(node: Any) -> Any:
        if coroutine is not None:
            node = coroutine.change(node)
        return without_decorator(node, place)

    changes = (Change(function.node, change),)
    imports = coroutine.imports if coroutine is not None else ()
    return Fix(CODE, function.module, function.line, changes, function, imports)


def _problem(
    program: Program, function: Function, below: list[set[str]]
) -> tuple[str, str] | None:
    """Return the reason for which a handler stays, and what the reason names."""
    if below not in ([{COROUTINE}], [{_ENGINE}]):
        return "callback-style", ""
    started = may_start_callbacks(program, function)
    if started:
        return "callbacks", started
    if below == [{COROUTINE}]:
        return None
    if _FINISHERS & program.functions_by_name.keys():
        return "unfinished", "the program overrides finish() or the like"
    if not ends_each_path(function, _finishes):
        return "unfinished", "as far as can be seen"
    used = _own_use(program, function)
    return ("used-otherwise", used) if used else None


def _finishes(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))
        ):
            return name in _FINISHERS
    return False


def _own_use(program: Program, function: Function) -> str:
    """Return a use of a method by the program itself; empty if there is none."""
    for use in references_of(program).of(function):
        text = ast.unparse(use.node)
        if use.is_resolved or text.startswith(("self.", "super(")):
            return text
    return ""


ASYNCHRONOUS = Fixer(
    CODE,
    "web.asynchronous above a coroutine or an engine is left out",
    "A coroutine needs no decorator to be waited for.  An engine becomes a coroutine if "
    "each path through it ends with finish() or the like, because the answer of a "
    "coroutine is finished when it ends; its callbacks must be waited for, because "
    "asynchronous gave their errors to the handler.",
    (
        Example(
            "A coroutine and an engine",
            """\
from tornado import gen, web

class One(web.RequestHandler):
    @web.asynchronous
    @gen.coroutine
    def get(self):
        yield gen.sleep(0.01)
        self.write("one")

class Two(web.RequestHandler):
    @web.asynchronous
    @gen.engine
    def get(self):
        yield gen.sleep(0.01)
        self.write("two")
        self.finish()
""",
            """\
from tornado import gen, web

class One(web.RequestHandler):
    @gen.coroutine
    def get(self):
        yield gen.sleep(0.01)
        self.write("one")

class Two(web.RequestHandler):
    @gen.coroutine
    def get(self):
        yield gen.sleep(0.01)
        self.write("two")
        self.finish()
""",
        ),
        Example(
            "A handler in callback style",
            """\
from tornado import web
from mylib import store

class Item(web.RequestHandler):
    @web.asynchronous
    def get(self):
        store.load(self.finish)
""",
            """\
from tornado import web
from mylib import store

class Item(web.RequestHandler):
    @web.asynchronous
    def get(self):
        store.load(self.finish)
""",
            refused="GC954",
        ),
        Example(
            "A path that does not finish the answer",
            """\
from tornado import gen, web

class Item(web.RequestHandler):
    @web.asynchronous
    @gen.engine
    def get(self):
        yield gen.sleep(0.01)
        if self.get_argument("now", None):
            self.finish()
""",
            """\
from tornado import gen, web

class Item(web.RequestHandler):
    @web.asynchronous
    @gen.engine
    def get(self):
        yield gen.sleep(0.01)
        if self.get_argument("now", None):
            self.finish()
""",
            refused="GC952",
        ),
        Example(
            "A callback whose errors the handler gets",
            """\
from tornado import gen, ioloop, web

class Item(web.RequestHandler):
    @web.asynchronous
    @gen.coroutine
    def get(self):
        ioloop.IOLoop.current().call_later(1, self.log)
        yield gen.sleep(0.01)
""",
            """\
from tornado import gen, ioloop, web

class Item(web.RequestHandler):
    @web.asynchronous
    @gen.coroutine
    def get(self):
        ioloop.IOLoop.current().call_later(1, self.log)
        yield gen.sleep(0.01)
""",
            refused="GC953",
        ),
    ),
    find,
)
