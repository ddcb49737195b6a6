"""Runs blocking functions on executors and returns their results as Futures."""

import concurrent.futures
import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from gencoro.callback_argument import is_for_caller, pass_result_to
from gencoro.deprecated import warn_legacy
from gencoro.futures import Future, from_concurrent, without_our_frame

__all__ = ["DummyExecutor", "dummy_executor", "run_on_executor"]

P = ParamSpec("P")
T = TypeVar("T")


class DummyExecutor(concurrent.futures.Executor):
    """An executor that runs each job at once, on the caller's thread.

    >>> DummyExecutor().submit(max, 1, 2).result()
    2
    """

    def submit(
        self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> concurrent.futures.Future[T]:
        """Run the job and return its Future, which is done."""
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as exc:  # raised by the job; stored in its Future
            future.set_exception(without_our_frame(exc))
        return future


dummy_executor = DummyExecutor()


@overload
def run_on_executor(method: Callable[P, T], /) -> "Callable[P, Future[T]]": ...


@overload
def run_on_executor(
    *, executor: str = "executor", io_loop: Any = None
) -> "Callable[[Callable[P, T]], Callable[P, Future[T]]]": ...


def run_on_executor(*args: Any, **kwargs: Any) -> Any:
    """Run a blocking method on an executor of its object and return a Future.

    The executor is the object's attribute ``executor``, or the one named in the
    decorator: ``@run_on_executor(executor="pool")``.  A ``callback=`` argument that the
    method does not declare is called with the result (legacy).

    Raises:
        TypeError: the decorator got other arguments.

    >>> class Adder:
    ...     executor = dummy_executor
    ...     @run_on_executor
    ...     def add(self, a, b):
    ...         return a + b
    >>> import asyncio
    >>> async def main():
    ...     return await Adder().add(40, 2)
    >>> asyncio.run(main())
    42
    """
    if args:
        if kwargs or len(args) != 1 or not callable(args[0]):
            raise TypeError(
                "write @run_on_executor alone, or @run_on_executor(executor='name'); "
                f"got {args!r} and {kwargs!r}"
            )
        return _on_executor(args[0], "executor")
    if kwargs.keys() - {"executor", "io_loop"}:
        raise TypeError(f"run_on_executor takes executor= only, got {kwargs!r}")
    if "io_loop" in kwargs:
        warn_legacy(
            "the argument io_loop= of run_on_executor",
            "leave it out: the running loop is used",
        )
    return functools.partial(_on_executor, attribute=kwargs.get("executor", "executor"))


def _on_executor(
    method: Callable[..., T], attribute: str
) -> "Callable[..., Future[T]]":
    @functools.wraps(method)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> "Future[T]":
        executor: concurrent.futures.Executor = getattr(self, attribute)
        callback = kwargs.pop("callback") if is_for_caller(method, kwargs) else None
        future = from_concurrent(executor.submit(method, self, *args, **kwargs))
        if callback is not None:
            pass_result_to(callback, future)
        return future

    return wrapper
