"""Converts every yielded value into one Future.

Rule: except for `moment`, what is not exactly a Future of asyncio or gencoro goes through
`convert_yielded`, which never waits.  `as_future` checks that a registered converter returns
a Future.  A `BadYieldError` says how to fix the code.
"""

import asyncio
import concurrent.futures
import contextvars
import inspect
import types
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    MappingView,
    Sequence,
)
from functools import singledispatch
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, cast, overload

from gencoro.cancelling import cancel
from gencoro.errors import BadYieldError
from gencoro.futures import (
    OUR_FUTURES,
    Future,
    app_log,
    current_loop,
    from_concurrent,
    is_future,
    without_our_frame,
)
from gencoro.handed_over import hand_back
from gencoro.tornado_interop import is_tornado_moment, registered_with_tornado

__all__ = [
    "DictOf",
    "ListOf",
    "Moment",
    "MultiFuture",
    "NeedsRunner",
    "Waitable",
    "Yieldable",
    "as_future",
    "as_spared_future",
    "convert_child",
    "convert_yielded",
    "held_tasks",
    "is_many",
    "leave",
    "maybe_future",
    "moment",
    "multi",
    "multi_future",
    "refuse_other_loop",
]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
F = TypeVar("F", bound=Callable[..., Any])

# What has a result of its own, unlike a list or a dict of such things.
Waitable: TypeAlias = Awaitable[T] | concurrent.futures.Future[T]

Yieldable: TypeAlias = None | Waitable[T] | list[Any] | dict[Any, Any]

# Lists and dicts are invariant: their types have to be named one by one.
ListOf: TypeAlias = list[Future[T]] | list[Coroutine[Any, Any, T]] | list[Waitable[T]]
DictOf: TypeAlias = (
    dict[K, Future[T]] | dict[K, Coroutine[Any, Any, T]] | dict[K, Waitable[T]]
)

QuietExceptions: TypeAlias = type[BaseException] | tuple[type[BaseException], ...]


class NeedsRunner(BadYieldError):
    """Raised for a value that only the Runner of the yielding coroutine can wait for.

    The Runner calls ``start`` with itself, which returns what `Runner.handle_yield`
    returns.  For any other caller it is an error.
    """

    def __init__(self, message: str, start: Callable[[Any], bool]) -> None:
        super().__init__(message)
        self.start = start


