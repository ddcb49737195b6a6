"""Turns a Runner into a `LegacyRunner` when it meets a YieldPoint or a stack context.

Every coroutine starts with the Runner of `gencoro.runner`, which knows neither.  The
object stays the same and its class changes.  So a program pays nothing until it enters
its first stack context, and from then on only for coroutines that start inside one.
"""

import asyncio
import contextvars
import functools
import sys
from collections.abc import Callable, Generator
from typing import Any, NoReturn

from gencoro import yieldables
from gencoro.futures import Future
from gencoro.legacy import contexts
from gencoro.legacy.active_contexts import NOTHING, HeldContexts, held
from gencoro.legacy.legacy_runner import Legacy, LegacyRunner
from gencoro.legacy.yieldpoints import MultiYieldPoint, YieldPoint, contains_yieldpoint
from gencoro.runner import STEP, Runner
from gencoro.yieldables import NeedsRunner, QuietExceptions, convert_yielded

__all__ = ["become_legacy"]


@functools.cache
def _legacy_class(cls: type[Runner[Any]]) -> type[LegacyRunner[Any]]:
    """Return the class that a Runner of this class becomes."""
    if cls is Runner:
        return LegacyRunner
    # The class itself comes first, so that its overrides are called.
    return type(
        f"Legacy{cls.__name__}",
        (cls, LegacyRunner),
        {"__slots__": (), "__call__": LegacyRunner.__call__},
    )


def become_legacy(runner: Runner[Any], holding: HeldContexts) -> LegacyRunner[Any]:
    """Turn a Runner into a LegacyRunner, in place.

    Args:
        holding: The contexts of its body.
    """
    if not isinstance(runner, LegacyRunner):
        # Not a new object: the generator's Future, the loop and a cancel refer to this one.
        runner.__class__ = _legacy_class(type(runner))  # type: ignore[arg-type]
        runner.legacy = Legacy(holding)
    return runner  # type: ignore[return-value]


def _add_legacy_attributes() -> None:
    """Give every Runner the methods and attributes of Tornado 4's Runner."""

    def becoming_legacy(name: str) -> Callable[..., Any]:
        def method(self: Runner[Any], *args: Any) -> Any:
            return getattr(become_legacy(self, held()), name)(*args)

        return functools.wraps(getattr(LegacyRunner, name))(method)

    for name in (
        "is_ready",
        "pop_result",
        "register_callback",
        "result_callback",
        "set_result",
    ):
        setattr(Runner, name, becoming_legacy(name))
    for name in ("pending_callbacks", "results", "yield_point"):
        setattr(Runner, name, None)
    setattr(Runner, "io_loop", LegacyRunner.io_loop)  # noqa: B010


_add_legacy_attributes()


@convert_yielded.register(YieldPoint)
def _leave_to_runner(yield_point: YieldPoint) -> NoReturn:
    raise NeedsRunner(
        f"{yield_point!r} belongs to the coroutine that yields it; only that coroutine's "
        "Runner can wait for it",
        lambda runner: become_legacy(runner, held())._start_later(yield_point),
    )


def _multi_of_yield_points(
    children: Any, quiet_exceptions: QuietExceptions
) -> MultiYieldPoint | None:
    if not contains_yieldpoint(children):
        return None
    return MultiYieldPoint(children, quiet_exceptions)


yieldables.multi_otherwise = _multi_of_yield_points


def _check_contexts() -> None:
    """Wrap `Runner.__init__`: Runners that start inside contexts become legacy."""
    plain: Callable[..., None] = Runner.__init__

    def __init__(
        self: Runner[Any],
        gen: "Generator[Any, Any, Any]",
        result_future: "Future[Any]",
        first_yielded: Any,
        context: contextvars.Context | None = None,
    ) -> None:
        holding = held()
        if holding is not NOTHING and holding.is_of_this_thread():
            # With a context of its own, the body may have entered stack contexts already.
            become_legacy(self, holding.from_outside() if context else holding)
        try:
            plain(self, gen, result_future, first_yielded, context)
        finally:
            del gen, result_future, first_yielded  # The runner's rule 3.

    # In place: the core creates Runners by the class itself, and has no hook for this, so that a
    # program without contexts pays nothing.  Type checkers know no method that is replaced.
    Runner.__init__ = __init__  # type: ignore[method-assign]


def _convert_running_runner() -> None:
    """Turn the Runner whose body is about to enter a context into a LegacyRunner."""
    frame = sys._getframe()
    # Frames beyond a callback of the loop do not belong to the caller.
    while frame is not None and frame.f_code is not _CALL:
        if frame.f_code is STEP:
            become_legacy(frame.f_locals["self"], NOTHING)
            return
        frame = frame.f_back  # type: ignore[assignment]


# The frame in which the loop runs a callback: what is above belongs to the loop's caller.
_CALL = asyncio.Handle._run.__code__

contexts.on_first_context(_check_contexts)
contexts.before_outermost = _convert_running_runner
