"""`tornado.gen.coroutine` and `Runner`, for legacy and modern code in one process."""

import concurrent.futures
import functools
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import tornado.gen

from gencoro import coroutines, gen, waiting, yieldables
from gencoro.compat.modules.concurrent import Future, as_legacy
from gencoro.futures import copy_outcome, from_concurrent
from gencoro.legacy import adaptors
from gencoro.legacy.yieldpoints import (
    MultiYieldPoint,
    YieldPoint,
    contains_yieldpoint,
)
from gencoro.runner import STEP, call_run
from gencoro.yieldables import MultiFuture, QuietExceptions, convert_child

__all__ = [
    "Runner",
    "Task",
    "await_moment",
    "convert_yielded",
    "coroutine",
    "multi",
    "with_timeout",
]

T = TypeVar("T")

# Looked up once: compat replaces it with ours while installed.
_TornadoRunner = tornado.gen.Runner

# The original attributes of `gen.Runner` that a program has patched by Tornado's name.
_before: dict[str, Any] = {}
_MISSING = object()


class _AnyRunnerType(type):
    """Makes one name serve programs that patch or create Runners, and Tornado itself."""

    def __call__(cls, *args: Any) -> Any:
        # Coroutines decorated by Tornado before install() create Runners by this name.
        if len(args) == 4 and isinstance(args[1], Generator):
            return _TornadoRunner(*args)
        return super().__call__(*args)

    def __instancecheck__(cls, instance: object) -> bool:
        if cls is Runner:
            return isinstance(instance, gen.Runner)
        return bool(super().__instancecheck__(instance))

    def __setattr__(cls, name: str, value: Any) -> None:
        if cls is not Runner:
            super().__setattr__(name, value)
            return
        _before.setdefault(name, vars(gen.Runner).get(name, _MISSING))
        _patch(name, value)

    def __delattr__(cls, name: str) -> None:
        if cls is not Runner:
            super().__delattr__(name)
            return
        # As with any subclass, deleting an attribute reveals the inherited one.
        before = _before.pop(name)
        if before is _MISSING:
            delattr(gen.Runner, name)
        else:
            _patch(name, before)


def _patch(name: str, value: Any) -> None:
    setattr(gen.Runner, name, value)
    if name == "run":
        # The loop calls the Runner, which should not look up `run` each time.
        is_plain = getattr(value, "__code__", None) is STEP
        gen.Runner.__call__ = value if is_plain else call_run


class Runner(gen.Runner, metaclass=_AnyRunnerType):  # type: ignore[misc]
    """`gencoro.gen.Runner` by Tornado's name: patching this class patches that one."""


def coroutine(
    func: Callable[..., Any], replace_callback: bool = True
) -> "Callable[..., Future[Any]]":
    """Turn a function into a coroutine that returns legacy Futures.

    Args:
        replace_callback: Has no effect; an argument of Tornado 4.

    Raises:
        TypeError: the function is an ``async def``, which needs no decorator.
    """
    del replace_callback
    return coroutines.returning(Future.with_asyncios_timing, func)


class Task(YieldPoint):
    """`gencoro.gen.Task`, which was a class until Tornado 3: that is what a subclass gets.

    Packages of that time extended ``get_result``, for example to raise an error that their
    functions pass to the callback.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Task:
            return super().__new__(cls)
        return _start_task(*args, **kwargs)

    def __init__(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs

    def start(self, runner: Any) -> None:
        self.runner = runner
        self.key = object()
        runner.register_callback(self.key)
        self.kwargs["callback"] = runner.result_callback(self.key)
        self.func(*self.args, **self.kwargs)

    def is_ready(self) -> bool:
        return bool(self.runner.is_ready(self.key))

    def get_result(self) -> Any:
        return self.runner.pop_result(self.key)


def _start_task(func: Callable[..., object], *args: Any, **kwargs: Any) -> Any:
    return adaptors.start_task(Future(), func, args, kwargs)


@functools.wraps(yieldables.multi)
def multi(children: Any, quiet_exceptions: QuietExceptions = ()) -> Any:
    if contains_yieldpoint(children):
        return MultiYieldPoint(children, quiet_exceptions)
    keys = list(children) if isinstance(children, dict) else None
    places = children.items() if isinstance(children, dict) else enumerate(children)
    together: _Together[Any] = _Together(keys, quiet_exceptions)
    loop = together.get_loop()
    legacy = together.legacy
    together.wait_for([convert_child(child, place, loop) for place, child in places])
    return legacy


class _Together(MultiFuture[T]):
    """The Future of a list or dict, which passes its outcome on to a legacy one."""

    __slots__ = ("legacy",)

    def __init__(
        self, keys: list[Any] | None, quiet_exceptions: QuietExceptions
    ) -> None:
        super().__init__(keys, quiet_exceptions)
        self.legacy: Future[T] = Future.with_asyncios_timing(loop=self.get_loop())
        self.legacy.stands_for = self

    def _settle(self) -> None:
        if self.legacy.cancelled():  # have the first error logged, too
            self._cancelling_with = (None,)
        super()._settle()
        copy_outcome(self, self.legacy)
        self.legacy.stands_for = None  # Break the cycle.


@functools.wraps(waiting.with_timeout)
def with_timeout(*args: Any, **kwargs: Any) -> Any:
    return as_legacy(waiting.with_timeout(*args, **kwargs))


def convert_yielded(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return an awaitable Future for that of an executor, as Tornado 4's guide has it."""

    @functools.wraps(original)
    def wrapper(yielded: Any) -> Any:
        if isinstance(yielded, concurrent.futures.Future):
            return from_concurrent(yielded)
        return original(yielded)

    return wrapper


def await_moment(self: object) -> Generator[None, None, None]:
    """Wait for a turn of the loop, as ``await gen.moment`` did in Tornado 4."""
    yield
