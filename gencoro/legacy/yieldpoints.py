"""YieldPoints, which coroutines yielded before there were Futures.

The Runner of the yielding coroutine starts a YieldPoint, which tells that Runner when
it is ready.  `gencoro.legacy.legacy_runner` drives them.
"""

import asyncio
import contextvars
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from gencoro.futures import AnyFuture, Future, app_log, without_our_frames
from gencoro.yieldables import QuietExceptions, as_future, moment

__all__ = [
    "Callback",
    "MultiYieldPoint",
    "Wait",
    "WaitAll",
    "YieldFuture",
    "YieldPoint",
    "awaited_in",
    "contains_yieldpoint",
    "describe",
]


class YieldPoint:
    """The base class of objects that a coroutine may yield besides Futures.

    The Runner calls ``start``, then ``is_ready`` until it is true, then ``get_result``
    once.  Their errors are raised at the ``yield``.
    """

    def start(self, runner: Any) -> None:
        """Start to wait; called when the coroutine has yielded this.

        Args:
            runner: Has ``register_callback``, ``result_callback``, ``is_ready`` and
                ``pop_result``, which each take a key.
        """
        raise NotImplementedError

    def is_ready(self) -> bool:
        """Return True if the coroutine can resume; called after each result."""
        raise NotImplementedError

    def get_result(self) -> Any:
        """Return the value of the ``yield``; called once, when it is ready."""
        raise NotImplementedError


class Callback(YieldPoint):
    """Yields a callback; a `Wait` with the same key yields the callback's argument.

    Args:
        key: Differs from the keys of the coroutine's pending callbacks.
    """

    def __init__(self, key: Hashable) -> None:
        self.key = key

    def start(self, runner: Any) -> None:
        self.runner = runner
        runner.register_callback(self.key)

    def is_ready(self) -> bool:
        return True

    def get_result(self) -> Callable[..., None]:
        callback: Callable[..., None] = self.runner.result_callback(self.key)
        return callback


class Wait(YieldPoint):
    """Waits until the `Callback` with this key is called, and yields its argument."""

    def __init__(self, key: Hashable) -> None:
        self.key = key

    def start(self, runner: Any) -> None:
        self.runner = runner

    def is_ready(self) -> bool:
        return bool(self.runner.is_ready(self.key))

    def get_result(self) -> Any:
        return self.runner.pop_result(self.key)


class WaitAll(YieldPoint):
    """Waits for the callbacks of several keys; yields their arguments in that order."""

    def __init__(self, keys: Iterable[Hashable]) -> None:
        self.keys = list(keys)

    def start(self, runner: Any) -> None:
        self.runner = runner

    def is_ready(self) -> bool:
        return all(self.runner.is_ready(key) for key in self.keys)

    def get_result(self) -> list[Any]:
        return [self.runner.pop_result(key) for key in self.keys]


class YieldFuture(YieldPoint):
    """A Future, as a YieldPoint.

    Args:
        io_loop: Has no effect; the Future's own loop calls back.
    """

    def __init__(self, future: AnyFuture[Any], io_loop: Any = None) -> None:
        del io_loop
        self.future = future
        self._awaited = as_future(future)

    def start(self, runner: Any) -> None:
        self._runner = None if self._is_done() else runner
        if self._runner is not None:
            self._key = object()
            runner.register_callback(self._key)
            called_back = _without_argument(runner.result_callback(self._key))
            if self._awaited is moment:
                runner.loop.call_soon(called_back, None)
            else:
                # With a context, so that a LegacyFuture too calls it in a later turn.
                self._awaited.add_done_callback(
                    called_back, context=contextvars.copy_context()
                )

    def _is_done(self) -> bool:
        return self._awaited.done() and self._awaited is not moment

    def is_ready(self) -> bool:
        return self._runner is None or bool(self._runner.is_ready(self._key))

    def get_result(self) -> Any:
        if self._runner is not None:
            self._runner.pop_result(self._key)
        return self._awaited.result()


class MultiYieldPoint(YieldPoint):
    """A list or dict of yieldables, some of which are YieldPoints.

    Waits for all of them; then the first error in their order is raised and the others
    are logged.

    Args:
        children: The yieldables.
        quiet_exceptions: Types of errors that are not logged.

    Raises:
        BadYieldError: a child cannot be waited for.
    """

    def __init__(
        self,
        children: "dict[Any, Any] | Iterable[Any]",
        quiet_exceptions: QuietExceptions = (),
    ) -> None:
        self.keys = list(children) if isinstance(children, dict) else None
        values = children.values() if isinstance(children, dict) else children
        self.children = [_as_yield_point(child) for child in values]
        self.quiet_exceptions = quiet_exceptions
        self._unfinished = list(dict.fromkeys(self.children))

    def start(self, runner: Any) -> None:
        for child in self.children:
            child.start(runner)

    def is_ready(self) -> bool:
        while self._unfinished and self._unfinished[-1].is_ready():
            self._unfinished.pop()
        return not self._unfinished

    def get_result(self) -> Any:
        values: list[Any] = []
        first: BaseException | None = None
        for child in self.children:
            try:
                values.append(child.get_result())
            except (Exception, asyncio.CancelledError) as exc:
                if first is None:
                    first = without_our_frames(exc)
                elif not isinstance(exc, self.quiet_exceptions):
                    app_log.error("Multiple exceptions in yield list", exc_info=exc)
        try:
            if first is not None:
                raise first
        finally:
            del first
        return values if self.keys is None else dict(zip(self.keys, values))


def _without_argument(callback: Callable[[], None]) -> Callable[[Any], None]:
    def call(done: Any) -> None:
        del done  # The runner's rule 3.
        callback()

    return call


def _as_yield_point(child: Any) -> YieldPoint:
    if contains_yieldpoint(child):
        return MultiYieldPoint(child)
    if isinstance(child, YieldPoint):
        return child
    return YieldFuture(as_future(child))


def awaited_in(yield_point: YieldPoint | None) -> "list[Future[Any]]":
    """Return the Futures that a started YieldPoint waits for."""
    if isinstance(yield_point, YieldFuture):
        future = yield_point._awaited
        return [] if future.done() else [future]
    if isinstance(yield_point, MultiYieldPoint):
        return [f for child in yield_point.children for f in awaited_in(child)]
    return []


def describe(yield_point: YieldPoint) -> str:
    """Return a short description of what a YieldPoint waits for.

    >>> describe(Wait("answer")), describe(MultiYieldPoint([Wait(1), Callback(2)]))
    ("the callback 'answer'", 'list of Wait and Callback')
    """
    if isinstance(yield_point, Wait):
        return f"the callback {yield_point.key!r}"
    if isinstance(yield_point, WaitAll):
        return f"the callbacks {', '.join(map(repr, yield_point.keys))}"
    kind = type(yield_point).__name__
    if isinstance(yield_point, MultiYieldPoint):
        kinds = dict.fromkeys(type(child).__name__ for child in yield_point.children)
        return "list of " + " and ".join(kinds)
    return kind


def contains_yieldpoint(children: Any) -> bool:
    """Return True if a list or dict contains YieldPoints, at any depth."""
    if isinstance(children, dict):
        children = children.values()
    elif not isinstance(children, list):
        return False
    # Long lists are usually of one type, which is checked once.
    kinds = set(map(type, children))
    if any(issubclass(kind, YieldPoint) for kind in kinds):
        return True
    return any(issubclass(kind, (list, dict)) for kind in kinds) and any(
        map(contains_yieldpoint, children)
    )
