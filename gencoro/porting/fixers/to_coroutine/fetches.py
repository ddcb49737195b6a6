"""A fetch with a callback, or in a Task, becomes one that returns a Future."""

import ast
from collections.abc import Iterator

from gencoro.porting.callbacks.fetches import (
    fetch_of,
    has_other_loops,
    is_client_fetch,
    task_of_fetch,
)
from gencoro.porting.callbacks.future_callbacks import given_to_loop
from gencoro.porting.callbacks.legacy import calls, is_yielded, legacy_refusal
from gencoro.porting.fixer import Change, Example, Fix, Fixer, Refusal
from gencoro.porting.program import Module, Program

__all__ = ["FETCHES"]

CODE = "GC109"

_ASYNCHRONOUS = "tornado.web.asynchronous"
_TASK = "tornado.gen.Task"


def find(program: Program) -> Iterator[Fix | Refusal]:
    """Yield the fetches that lose their callback.

    A yielded key is left to its fixer, and so is a handler that answers in its callbacks.
    """
    for module, task in calls(program, _TASK):
        if task.args and is_client_fetch(module, task.args[0]):
            yield _of_task(program, module, task)
    for module in program.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Call) and _has_callback(module, node):
                yield _of_call(program, module, node)


def _has_callback(module: Module, call: ast.Call) -> bool:
    values = [k.value for k in call.keywords if k.arg == "callback"] + call.args[1:]
    is_key = any(isinstance(value, ast.Yield) for value in values)
    if not values or is_key or not is_client_fetch(module, call.func):
        return False
    function = module.function_at(call)
    return function is None or not function.has_decorator(_ASYNCHRONOUS)


def _of_task(program: Program, module: Module, task: ast.Call) -> Fix | Refusal:
    found = task_of_fetch(program, module, task)
    if found is None or not is_yielded(module, task):
        name = ast.unparse(task.args[0])
        return legacy_refusal(module, task, "library-callback", name)
    if not found.helpers:
        return legacy_refusal(module, task, "name-taken", found.taken)
    change = Change(task, found.change, "", found.imports, found.helpers)
    return Fix(CODE, module, task.lineno, (change,))


def _of_call(program: Program, module: Module, call: ast.Call) -> Fix | Refusal:
    found = fetch_of(program, module, call)
    # The callback is called by the client's loop.
    if found is None or found.callback is None or has_other_loops(program):
        name = ast.unparse(call.func)
        return legacy_refusal(module, call, "library-callback", name)
    if not found.helpers:
        return legacy_refusal(module, call, "name-taken", found.taken)
    given = given_to_loop(program, module, call, found.callback, found.change)
    if isinstance(given, Refusal):
        return given
    imports = (*found.imports, *given.imports)
    change = given._replace(imports=imports, helpers=found.helpers)
    return Fix(CODE, module, call.lineno, (change,))


FETCHES = Fixer(
    CODE,
    "fetch with a callback, or in a Task, becomes fetch with a Future",
    "A callback always gets a response: if there is no answer, one with the code 599 "
    "and the error.  A Future raises the error; the function ``_fetch``, which is added to the "
    "module, catches it.  Where an error cannot happen, or should be raised, yield "
    "``client.fetch(...)`` itself.",
    (
        Example(
            "A Task, and a callback",
            """\
from tornado import gen
from tornado.httpclient import AsyncHTTPClient

@gen.coroutine
def main(url):
    client = AsyncHTTPClient()
    response = yield gen.Task(client.fetch, url, method="HEAD")
    client.fetch(url, show)

def show(response):
    print(response.error or response.body)
""",
            """\
import time
from tornado import httpclient
from tornado.ioloop import IOLoop
from tornado import gen
from tornado.httpclient import AsyncHTTPClient

def _fetch(client, request, **kwargs):
    \"""Return a Future of the response; if it fails, of one with its error.\"""
    if not isinstance(request, httpclient.HTTPRequest):
        request = httpclient.HTTPRequest(request, **kwargs)
        kwargs = {}
    fetching = client.fetch(request, **kwargs)

    @gen.coroutine
    def fetched():
        try:
            return (yield fetching)
        except Exception as error:
            if isinstance(error, httpclient.HTTPError) and error.response is not None:
                return error.response
            took = time.time() - request.start_time
            return httpclient.HTTPResponse(request, 599, error=error, request_time=took)

    return fetched()

@gen.coroutine
def main(url):
    client = AsyncHTTPClient()
    response = yield _fetch(client, url, method="HEAD")
    IOLoop.current().add_future(_fetch(client, url), lambda future: show(future.result()))

def show(response):
    print(response.error or response.body)
""",
        ),
        Example(
            "A fetch that returns a Future",
            """\
from tornado import gen
from tornado.httpclient import AsyncHTTPClient

@gen.coroutine
def main(url):
    response = yield AsyncHTTPClient().fetch(url, raise_error=False)
""",
        ),
        Example(
            "A client that may be another object",
            """\
from tornado.httpclient import AsyncHTTPClient

class Shop:
    client = AsyncHTTPClient()

    def __init__(self, client=None):
        if client is not None:
            self.client = client

    def load(self, url):
        self.client.fetch(url, callback=self.show)

    def show(self, response):
        print(response.code)
""",
            refused="GC960",
        ),
    ),
    find,
)
