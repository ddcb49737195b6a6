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

from gencoro.futures import Future
from gencoro.legacy.contexts import on_first_context, on_outermost_context
from gencoro.legacy.current import NOTHING, Held, held
from gencoro.legacy.runner import Legacy, LegacyRunner
from gencoro.legacy.yieldpoints import MultiYieldPoint, YieldPoint, contains_yieldpoint
from gencoro.runner import STEP, Runner, guard_creation
from gencoro.yieldables import (
    NeedsRunner,
    QuietExceptions,
    convert_yielded,
    register_multi,
)

__all__ = ["become_legacy"]


@functools.cache
def _legacy_class(cls: type[Runner[Any]]) -> type[LegacyRunner[Any]]:
    """Return the class that a Runner of this class becomes."""
    if cls is Runner:
        return LegacyRunner
    # The class itself comes first, so that its methods see all that is done.
    return type(
        f"Legacy{cls.__name__}",
        (cls, LegacyRunner),
        {"__slots__": (), "__call__": LegacyRunner.__call__},
    )


def become_legacy(runner: Runner[Any], holding: Held) -> LegacyRunner[Any]:
    """Have a Runner do all that a LegacyRunner does, from now on.

    Args:
        holding: The contexts of its body.
    """
    if not isinstance(runner, LegacyRunner):
        runner.__class__ = _legacy_class(type(runner))  # type: ignore[arg-type]
        runner.legacy = Legacy(holding)
    return runner  # type: ignore[return-value]


def _give_every_runner_the_names() -> None:
    """Let whoever has a Runner in hand find on it what Tornado's had."""

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


_give_every_runner_the_names()


@convert_yielded.register(YieldPoint)
def _leave_to_runner(yield_point: YieldPoint) -> NoReturn:
    raise NeedsRunner(
        f"{yield_point!r} belongs to the coroutine that yields it; nothing but its Runner "
        "can wait for it",
        lambda runner: become_legacy(runner, held())._start_later(yield_point),
    )


def _multi_of_yield_points(
    children: Any, quiet_exceptions: QuietExceptions
) -> MultiYieldPoint | None:
    if not contains_yieldpoint(children):
        return None
    return MultiYieldPoint(children, quiet_exceptions)


register_multi(_multi_of_yield_points)


def _look_at_contexts(plain: Callable[..., None]) -> Callable[..., None]:
    """Guard the making of Runners: those that begin within contexts become legacy."""

    def __init__(
        self: Runner[Any],
        gen: "Generator[Any, Any, Any]",
        result_future: "Future[Any]",
        first_yielded: Any,
        context: contextvars.Context | None = None,
    ) -> None:
        holding = held()
        if holding is not NOTHING and holding.is_of_this_thread():
            # In its own context the body may have entered some already.
            become_legacy(self, holding.from_outside() if context else holding)
        try:
            plain(self, gen, result_future, first_yielded, context)
        finally:
            del gen, result_future, first_yielded  # The runner's rule 3.

    return __init__


def _look_at_runner_in_step() -> None:
    """Have a body that enters a context while it runs be watched from now on."""
    frame = sys._getframe()
    # A coroutine is not found where the loop has called something else.
    while frame is not None and frame.f_code is not _CALL:
        if frame.f_code is STEP:
            become_legacy(frame.f_locals["self"], NOTHING)
            return
        frame = frame.f_back  # type: ignore[assignment]


_CALL = asyncio.Handle._run.__code__

on_first_context(lambda: guard_creation(_look_at_contexts))
on_outermost_context(_look_at_runner_in_step)
