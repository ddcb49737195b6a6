"""``@coroutine``: makes a generator function return a Future.

The body starts at once.  If it ends before its first yield, its Future is already done and
no Runner is created (except in debug mode).
"""

import asyncio
import contextvars
import functools
import inspect
import types
from collections.abc import Callable, Generator
from typing import Any, ParamSpec, TypeVar, overload

from gencoro import futures
from gencoro.callback_argument import is_for_caller, pass_result_to
from gencoro.debugging import DEBUGS_ALL, FIRST_STEP, WatchedRunner, note_call
from gencoro.errors import Return
from gencoro.frames import name_of
from gencoro.futures import (
    CoroutineFuture,
    Future,
    current_loop,
    without_our_two_frames,
)
from gencoro.runner import INTERRUPTS, RETURNS, Runner, end_with_error
from gencoro.tornado_interop import is_tornado_return

__all__ = [
    "coroutine",
    "is_coroutine_function",
    "returning",
    "without_mark",
    "wraps_native",
]

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=CoroutineFuture[Any])

# The attributes by which Python up to 3.11, and from 3.12 on, knows an async function.
_MARKS = ("_is_coroutine", "_is_coroutine_marker")


@overload
def coroutine(
    func: Callable[P, Generator[Any, Any, T]], replace_callback: bool = True
) -> "Callable[P, Future[T]]": ...


@overload
def coroutine(
    func: Callable[P, T], replace_callback: bool = True
) -> "Callable[P, Future[T]]": ...


def coroutine(
    func: Callable[..., Any], replace_callback: bool = True
) -> "Callable[..., Future[Any]]":
    """Turn a generator function into a coroutine: calling it returns a Future.

    The body starts at once and runs to the first ``yield`` of something that is not done.
    The result of a yielded value becomes the value of the ``yield``; its error is raised
    there.  The return value (or the value of a raised `Return`) is the Future's result; an
    error is stored in the Future.  KeyboardInterrupt and SystemExit are raised to the caller
    before the first ``yield``; after it they are stored and raised into the loop.

    The body runs in one copy of the caller's context variables.  ``yield from`` accepts
    another generator, a Future or a native coroutine.  Cancelling the Future raises
    `asyncio.CancelledError` at the ``yield``.  A ``callback=`` argument that the function
    does not declare is called with the result (legacy).

    A plain function is accepted too: its return value or error goes into the Future.

    Args:
        replace_callback: Has no effect; Tornado 4 had it here.

    Raises:
        TypeError: the function is an ``async def``, which needs no decorator; if that is
            hidden by another decorator, the Future fails with it.  Or it is decorated
            already, or is no function but, for example, a property.

    >>> from gencoro import gen
    >>> @gen.coroutine
    ... def add_later(a, b):
    ...     yield gen.sleep(0.001)
    ...     return a + b
    >>> import asyncio
    >>> async def main():
    ...     return await add_later(40, 2)
    >>> asyncio.run(main())
    42
    """
    del replace_callback
    wrapper: Callable[..., Future[Any]] = returning(CoroutineFuture, func)
    _mark_as_async(wrapper, func)
    return wrapper


def _mark_as_async(wrapper: Any, func: Callable[..., Any]) -> None:
    """Make frameworks call a coroutine in their loop, and await it.

    They ask for the mark of async functions.  Some, such as FastAPI, also look through
    decorators for a generator function, which they would take for a stream.
    """
    if hasattr(inspect, "markcoroutinefunction"):
        inspect.markcoroutinefunction(wrapper)
    else:
        wrapper._is_coroutine = asyncio.coroutines._is_coroutine  # type: ignore[attr-defined]
    if inspect.isfunction(func) and inspect.isgeneratorfunction(func):
        # At the end of the chain that `inspect.unwrap` follows.
        func.__wrapped__ = _no_generator_function(func)  # type: ignore[attr-defined]


def without_mark(function: Callable[P, T]) -> Callable[P, T]:
    """Take the mark back that `functools.wraps` has copied to a plain function."""
    for name in _MARKS:
        vars(function).pop(name, None)
    return function


