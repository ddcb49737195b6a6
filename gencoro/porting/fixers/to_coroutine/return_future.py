"""``return_future`` becomes ``gen.coroutine``, and the callback value the result."""

import ast
from collections.abc import Iterator

from gencoro.porting.callbacks.callback_functions import (
    CALLBACK,
    calls_of,
    is_task,
    takes_callback,
)
from gencoro.porting.callbacks.callback_starts import may_start_callbacks
from gencoro.porting.callbacks.legacy import as_coroutine, function_refusal
from gencoro.porting.callbacks.tail_calls import fix_of_function, tails_of
from gencoro.porting.coroutines.context_variables import sets_context
from gencoro.porting.fixer import Example, Fix, Fixer, Refusal
from gencoro.porting.program import Function, Module, Program
from gencoro.porting.source.helpers import fetch

__all__ = ["RETURN_FUTURES"]

CODE = "GC112"

_RETURN_FUTURE = "tornado.concurrent.return_future"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the functions that become coroutines."""
    for function in program.functions:
        decorators = [names for _, names in function.decorators()]
        if _RETURN_FUTURE in {name for names in decorators for name in names}:
            if decorators == [{_RETURN_FUTURE}]:
                yield _of_function(program, function)
            else:
                name = ast.unparse(function.node.decorator_list[0])
                yield function_refusal(function, "return-future", name)


def _of_function(program: Program, function: Function) -> Fix | Refusal:
    is_plain = isinstance(function.node, ast.FunctionDef) and not function.is_generator
    tails = None
    if is_plain and takes_callback(function):
        tails = tails_of(program, function, CALLBACK)
    if tails is None:
        return function_refusal(function, "callback-use")
    apart_from = {tail.call for tail in tails if tail.call is not None}
    if sets_context(function, program):
        return function_refusal(function, "sets-context")
    started = may_start_callbacks(program, function, apart_from)
    if started:
        return function_refusal(function, "callbacks", started)
    used = calls_of(program, function, _is_yielded_or_task)
    if isinstance(used, str):
        return function_refusal(function, "future-kept", used)
    coroutine = as_coroutine(function, 0)
    if coroutine is None:
        return function_refusal(function, "name-taken", "gen")
    return fix_of_function(CODE, function, coroutine, tails)


def _is_yielded_or_task(module: Module, call: ast.Call, function: ast.expr) -> bool:
    """Return whether an error that a call raises at once comes at a ``yield``."""
    if is_task(module, call, function):
        return True
    is_yielded = call.func is function and isinstance(module.parents[call], ast.Yield)
    has_stars = any(isinstance(argument, ast.Starred) for argument in call.args)
    words = {keyword.arg for keyword in call.keywords}
    return is_yielded and not has_stars and not words & {None, CALLBACK}


RETURN_FUTURES = Fixer(
    CODE,
    "return_future becomes gen.coroutine",
    "Only if each path through the function ends with its callback, or with a fetch, a "
    "timer or a coroutine that gets it.  Where the function is called, its Future must be "
    "yielded at once, because an error that it raises itself came from the call.",
    (
        Example(
            "A function that fetches, and one that has the value",
            """\
import json
from tornado import gen, httpclient
from tornado.concurrent import return_future

class Users:
    def __init__(self):
        self.client = httpclient.AsyncHTTPClient()
        self.cache = {}

    @return_future
    def load(self, url, callback):
        if url in self.cache:
            callback(self.cache[url])
            return

        def on_response(response):
            response.rethrow()
            callback(json.loads(response.body))

        self.client.fetch(url, on_response)

@gen.coroutine
def main():
    print((yield Users().load("http://localhost/")))
""",
            """\
import time
import json
from tornado import gen, httpclient

"""
            + fetch("gen", "httpclient", "time.time")
            + """\

class Users:
    def __init__(self):
        self.client = httpclient.AsyncHTTPClient()
        self.cache = {}

    @gen.coroutine
    def load(self, url):
        if url in self.cache:
            return self.cache[url]

        def on_response(response):
            response.rethrow()
            return json.loads(response.body)

        return on_response((yield _fetch(self.client, url)))

@gen.coroutine
def main():
    print((yield Users().load("http://localhost/")))
""",
        ),
        Example(
            "A Future that is kept",
            """\
from tornado import gen
from tornado.concurrent import return_future

@return_future
def double(number, callback):
    callback(2 * number)

@gen.coroutine
def main():
    future = double(21)
    print((yield future))
""",
            refused="GC967",
        ),
        Example(
            "A callback of another package",
            """\
from tornado import gen
from tornado.concurrent import return_future
from mylib import store

@return_future
def load(key, callback):
    store.load(key, callback)

@gen.coroutine
def main():
    print((yield load("key")))
""",
            refused="GC955",
        ),
    ),
    find,
)
