"""HTTP fetches with a callback or in a Task, and the helper ``_fetch`` that replaces them.

Rule: the method must certainly be that of a client, and have arguments that the helper
takes.

Pure.  Used by `gencoro.porting.callbacks` and the fixers for ``--to coroutine``.
"""

import ast
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import libcst as cst

from gencoro.porting.callbacks.legacy import calls
from gencoro.porting.program import Module, Program
from gencoro.porting.program.receivers import certain_method
from gencoro.porting.source.helpers import FETCH, fetch
from gencoro.porting.source.imports import (
    function_of_library,
    is_free_in,
    module_reference,
)
from gencoro.porting.source.nodes import ended_like

__all__ = ["Fetch", "fetch_of", "has_other_loops", "is_client_fetch", "task_of_fetch"]

_FETCH = "tornado.httpclient.AsyncHTTPClient.fetch"

_CLIENTS = (
    "tornado.curl_httpclient.CurlAsyncHTTPClient",
    "tornado.httpclient.AsyncHTTPClient",
    "tornado.simple_httpclient.SimpleAsyncHTTPClient",
)


class Fetch(NamedTuple):
    """A fetch whose response, or error, the helper returns as a Future.

    Attributes:
        callback: Its callback; None in a Task, which has none.
        change: Returns the call of the helper for the node of LibCST of the call.
        imports, helpers: What the module needs; empty if a name is taken there.
        taken: That name.
    """

    callback: ast.expr | None
    change: Callable[[Any], Any]
    imports: tuple[str, ...]
    helpers: tuple[str, ...]
    taken: str = ""


def is_client_fetch(module: Module, node: ast.expr) -> bool:
    """Return whether an expression may be the method of a client."""
    return _FETCH in {thing.name for thing in module.things(node)}


@functools.lru_cache(maxsize=1)
def has_other_loops(program: Program) -> bool:
    """Return whether clients are made for a loop that may not be the current one."""
    return any(
        call.args or any(keyword.arg == "io_loop" for keyword in call.keywords)
        for _, call in calls(program, *_CLIENTS)
    )


def fetch_of(program: Program, module: Module, call: ast.Call) -> Fetch | None:
    """Return a fetch with a callback; None if the call is not certainly one."""
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    callback = words.get("callback")
    place = None
    if callback is None and len(call.args) == 2:
        callback, place = call.args[1], 1
    count = len(call.args) - (place is not None)
    if callback is None or not _is_client(program, module, call.func):
        return None
    if not _is_simple(call.args, words, count):
        return None

    def change(node: Any) -> Any:
        args = [arg for i, arg in enumerate(node.args) if i != place]
        return _call_of_helper(node, node.func, args)

    return _fetch(module, call, callback, change)


def task_of_fetch(program: Program, module: Module, task: ast.Call) -> Fetch | None:
    """Return the fetch of a Task; None if it is not certainly one."""
    words = {keyword.arg: keyword.value for keyword in task.keywords}
    func, *args = task.args
    if "callback" in words or not _is_client(program, module, func):
        return None
    if not _is_simple(args, words, len(args)):
        return None

    def change(node: Any) -> Any:
        return _call_of_helper(node, node.args[0].value, node.args[1:])

    return _fetch(module, task, None, change)


def _is_simple(
    args: list[ast.expr], words: dict[str | None, ast.expr], count: int
) -> bool:
    """Return whether the helper takes the arguments of a fetch.

    Args:
        count: How many arguments there are by position, without the callback.
    """
    has_stars = None in words or any(isinstance(arg, ast.Starred) for arg in args)
    has_request = count == (0 if "request" in words else 1)
    takes_them = not {"client", "raise_error"} & words.keys()
    return has_request and takes_them and not has_stars


def _is_client(program: Program, module: Module, func: ast.expr) -> bool:
    return certain_method(program, module, func) == _FETCH


def _fetch(
    module: Module, call: ast.Call, callback: ast.expr | None, change: Any
) -> Fetch:
    gen = module_reference("tornado.gen", module)
    client = module_reference("tornado.httpclient", module)
    time = function_of_library("time", "time", module)
    is_free = is_free_in(FETCH, module, module.scope_at(call))
    needed = {"gen": gen.text, "httpclient": client.text, "time": time.text}
    for name, found in {**needed, FETCH: is_free}.items():
        if not found:
            return Fetch(callback, change, (), (), name)
    imports = (*gen.imports, *client.imports, *time.imports)
    return Fetch(callback, change, imports, (fetch(gen.text, client.text, time.text),))


def _call_of_helper(node: Any, func: Any, args: Any) -> Any:
    kept = [a for a in args if not (a.keyword and a.keyword.value == "callback")]
    if kept:
        kept[-1] = ended_like(kept[-1], node.args[-1])
    return node.with_changes(func=cst.Name(FETCH), args=[cst.Arg(func.value), *kept])