def _no_generator_function(func: types.FunctionType) -> types.FunctionType:
    """Return a function that calls another one, and looks like it, apart from the flag."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    code = call.__code__.replace(
        co_filename=func.__code__.co_filename,
        co_firstlineno=func.__code__.co_firstlineno,
        co_name=func.__code__.co_name,
        co_qualname=func.__code__.co_qualname,
    )
    same = types.FunctionType(code, func.__globals__, closure=call.__closure__)
    functools.update_wrapper(same, func)
    del same.__wrapped__  # type: ignore[attr-defined]
    same.__signature__ = _SignatureOf(func)  # type: ignore[attr-defined]
    return same


class _SignatureOf(inspect.Signature):
    """The signature of a function, which takes longer than its decoration, on demand."""

    __slots__ = ("_func",)

    def __init__(self, func: types.FunctionType) -> None:
        self._func = func

    def _whole(self) -> inspect.Signature:
        return inspect.signature(self._func, follow_wrapped=False)

    @property
    def parameters(self) -> types.MappingProxyType[str, inspect.Parameter]:
        return self._whole().parameters

    @property
    def return_annotation(self) -> Any:
        return self._whole().return_annotation

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        return self._whole().replace(**changes)

    __replace__ = replace  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return self._whole().__reduce__()


def returning(
    new_future: Callable[..., F],
    func: Callable[..., Any],
    takes_callback: bool = True,
) -> Callable[..., F]:
    """Turn a function into a coroutine whose calls return Futures of another class.

    Args:
        new_future: The class, or a function that takes ``loop=`` as the class does.
        takes_callback: Whether a ``callback=`` argument that the function does not
            declare is called with the result.

    Raises:
        TypeError: the function is not one that can become a coroutine.
    """
    if _is_native(func):
        raise _needs_no_decorator(func)
    if not callable(func):
        raise _decorates_functions(func)
    is_generator_function = inspect.isgeneratorfunction(func)
    if is_generator_function:
        _let_enter_native_coroutines(func)
    # Whether the last call ended before its first yield, as the next one then may too.  None
    # for other Futures, whose callbacks must not run inside `_first_step`.
    ends_early = (
        False if is_generator_function and new_future is CoroutineFuture else None
    )

    # Calls of coroutines by coroutines are nested: each local name is a part of the stack.
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> F:
        nonlocal ends_early
        begin: Any = Runner
        first_step: Any = None
        try:
            future = new_future()
        except RuntimeError:  # there is no current loop; this costs other calls nothing
            if futures.loop_of_program() is not None:
                begin = _begin_on_loop
            future = _future_without_loop(new_future, func)
        # asyncio sets the traceback if its loop is in debug mode: cheaper than to ask the loop.
        if (
            DEBUGS_ALL or future._source_traceback is not None  # type: ignore[attr-defined]
        ) and begin is Runner:
            begin = WatchedRunner
            note_call(future, func)
        # Checked inline, since most calls have none.
        if (
            kwargs
            and "callback" in kwargs
            and takes_callback
            and is_for_caller(func, kwargs)
        ):
            pass_result_to(kwargs.pop("callback"), future)
        context = contextvars.copy_context()
        try:
            if is_generator_function:
                # Does not run the body, so it needs no context.  An empty ** is not free.
                generator = func(*args, **kwargs) if kwargs else func(*args)
            else:
                generator = context.run(func, *args, **kwargs)
                if not isinstance(generator, Generator):
                    if type(generator) is types.CoroutineType and wraps_native(func):
                        generator.close()
                        raise _needs_no_decorator(func)
                    raise Return(generator)
            if begin is WatchedRunner:
                yielded = FIRST_STEP
            elif ends_early and begin is Runner:
                # Not for calls within this one: each frame of ours makes recursion less deep.
                ends_early = False
                first_step = _first_step(generator, future)
                yielded = context.run(next, first_step, ENDED)
                ends_early = yielded is ENDED
            else:
                yielded = context.run(next, generator)
        except RETURNS as stop:
            future.set_result(stop.value)
            if ends_early is False:
                ends_early = True
        except INTERRUPTS:
            raise
        except BaseException as exc:
            if is_tornado_return(exc):
                future.set_result(exc.value)
            else:
                end_with_error(
                    future,
                    without_our_two_frames(exc, _first_step.__code__),
                    name_of(func),
                )
        else:
            if begin is _begin_on_loop:
                _begin_on_loop(generator, future, yielded, context)
            elif yielded is not ENDED:
                runner = context.run(begin, generator, future, yielded, context)
                if first_step is not None and not runner.finished:
                    runner.first_step = first_step
                del runner
            del yielded
        try:
            return future
        finally:
            del future, first_step  # Rule 3 of `gencoro.runner`.

    # Not by the attribute, which functools.wraps copies to other functions.
    inmost = _without_partial(func)
    if getattr(inmost, "__code__", None) is wrapper.__code__:  # type: ignore[attr-defined]
        raise TypeError(
            f"{name_of(inmost)} is decorated with @gen.coroutine twice, and would return a "
            "Future of a Future; drop one of them"
        )
    wrapper.__tornado_coroutine__ = True  # type: ignore[attr-defined]
    return wrapper


def _begin_on_loop(
    generator: "Generator[Any, Any, T]",
    future: "Future[T]",
    yielded: Any,
    context: contextvars.Context,
) -> None:
    """Create the Runner on the thread of its loop, when this one has left the context."""
    loop = future.get_loop()
    loop.call_soon_threadsafe(context.run, Runner, generator, future, yielded, context)


# What `next` returns when a `_first_step` has run a body to its end.
ENDED: Any = object()


def _first_step(
    generator: "Generator[Any, Any, T]", future: "Future[T]"
) -> Generator[Any, Any, None]:
    """Run a body and set its result.

    Here the interpreter passes the result on, and ``next(..., ENDED)`` raises nothing.  To
    catch the StopIteration of the body would take a quarter of the whole call.
    """
    try:
        future.set_result((yield from generator))
    finally:
        del generator, future  # Rule 3 of `gencoro.runner`.


def _is_native(func: Any) -> bool:
    """Return True if a function, or the call of an object, is an ``async def``."""
    return _is_async_def(func) or _is_async_def(_call_of(func))


def _is_async_def(func: Any) -> bool:
    is_ours = is_coroutine_function(_without_partial(func))
    is_marked = inspect.iscoroutinefunction(func) and not is_ours
    return is_marked or inspect.isasyncgenfunction(func)


def _call_of(func: Any) -> Any:
    return getattr(type(_without_partial(func)), "__call__", None)  # noqa: B004


def _without_partial(func: Any) -> Any:
    while isinstance(func, functools.partial):
        func = func.func
    return func


def wraps_native(func: Any) -> bool:
    """Return True if an ``async def`` is below the decorators of a function.

    What they return may be something else than its coroutine.

    >>> import asyncio
    >>> @functools.wraps(asyncio.sleep)
    ... def sleep_long():
    ...     return asyncio.sleep(3600)
    >>> wraps_native(sleep_long), wraps_native(print)
    (True, False)
    """
    func = inspect.unwrap(func)
    while isinstance(func, functools.partial):
        func = inspect.unwrap(func.func)
    return _is_native(func)


def _needs_no_decorator(func: Any) -> TypeError:
    inmost = _call_of(func) if _is_async_def(_call_of(func)) else func
    return TypeError(
        f"{name_of(inmost)} is an `async def` already; drop @gen.coroutine, and "
        "yield or await its result directly"
    )


def _decorates_functions(what: Any) -> TypeError:
    cure = ""
    if hasattr(what, "__get__"):
        cure = f"; write @{type(what).__name__} above @gen.coroutine"
    return TypeError(f"@gen.coroutine got {what!r}, which is not a function{cure}")


def _future_without_loop(new_future: Callable[..., F], func: Any) -> F:
    try:
        return new_future(loop=current_loop())
    except RecursionError:
        raise
    except RuntimeError as exc:
        exc.add_note(_how_to_run(func))
        raise


def _how_to_run(func: Any) -> str:
    name = name_of(func)
    return (
        f"{name}() was called without an event loop; run it with "
        f"IOLoop.current().run_sync({name}), or call it in an `async def` that "
        "asyncio.run() or, from another thread, asyncio.run_coroutine_threadsafe() runs"
    )


def _let_enter_native_coroutines(func: Any) -> None:
    """Allow ``yield from`` of a native coroutine, as @asyncio.coroutine did."""
    func = _without_partial(func)
    types.coroutine(getattr(func, "__func__", func))  # marks the function itself


def is_coroutine_function(func: object) -> bool:
    """Return True if a function was decorated with gencoro's or Tornado's `coroutine`.

    >>> is_coroutine_function(coroutine(print)), is_coroutine_function(print)
    (True, False)
    """
    return getattr(func, "__tornado_coroutine__", False)
