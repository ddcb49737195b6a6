"""Responses that several pages use, such as scripts and style sheets: each is fetched once.

The crawl fetches them for itself, too, and so each is taken from here by whichever comes second.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from typing import Any

from crawler_app.base.models import Fetched
from crawler_app.base.shared_calls import SharedCalls
from crawler_app.base.subgenerator import Subgenerator
from gencoro import gen

__all__ = ["KeptResponses"]

# The scripts, style sheets and images of a few sites.
MAX_KEPT_BYTES = 64 * 1024 * 1024


class KeptResponses:
    """The most recently used responses, by anything that tells them apart."""

    def __init__(self) -> None:
        self._bytes = 0
        self._kept: OrderedDict[Hashable, Fetched] = OrderedDict()
        self._fetches = SharedCalls[Fetched]()

    def fetch(
        self, key: Hashable, fetch: Callable[[], Subgenerator[Fetched]]
    ) -> Subgenerator[Fetched]:
        """Return a response that is kept or on its way; otherwise fetch and keep it.

        Raises:
            FetchError: there was no response, for none of those who wait for it.
        """
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        response: Fetched = yield self._fetches.ask(
            key, lambda: self._begin(key, fetch)
        )
        return response

    @gen.coroutine
    def _begin(
        self, key: Hashable, fetch: Callable[[], Subgenerator[Fetched]]
    ) -> Generator[Any, Any, Fetched]:
        """Fetch a response, and keep it unless it is large or its server says not to."""
        fetched = yield from fetch()
        control = fetched.headers.get("Cache-Control", "")
        is_final = fetched.status != 202 and "no-store" not in control
        if is_final and len(fetched.body) <= MAX_KEPT_BYTES // 8:
            self._kept[key] = fetched
            self._bytes += len(fetched.body)
        while self._bytes > MAX_KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.body)
        return fetched
