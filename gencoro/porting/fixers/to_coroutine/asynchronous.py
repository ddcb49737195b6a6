"""``web.asynchronous`` is removed; the handler becomes a coroutine if necessary."""

import ast
from collections.abc import Iterator

from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.finished_answers import (
    FINISHERS,
    finishes_on_each_path,
)
from gencoro.porting.callbacks.legacy import (
    as_coroutine,
    function_refusal,
)
from gencoro.porting.callbacks.request_handlers import Answer, answers_of
from gencoro.porting.coroutines.candidates import COROUTINE
from gencoro.porting.coroutines.decorators import forwards_result
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Function, Program
from gencoro.porting.program.inheritance import VERBS
from gencoro.porting.program.references import references_of
from gencoro.porting.source.helpers import fetch
from gencoro.porting.source.nodes import without_decorator

__all__ = ["ASYNCHRONOUS"]

CODE = "GC103"

_ASYNCHRONOUS = "tornado.web.asynchronous"
_ENGINE = "tornado.gen.engine"


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
    answers = None
    if not below and not function.is_generator:
        answers = answers_of(program, function)
    becomes_coroutine = bool(answers) or below == [{_ENGINE}]
    refused = _problem(program, function, below, answers)
    if not refused and (becomes_coroutine or below):
        refused = _unknown_above(program, function, place)
    if refused:
        return function_refusal(function, *refused)
    coroutine = None
    if becomes_coroutine:
        coroutine = as_coroutine(function, place + len(below))
        if coroutine is None:
            return function_refusal(function, "name-taken", "gen")
    changes = [] if coroutine is None else [coroutine]
    if answers:
        changes += [change for answer in answers for change in answer.changes]
    else:
        changes.append(Change(function.node, lambda n: without_decorator(n, place)))
    return Fix(CODE, function.module, function.line, tuple(changes), function)


def _problem(
    program: Program,
    function: Function,
    below: list[set[str]],
    answers: list[Answer] | None,
) -> tuple[str, str] | None:
    """Return the reason for which a handler stays, and what the reason names."""
    if below not in ([], [{COROUTINE}], [{_ENGINE}]):
        return "callback-style", ""
    is_verb = function.node.name in VERBS  # others are not waited for
    if below != [{COROUTINE}] and not is_verb or not below and answers is None:
        return "callback-style", ""
    apart_from = {answer.call for answer in answers or ()}
    started = may_start_callbacks(program, function, apart_from)
    if started:
        return "callbacks", started
    used = _own_use(program, function)
    if used:
        return "handler-used", used
    if below == [{COROUTINE}]:
        return None
    if FINISHERS & program.functions_by_name.keys():
        return "unfinished", "the program overrides finish() or the like"
    if below and not finishes_on_each_path(program, function):
        return "unfinished", "as far as can be seen"
    return None


def _unknown_above(
    program: Program, function: Function, place: int
) -> tuple[str, str] | None:
    """Return a decorator above that may do something with the Future, as `_problem` does."""
    for number, (decorator, _) in enumerate(list(function.decorators())[:place]):
        if not forwards_result(program, function, number):
            return "decorator-above", f"@{ast.unparse(decorator)}"
    return None


def _own_use(program: Program, function: Function) -> str:
    """Return a use of a method by the program itself; empty if there is none."""
    references = references_of(program)
    if references.lookups.may_find(function):
        return f"by the name {function.node.name!r}"
    for use in references.of(function):
        text = ast.unparse(use.node)
        owner = ast.unparse(getattr(use.node, "value", use.node))
        if use.is_resolved or owner == "self" or owner.startswith("super("):
            return text
    return ""


ASYNCHRONOUS = Fixer(
    CODE,
    "web.asynchronous is left out, and its handler becomes a coroutine",
    "A coroutine needs no decorator to be waited for.  An engine becomes a coroutine if "
    "each path through it calls finish() or the like, because the answer of a "
    "coroutine is finished when it ends; its callbacks must be waited for, because "
    "asynchronous gave their errors to the handler.  A handler in callback style becomes a "
    "coroutine if the last thing that it does is to pass a method, a function inside it, a "
    "partial of these, or a lambda to a fetch, a timer or a coroutine, and each path through "
    "that finishes the answer.  A statement may follow if no error can come from it; a "
    "``try`` around the call catches what it caught before.  A decorator above it gets the "
    "Future, so it must return what it gets.",
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
            "Handlers that answer in a callback",
            """\
from tornado import gen, httpclient, web

class Page(web.RequestHandler):
    @web.asynchronous
    def get(self):
        client = httpclient.AsyncHTTPClient()
        client.fetch("http://localhost/", callback=self.on_response)

    @web.asynchronous
    def post(self):
        client = httpclient.AsyncHTTPClient()
        try:
            url = self.get_argument("url")
            client.fetch(url, callback=self.on_response)
        except UnicodeError:
            self.send_error(400)

    def on_response(self, response):
        if response.error:
            raise web.HTTPError(500)
        self.write(response.body)
        self.finish()
""",
            """\
import time
from tornado import gen, httpclient, web

"""
            + fetch("gen", "httpclient", "time.time")
            + """\

class Page(web.RequestHandler):
    @gen.coroutine
    def get(self):
        client = httpclient.AsyncHTTPClient()
        self.on_response((yield _fetch(client, "http://localhost/")))

    @gen.coroutine
    def post(self):
        client = httpclient.AsyncHTTPClient()
        try:
            url = self.get_argument("url")
            future = _fetch(client, url)
        except UnicodeError:
            self.send_error(400)
        else:
            self.on_response((yield future))

    def on_response(self, response):
        if response.error:
            raise web.HTTPError(500)
        self.write(response.body)
        self.finish()
""",
        ),
        Example(
            "Handlers that answer after a while, and in the next turn of the loop",
            """\
import time
from tornado import gen, ioloop, web

class Slow(web.RequestHandler):
    @web.asynchronous
    def get(self):
        ioloop.IOLoop.current().add_timeout(time.time() + 1, self.on_timer)

    def on_timer(self):
        self.finish("slow")

class Next(web.RequestHandler):
    @web.asynchronous
    def get(self):
        ioloop.IOLoop.current().add_callback(lambda: self.finish("next"))
""",
            """\
import time
from tornado import gen, ioloop, web

class Slow(web.RequestHandler):
    @gen.coroutine
    def get(self):
        yield gen.sleep(1)
        self.on_timer()

    def on_timer(self):
        self.finish("slow")

class Next(web.RequestHandler):
    @gen.coroutine
    def get(self):
        yield gen.moment
        self.finish("next")
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
            refused="GC952",
        ),
        Example(
            "A method that a class of another package may have",
            """\
from tornado import gen, web
from mylib import Base

class Item(Base):
    @web.asynchronous
    @gen.engine
    def get(self):
        yield gen.sleep(0.01)
        self.done()

class Other(Base):
    def done(self):
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
            refused="GC953",
        ),
        Example(
            "A decorator above that drops the result",
            """\
from tornado import gen, web

def logged(method):
    def wrapper(self):
        method(self)
    return wrapper

class Item(web.RequestHandler):
    @logged
    @web.asynchronous
    @gen.coroutine
    def get(self):
        yield gen.sleep(0.01)
""",
            refused="GC971",
        ),
    ),
    find,
)
