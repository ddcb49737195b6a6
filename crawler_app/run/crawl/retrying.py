"""Repeats a fetch that fails for a while, for those who wait for its response.

The URLs of a crawl are retried by the frontier instead, and meanwhile others are fetched.
"""

from collections.abc import Callable

from crawler_app.base.errors import FetchError
from crawler_app.base.models import Fetched
from crawler_app.base.reasons import RETRYABLE, reason_of_status
from crawler_app.base.subgenerator import Subgenerator
from crawler_app.web import politeness
from gencoro import gen

__all__ = ["retried"]


def retried(
    fetch: Callable[[], Subgenerator[Fetched]],
    most_tries: int,
    first_pause_s: float,
    on_paused: Callable[[], None] = lambda: None,
) -> Subgenerator[Fetched]:
    """Return the first response that is final, or that of the last try.

    Args:
        on_paused: Called after each pause.

    Raises:
        FetchError: the last try had no response, or further tries would not help.
    """
    for tries in range(1, most_tries):
        try:
            fetched = yield from fetch()
            if reason_of_status(fetched.status) not in RETRYABLE:
                return fetched
        except FetchError as exc:
            if not exc.is_passing:
                raise
        yield gen.sleep(politeness.retry_at(0.0, tries, first_pause_s))
        on_paused()
    return (yield from fetch())
