"""The user's callbacks, called at three points of a URL's path.

Each is a plain function, a ``@gen.coroutine`` or an ``async def``.  A URL waits for its
callbacks; the other URLs do not.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from crawler_app.base.errors import ConfigError, HookError
from crawler_app.base.models import CrawledPage, Link
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.run.crawl.error_log import ErrorLog
from crawler_app.run.crawl.time_slice import TimeSlice
from gencoro import gen
from gencoro.concurrent import Future, future_set_result_unless_cancelled

__all__ = ["Hooks"]

logger = logging.getLogger(__name__)

# The user's code may raise anything.  If a hook raises CancelledError although the crawl is
# not cancelled, it has cancelled another task or Future, which concerns its URL only.
HOOK_FAULTS = (Exception, asyncio.CancelledError)


@dataclass(frozen=True, slots=True)
class Hooks:
    """The callbacks of a crawl; None for none.

    If a callback raises an `Exception`, it is logged (what is raised at the same place
    again is only counted), the URL fails with the reason ``hook_error``, which ``resume
    --retry-failed`` retries, and the crawl continues.  Any other `BaseException`, such as
    `SystemExit`, ends the crawl.

    Args:
        on_page: Called with each HTML page fetched, before it is recorded as done.
        on_link: Called with each link of the page, after on_page, including links that
            are already known, out of scope or forbidden.
        should_fetch: Called with each URL before it is fetched, except seeds and
            sitemaps; a false value skips it.

    Raises:
        ConfigError: a callback is not callable, or is a plain generator function.

    >>> Hooks(on_page=print).want_pages, Hooks().want_pages
    (True, False)
    """

    on_page: Callable[[CrawledPage], object] | None = None
    on_link: Callable[[Link], object] | None = None
    should_fetch: Callable[[str], object] | None = None
    _errors: ErrorLog = field(
        default_factory=lambda: ErrorLog(logger), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for name in ("on_page", "on_link", "should_fetch"):
            hook = getattr(self, name)
            if hook is not None and not callable(hook):
                raise ConfigError(f"{name} is {hook!r}; it must be a function")
            if inspect.isgeneratorfunction(hook) or inspect.isasyncgenfunction(hook):
                raise ConfigError(
                    f"{name} is a plain generator function, whose body would never run; "
                    f"decorate {_name_of(hook)} with @gen.coroutine"
                )

    @property
    def want_pages(self) -> bool:
        """Whether a callback needs the pages."""
        return self.on_page is not None or self.on_link is not None

    def allow(self, url: str) -> Subgenerator[bool]:
        """Return whether a URL is to be fetched.

        Raises:
            HookError: the callback failed.
        """
        if self.should_fetch is None:
            return True
        return bool((yield from self._call(self.should_fetch, url, url)))

    def show(self, page: CrawledPage) -> Subgenerator[None]:
        """Call the callbacks with a page and its links.

        Raises:
            HookError: a callback failed.
        """
        if self.on_page is not None:
            yield from self._call(self.on_page, page, page.url)
        if self.on_link is None:
            return
        time_slice = TimeSlice()
        for link in page.links:
            yield from self._call(self.on_link, link, page.url)
            yield from time_slice.rest()

    def _call(
        self, hook: Callable[[Any], object], argument: object, url: str
    ) -> Subgenerator[object]:
        try:
            result = hook(argument)
            if not inspect.isawaitable(result):
                return _require_no_generator(result)
            hooked: Future[object] = gen.convert_yielded(result)
            if (
                not hooked.done()
                and hooked.get_loop() is not asyncio.get_running_loop()
            ):
                yield hooked  # raises an error that names the cure
        except HOOK_FAULTS as exc:
            raise self._failure(hook, url, exc) from exc
        if not hooked.done():
            yield from _until_ended(hooked)
        try:
            return hooked.result()
        except HOOK_FAULTS as exc:
            raise self._failure(hook, url, exc) from exc

    def _failure(
        self, hook: Callable[[Any], object], url: str, error: BaseException
    ) -> HookError:
        """Log an error, unless it is a repetition, and return what the URL fails with."""
        name = _name_of(hook)
        self._errors.log(name, url, error)
        return HookError(f"{name} raised {error!r}")

    def log_repeated(self) -> None:
        """Log how often each error was raised that was logged once."""
        self._errors.log_repeated()


def _require_no_generator(result: object) -> object:
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        raise TypeError(
            "returned a generator, whose body would never run; decorate "
            f"{_name_of(result)} with @gen.coroutine"
        )
    return result


def _until_ended(hooked: "Future[object]") -> Subgenerator[None]:
    """Wait for a hook to end; if we are cancelled, cancel it and wait for its end.

    A CancelledError raised here means that we were cancelled, not that the hook was.  If we
    are cancelled a second time, stop waiting: the hook may itself be waiting for us.
    """
    try:
        yield _end_of(hooked)
    except asyncio.CancelledError:
        hooked.cancel()
        yield _end_of(hooked)
        raise


def _end_of(hooked: "Future[object]") -> "Future[None]":
    ended: Future[None] = Future()
    hooked.add_done_callback(lambda _: future_set_result_unless_cancelled(ended, None))
    return ended


def _name_of(hook: object) -> str:
    return getattr(hook, "__qualname__", None) or repr(hook)