class Moment:
    """The type of `moment`: a done Future with the result None, bound to no loop."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def done(self) -> Literal[True]:
        return True

    def cancelled(self) -> Literal[False]:
        return False

    def result(self) -> None:
        return None

    def exception(self) -> None:
        return None

    def __await__(self) -> Generator[None, None, None]:
        # asyncio's Task takes a bare yield for "continue in the next turn".
        yield

    def __repr__(self) -> str:
        return f"<gencoro.gen.{self._name}>"


# Typed as Futures, as in Tornado: every caller treats them as such, and their own
# type would have to be named in each signature.
moment = cast("Future[None]", Moment("moment"))

# Done, without a turn of the loop.  Tornado's private name, which packages import.
_null_future = cast("Future[None]", Moment("_null_future"))


class _Convert(Protocol):
    """The type of `convert_yielded`, a function of `functools.singledispatch`."""

    @overload
    def __call__(self, yielded: Waitable[T]) -> "Future[T]": ...

    @overload
    def __call__(self, yielded: ListOf[T]) -> "Future[list[T]]": ...

    @overload
    def __call__(self, yielded: DictOf[K, T]) -> "Future[dict[K, T]]": ...

    @overload
    def __call__(self, yielded: Any) -> "Future[Any]": ...

    def register(self, cls: type) -> Callable[[F], F]:
        """Return a decorator for the function that converts objects of a class."""

    def dispatch(self, cls: type) -> "Callable[[Any], Future[Any]]":
        """Return the function that converts objects of a class."""


def _typed(convert: Any) -> _Convert:
    return cast("_Convert", convert)


@_typed
@singledispatch
def convert_yielded(yielded: Any) -> "Future[Any]":
    """Return the Future (or `moment`) for a yielded value.

    A Future is returned unchanged; a native coroutine is started; an executor's Future,
    a list or a dict becomes a new Future.  Register other types with
    ``@convert_yielded.register(Type)``, here or on `tornado.gen.convert_yielded`.

    Raises:
        BadYieldError: the value cannot be waited for.

    >>> convert_yielded(None) is moment
    True
    """
    convert = registered_with_tornado(type(yielded), convert_yielded)
    if convert is not None:
        return convert_yielded(convert(yielded))
    if asyncio.isfuture(yielded):
        return yielded
    if is_tornado_moment(yielded):  # before awaitables: with compat, it is one
        return moment
    if inspect.isawaitable(yielded):
        return _start_awaitable(yielded)
    raise BadYieldError(_explain(yielded))


@convert_yielded.register(Future)
@convert_yielded.register(Moment)
def _take_as_it_is(yielded: "Future[T]") -> "Future[T]":
    return yielded


@convert_yielded.register(type(None))
def _take_a_moment(_yielded: None) -> "Future[None]":
    return moment


@convert_yielded.register(concurrent.futures.Future)
def _cross_threads(yielded: concurrent.futures.Future[T]) -> "Future[T]":
    return from_concurrent(yielded)


@convert_yielded.register(types.CoroutineType)
def _start_awaitable(yielded: Awaitable[T]) -> "Future[T]":
    future = asyncio.ensure_future(yielded, loop=current_loop())
    tasks = held_tasks(future.get_loop())
    tasks.add(future)
    future.add_done_callback(tasks.discard)
    return future


def as_future(yielded: Any) -> "Future[Any]":
    """Call `convert_yielded`, and check the result of a converter registered there.

    Raises:
        BadYieldError: the value cannot be waited for, or its converter did not return
            a Future.
    """
    future: Any = convert_yielded(yielded)
    if isinstance(future, concurrent.futures.Future):
        return from_concurrent(future)
    if not (isinstance(future, (Future, Moment)) or asyncio.isfuture(future)):
        raise BadYieldError(
            f"the converter registered for {type(yielded).__qualname__} returned "
            f"{future!r}, which is not a Future"
        )
    if isinstance(future, MultiFuture) and isinstance(yielded, (list, dict)):
        future.is_anonymous = True
    return cast("Future[Any]", future)


def as_spared_future(yielded: Any) -> "Future[Any]":
    """Call `as_future` for what never cancels the Future.

    An executor's job keeps whatever was added to it, so it has one Future for all of these,
    also in lists and dicts.
    """
    return as_future(_with_shared_jobs(yielded))


def _with_shared_jobs(yielded: Any) -> Any:
    kind = type(yielded)
    if kind is list:
        return [_with_shared_jobs(child) for child in yielded]
    if kind is dict:
        return {key: _with_shared_jobs(child) for key, child in yielded.items()}
    if kind is not concurrent.futures.Future:
        return yielded
    shared: Future[Any] | None = getattr(yielded, "_gencoro_future", None)
    if shared is None or shared.get_loop() is not current_loop():
        shared = from_concurrent(yielded)
        yielded._gencoro_future = shared
    return shared


def held_tasks(loop: asyncio.AbstractEventLoop) -> "set[Future[Any]]":
    """Return the tasks of native coroutines that were started here and still run.

    asyncio keeps only weak references to its tasks.  So the loop holds this set, and it
    is freed together with the loop.
    """
    tasks: set[Future[Any]] | None = getattr(loop, "_gencoro_tasks", None)
    if tasks is None:
        # Not by vars(), which would slow down the loop, as `closing.end_with` says.
        tasks = loop._gencoro_tasks = set()  # type: ignore[attr-defined]
    return tasks


@convert_yielded.register(list)
@convert_yielded.register(dict)
def _wait_for_all(yielded: Any) -> "Future[Any]":
    future = multi(yielded)
    return future if type(future) is MultiFuture else convert_yielded(future)


# Called first by `multi` once `gencoro.legacy` is loaded: a list that contains YieldPoints
# becomes a different yieldable, since the yielding Runner has to start them.
# It returns None for ordinary children.
multi_otherwise: "Callable[[Any, QuietExceptions], Any] | None" = None


class MultiFuture(Future[T]):
    """The Future of a list or dict; cancelling it cancels the children, as in asyncio.

    Once cancelled, it ends when all children have ended, and always as cancelled.

    Attributes:
        children: The Futures of the children, in order; may include `moment`.
        is_anonymous: Whether it was made from a list or dict that was yielded, or was in
            another one: only what waits for it refers to it.
        keys: The keys of a dict; None for a list.
    """

    __slots__ = (
        "_cancelling_with",
        "_context",
        "_quiet_exceptions",
        "_unchecked",
        "children",
        "is_anonymous",
        "keys",
    )

    def __init__(
        self, keys: list[Any] | None, quiet_exceptions: QuietExceptions
    ) -> None:
        super().__init__(loop=current_loop())
        self.children: list[Future[Any]] = []
        self.is_anonymous = False
        self.keys = keys
        self._unchecked: list[Future[Any]] = []
        self._context = contextvars.copy_context()
        self._quiet_exceptions = quiet_exceptions
        self._cancelling_with: tuple[Any] | None = None

    def wait_for(self, children: "list[Future[Any]]") -> None:
        """Become done when all children are; at once if they already are."""
        self.children = children
        self._unchecked = children.copy()
        self._wait_for_next()

    def _wait_for_next(self, _done: "Future[Any] | None" = None) -> None:
        # One at a time, from the last to the first: if they end in order, this takes one
        # callback.  With one per child, the list would be done in the same turn as
        # Tornado's, but 100 children that wait once would take 20 % more time.
        unchecked = self._unchecked
        while unchecked:
            child = unchecked.pop()
            if not child.done():
                child.add_done_callback(self._wait_for_next, context=self._context)
                return
        self._settle()

    def leave(self) -> "list[Future[Any]]":
        """Stop waiting for the children, and never finish; return what is left behind."""
        children = self.children
        # Those behind this one are done.
        awaited = children[len(self._unchecked)]
        awaited.remove_done_callback(self._wait_for_next)
        # The loop may be about to call us, if that one is done too.
        self.children = self._unchecked = []
        return [left for child in children for left in leave(child)]

    def _settle(self) -> None:
        """Take the results of the children, or the first error."""
        if self._cancelling_with is not None:
            super().cancel(*self._cancelling_with)
            self.hand_back()
        values = []
        for child in self.children:
            try:
                values.append(child.result())
            except BaseException as exc:  # a Future may hold any error
                self._take_error(without_our_frame(exc))
        if not self.done():
            self.set_result(self._shaped(values))

    def _take_error(self, exc: BaseException) -> None:
        if not self.done():
            self.set_exception(exc)
        elif not isinstance(exc, (asyncio.CancelledError, self._quiet_exceptions)):
            app_log.error("Multiple exceptions in yield list", exc_info=exc)

    def _shaped(self, values: list[Any]) -> Any:
        return values if self.keys is None else dict(zip(self.keys, values))

    def cancel(self, msg: Any = None) -> bool:
        """Cancel every child that is not done; return False if none accepts that."""
        if self.done():
            return False
        return cancel(self, msg)

    def hand_back(self) -> None:
        """Tell the children that nothing takes their results."""
        for child in self.children:
            hand_back(child)

    # As what waits for the list does: see `gencoro.cancelling`.
    _spares_futures = None

    def _waits_for(self) -> "list[Future[Any]]":
        return [child for child in self.children if not child.done()]

    def _ask_to_end(self, msg: Any, accepted: bool) -> bool:
        if accepted:
            self._cancelling_with = (msg,)
        return accepted

    def _break_off(self, msg: Any) -> None:
        super().cancel(msg)


OUR_FUTURES.add(MultiFuture)


def leave(future: "Future[Any]") -> "list[Future[Any]]":
    """Take a list that nothing else waits for off its children, and nested ones off theirs.

    Returns the Futures that are left behind: the given one, if it is not such a list.
    """
    if isinstance(future, MultiFuture) and future.is_anonymous and not future.done():
        return future.leave()
    return [future]


@overload
def multi(
    children: "dict[K, Future[T]] | dict[K, Coroutine[Any, Any, T]]",
    quiet_exceptions: QuietExceptions = (),
) -> "Future[dict[K, T]]": ...


@overload
def multi(
    children: dict[K, Waitable[T]], quiet_exceptions: QuietExceptions = ()
) -> "Future[dict[K, T]]": ...


@overload
def multi(
    children: dict[K, Any], quiet_exceptions: QuietExceptions = ()
) -> "Future[dict[K, Any]]": ...


@overload
def multi(
    children: Sequence[Waitable[T]], quiet_exceptions: QuietExceptions = ()
) -> "Future[list[T]]": ...


@overload
def multi(
    children: Sequence[Any], quiet_exceptions: QuietExceptions = ()
) -> "Future[list[Any]]": ...


def multi(
    children: dict[Any, Any] | Iterable[Any],
    quiet_exceptions: QuietExceptions = (),
) -> "Future[Any]":
    """Wait for several yieldables in parallel, as yielding a list or a dict does.

    The result has the shape of ``children``: a list in their order, or a dict with
    their keys.  All of them are waited for, even when one fails; then the first error
    *in that order* is raised and the others are logged.  Cancelling the returned Future
    cancels them.

    Args:
        children: Yieldables, nested lists and dicts included.
        quiet_exceptions: Types of errors that are not logged.

    Raises:
        BadYieldError: a child cannot be waited for; the text names it.
        TypeError: children is a single yieldable.

    >>> from gencoro import gen
    >>> async def double(x):
    ...     return 2 * x
    >>> async def main():
    ...     return await gen.multi({"one": double(1), "two": double(2)})
    >>> asyncio.run(main())
    {'one': 2, 'two': 4}
    """
    if multi_otherwise is not None:
        other = multi_otherwise(children, quiet_exceptions)
        if other is not None:
            return cast("Future[Any]", other)
    if asyncio.isfuture(children) or not isinstance(children, Iterable):
        raise TypeError(
            f"multi() takes one list or dict of what to wait for, and got {children!r}; "
            "write multi([a, b])"
        )
    keys = list(children) if isinstance(children, dict) else None
    places = children.items() if isinstance(children, dict) else enumerate(children)
    result: MultiFuture[Any] = MultiFuture(keys, quiet_exceptions)
    loop = result.get_loop()
    result.wait_for([convert_child(child, place, loop) for place, child in places])
    return result


multi_future = multi


def convert_child(
    child: Any, place: Any, loop: asyncio.AbstractEventLoop
) -> "Future[Any]":
    """Return the Future for an element of a list or dict.

    Raises:
        BadYieldError: it cannot be waited for; the text names its place.
    """
    kind = type(child)
    if (kind is Future or kind in OUR_FUTURES) and child.get_loop() is loop:
        future: Future[Any] = child
        return future
    try:
        future = as_future(child)
        refuse_other_loop(future, loop)
        return future
    except BadYieldError as exc:
        mistake = f"at [{place!r}]: {exc}"
    # Outside the except clause, so that __context__ is the error the body was handling.
    raise BadYieldError(mistake)


def refuse_other_loop(future: "Future[Any]", loop: asyncio.AbstractEventLoop) -> None:
    """Check that a Future that is not done belongs to this loop.

    Raises:
        BadYieldError: it belongs to another loop, which would call back on its own
            thread, or never.
    """
    if not future.done() and future.get_loop() is not loop:
        raise BadYieldError(
            f"yielded {future!r}, which belongs to another event loop than this "
            "coroutine; create it on this loop, or pass its result to this loop with "
            "call_soon_threadsafe"
        )


@overload
def maybe_future(x: Waitable[T]) -> "Future[T]": ...


@overload
def maybe_future(x: T) -> "Future[T]": ...


def maybe_future(x: Any) -> "Future[Any]":
    """Return x as an asyncio Future; if it is not a Future, one whose result is x.

    >>> async def main():
    ...     return await maybe_future(42)
    >>> asyncio.run(main())
    42
    """
    if is_future(x):
        return convert_yielded(x)
    future: Future[Any] = Future(loop=current_loop())
    future.set_result(x)
    return future


def _explain(yielded: object) -> str:
    """Say why a value cannot be yielded, and what its author probably meant."""
    if is_many(yielded):
        return (
            f"yielded a {type(yielded).__name__} {yielded!r}; to wait for many things "
            "at once, yield a list or a dict of them"
        )
    if isinstance(yielded, Generator):
        name = getattr(yielded, "__qualname__", type(yielded).__name__)
        return (
            f"yielded a plain generator {yielded!r}; decorate {name} with "
            "@gen.coroutine, or call it with `yield from`"
        )
    if isinstance(yielded, AsyncGenerator):
        return (
            f"yielded an async generator {yielded!r}; iterate over it with `async for` "
            "in an `async def` function, and yield that function's result"
        )
    if type(yielded).__module__ == "unittest.mock":
        return (
            f"yielded {yielded!r}, which cannot be waited for; if a call returned it, make "
            "what was called an AsyncMock"
        )
    if callable(yielded):
        name = getattr(yielded, "__qualname__", repr(yielded))
        return (
            f"yielded {yielded!r} itself, which has not been called; "
            f"write `yield {name}(...)`"
        )
    return (
        f"yielded {yielded!r} ({type(yielded).__qualname__}), which cannot be waited for; "
        "if a function returned it, either that function lacks @gen.coroutine or its "
        "call needs no `yield`"
    )


def is_many(yielded: object) -> bool:
    """Return True for a collection, or an iterator that a built-in made of one."""
    if isinstance(yielded, types.GeneratorType):
        return yielded.gi_code.co_name == "<genexpr>"
    if isinstance(yielded, Iterator):
        return type(yielded).__module__ in ("builtins", "itertools")
    return isinstance(yielded, (tuple, set, frozenset, MappingView))
