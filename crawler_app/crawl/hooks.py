"""The user's own functions, called at three points of a URL's path.

Each is a plain function, a ``@gen.coroutine`` or an ``async def``; the URL waits for it,
and the other URLs do not.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crawler_app.errors import ConfigError, HookError
from crawler_app.models import CrawledPage, Link
from crawler_app.subgenerator import Subgenerator
from gencoro import gen
from gencoro.concurrent import Future, future_set_result_unless_cancelled

__all__ = ["Hooks"]

logger = logging.getLogger(__name__)

# Anything, for it is not ours.  A hook that ends cancelled though nobody has cancelled the
# crawl has cancelled something of its own, which concerns its URL alone.
HOOK_FAULTS = (Exception, asyncio.CancelledError)


@dataclass(frozen=True, slots=True)
class Hooks:
    """What is called when; None for nothing.

    What one of them raises is logged, and its URL fails with the reason ``hook_error``,
    to be tried again by ``resume --retry-failed``; the crawl goes on.  What is no
    `Exception`, such as `SystemExit`, ends it.

    Args:
        on_page: Called with each HTML page that came, before it is recorded as done.
        on_link: Called with each link of it, after on_page; what is known already, out
            of scope or forbidden is a link too.
        should_fetch: Called with each URL before it is fetched, but for seeds and
            sitemaps; what it returns says whether it is.

    Raises:
        ConfigError: one of them cannot be called, or not so.

    >>> Hooks(on_page=print).want_pages, Hooks().want_pages
    (True, False)
    """

    on_page: Callable[[CrawledPage], object] | None = None
    on_link: Callable[[Link], object] | None = None
    should_fetch: Callable[[str], object] | None = None

    def __post_init__(self) -> None:
        for name in ("on_page", "on_link", "should_fetch"):
            hook = getattr(self, name)
            if hook is not None and not callable(hook):
                raise ConfigError(f"{name} is {hook!r}; it must be a function")
            if inspect.isgeneratorfunction(hook) or inspect.isasyncgenfunction(hook):
                raise ConfigError(
                    f"{name} is a plain generator function, whose body nobody would run; "
                    f"decorate {_name_of(hook)} with @gen.coroutine"
                )

    @property
    def want_pages(self) -> bool:
        """Whether somebody wants to see pages."""
        return self.on_page is not None or self.on_link is not None

    def allow(self, url: str) -> Subgenerator[bool]:
        """Return whether a URL is to be fetched.

        Raises:
            HookError: the function failed.
        """
        if self.should_fetch is None:
            return True
        return bool((yield from _call(self.should_fetch, url, url)))

    def show(self, page: CrawledPage) -> Subgenerator[None]:
        """Show a page, and its links.

        Raises:
            HookError: a function failed.
        """
        if self.on_page is not None:
            yield from _call(self.on_page, page, page.url)
        if self.on_link is not None:
            for link in page.links:
                yield from _call(self.on_link, link, page.url)


def _call(
    hook: Callable[[Any], object], argument: object, url: str
) -> Subgenerator[object]:
    try:
        result = hook(argument)
        if not inspect.isawaitable(result):
            return _require_no_generator(result)
        hooked: Future[object] = gen.convert_yielded(result)
        if not hooked.done() and hooked.get_loop() is not asyncio.get_running_loop():
            yield hooked  # which raises what to do about it
    except HOOK_FAULTS as exc:
        raise _failure(hook, url, exc) from exc
    if not hooked.done():
        yield from _until_ended(hooked)
    try:
        return hooked.result()
    except HOOK_FAULTS as exc:
        raise _failure(hook, url, exc) from exc


def _require_no_generator(result: object) -> object:
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        raise TypeError(
            "returned a generator, whose body nobody would run; decorate "
            f"{_name_of(result)} with @gen.coroutine"
        )
    return result


def _until_ended(hooked: "Future[object]") -> Subgenerator[None]:
    """Wait for a hook, however it ends; when we are cancelled, cancel it and wait on.

    A CancelledError from here is ours, and one that the hook has ended with is not.  To
    cancel us twice gives the hook up: it may be waiting for us, and would for ever.
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


def _failure(
    hook: Callable[[Any], object], url: str, error: BaseException
) -> HookError:
    name = _name_of(hook)
    logger.error("%s has failed at %s", name, url, exc_info=error)
    return HookError(f"{name} raised {error!r}")


def _name_of(hook: object) -> str:
    return getattr(hook, "__qualname__", None) or repr(hook)
