"""`tornado.gen.coroutine` and `Runner`, for legacy and modern code in one process."""

from collections.abc import Callable, Generator
from typing import Any

import tornado.gen

from gencoro import coroutines, gen
from gencoro.compat.tornado_.futures import FutureOfCoroutine
from gencoro.runner import STEP, call_run

__all__ = ["Runner", "coroutine"]

# Looked up once: ours stands in its place while compat is installed.
_TornadoRunner = tornado.gen.Runner

# What somebody has patched by Tornado's name: what was there before.
_before: dict[str, Any] = {}
_MISSING = object()


class _AnyRunnerType(type):
    """Has one name serve who traces Runners, who makes them, and Tornado itself."""

    def __call__(cls, *args: Any) -> Any:
        # Coroutines that Tornado has decorated before install() ask for it by this name.
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
        # As of any subclass: then what it inherits is seen again.
        before = _before.pop(name)
        if before is _MISSING:
            delattr(gen.Runner, name)
        else:
            _patch(name, before)


def _patch(name: str, value: Any) -> None:
    setattr(gen.Runner, name, value)
    if name == "run":
        # The loop calls a Runner itself, which is not to look its `run` up each time.
        is_plain = getattr(value, "__code__", None) is STEP
        gen.Runner.__call__ = value if is_plain else call_run


class Runner(gen.Runner, metaclass=_AnyRunnerType):  # type: ignore[misc]
    """`gencoro.gen.Runner` by Tornado's name: to patch this is to patch that."""


def coroutine(
    func: Callable[..., Any], replace_callback: bool = True
) -> "Callable[..., FutureOfCoroutine[Any]]":
    """Make a coroutine, whose Futures have the methods that they had once.

    Args:
        replace_callback: Has no effect; Tornado 4 had it here.

    Raises:
        TypeError: the function is an ``async def``, which needs no decorator.
    """
    del replace_callback
    return coroutines.returning(FutureOfCoroutine, func)
