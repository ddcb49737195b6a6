"""Source of the helper functions that converted modules may need.

Rule: they need nothing but what the module imports already, so that a converted program
does not depend on gencoro.

Pure.  Used by `gencoro.porting.coroutines`, `gencoro.porting.callbacks`, the fixers and
`gencoro.porting.source.imports`.
"""

import ast

__all__ = [
    "AWAITABLE",
    "FETCH",
    "IN_BACKGROUND",
    "STARTS_AT_ONCE",
    "awaitable",
    "fetch",
    "in_background",
    "is_helper",
    "starts_at_once",
]

STARTS_AT_ONCE = "_starts_at_once"
AWAITABLE = "_awaitable"
FETCH = "_fetch"
IN_BACKGROUND = "_in_background"

# By these a second run knows the helpers.
_DOCSTRINGS = {
    AWAITABLE: "Wait for a value as a coroutine that yields it does.",
    FETCH: "Return a Future of the response; if it fails, of one with its error.",
    IN_BACKGROUND: "Raise the error of a coroutine that has failed; let the loop log a "
    "later one.",
    STARTS_AT_ONCE: "Start the body at the call, and return a Future, as gen.coroutine does.",
}


def is_helper(node: ast.AST) -> bool:
    """Return whether a definition is one that a conversion made."""
    if not isinstance(node, ast.FunctionDef) or node.name not in _DOCSTRINGS:
        return False
    return ast.get_docstring(node) == _DOCSTRINGS[node.name]


def starts_at_once(decorator: str) -> str:
    """Return a decorator that makes a coroutine of an ``async def``.

    It runs the body step by step: an ``await`` marks its Future, which nothing else can
    await until the mark is removed, and Tornado's Runner does not remove it.  What it wraps
    is hidden: since Python 3.13 a mock asks for that, and makes an ``AsyncMock`` of it.

    Args:
        decorator: The expression for the decorator that does so for generators.
    """
    return f'''\
def {STARTS_AT_ONCE}(function):
    """{_DOCSTRINGS[STARTS_AT_ONCE]}"""

    @{decorator}
    @functools.wraps(function)
    def start(*args, **kwargs):
        body, error = function(*args, **kwargs), None
        while True:
            try:
                future = body.send(None) if error is None else body.throw(error)
            except StopIteration as end:
                return end.value
            finally:
                error = None
            if future is not None:
                future._asyncio_future_blocking = False
            try:
                yield future
            except BaseException as thrown:
                error = thrown

    del start.__wrapped__.__wrapped__
    start.__wrapped__.__signature__ = inspect.signature(function)
    return start
'''


def awaitable(gen: str) -> str:
    """Return a function that waits for any value that a coroutine may yield.

    It asks a Future for its result, which an ``await`` of a subclass does not.  Tornado
    itself leaves a Future of concurrent.futures as it is, which cannot be awaited, and only a
    coroutine that yields it wakes the loop when its thread is done.

    Args:
        gen: The expression for the module ``gen``.
    """
    return f'''\
@types.coroutine
def {AWAITABLE}(value):
    """{_DOCSTRINGS[AWAITABLE]}"""
    future = {gen}.convert_yielded(value)
    if future is {gen}.convert_yielded(None):
        yield
        return None
    if not hasattr(future, "__await__"):

        @{gen}.coroutine
        def waiting():
            return (yield value)

        future = waiting()
    yield from future.__await__()
    return future.result()
'''


def fetch(gen: str, httpclient: str, time: str) -> str:
    """Return a function that fetches, and gives an error as a callback got it.

    Args:
        gen: The expression for the module ``gen``.
        httpclient: The expression for ``tornado.httpclient``.
        time: The expression for the function ``time.time``.
    """
    return f'''\
def {FETCH}(client, request, **kwargs):
    """{_DOCSTRINGS[FETCH]}"""
    if not isinstance(request, {httpclient}.HTTPRequest):
        request = {httpclient}.HTTPRequest(request, **kwargs)
        kwargs = {{}}
    fetching = client.fetch(request, **kwargs)

    @{gen}.coroutine
    def fetched():
        try:
            return (yield fetching)
        except Exception as error:
            if isinstance(error, {httpclient}.HTTPError) and error.response is not None:
                return error.response
            took = {time}() - request.start_time
            return {httpclient}.HTTPResponse(request, 599, error=error, request_time=took)

    return fetched()
'''


def in_background(loop: str) -> str:
    """Return a function that gives the errors of a coroutine to what those of an engine go.

    Args:
        loop: The expression for ``IOLoop``.
    """
    return f'''\
def {IN_BACKGROUND}(future):
    """{_DOCSTRINGS[IN_BACKGROUND]}"""
    if future.done():
        future.result()
    else:
        {loop}.current().add_future(future, lambda future: future.result())
'''
