"""The user's own functions, called at three points of a URL's path.

Each is a plain function, a ``@gen.coroutine`` or an ``async def``; the URL waits for it,
and the other URLs do not.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from crawler_app.errors import ConfigError, HookError
from crawler_app.models import CrawledPage, Link

__all__ = ["Hooks"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Hooks:
    """What is called when; None for nothing.

    What one of them raises is logged, and its URL fails with the reason ``hook_error``,
    to be tried again by ``resume --retry-failed``; the crawl goes on.

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
                    f"decorate {hook.__name__} with @gen.coroutine"
                )

    @property
    def want_pages(self) -> bool:
        """Whether somebody wants to see pages."""
        return self.on_page is not None or self.on_link is not None

    def allow(self, url: str) -> Generator[Any, Any, bool]:
        """Return whether a URL is to be fetched.

        Raises:
            HookError: the function failed.
        """
        if self.should_fetch is None:
            return True
        return bool((yield from _call(self.should_fetch, url, url)))

    def show(self, page: CrawledPage) -> Generator[Any, Any, None]:
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
) -> Generator[Any, Any, object]:
    try:
        result = hook(argument)
        if inspect.isawaitable(result):
            result = yield result
        return result
    except asyncio.CancelledError:
        raise
    except Exception as exc:  # anything: it is not ours
        name = getattr(hook, "__qualname__", repr(hook))
        logger.exception("%s has failed at %s", name, url)
        raise HookError(f"{name} raised {exc!r}") from exc
