"""When a page is done.

A page is done when the browser calls its network
idle, which means that it has loaded and then had no request under way for half a second, and when we
have answered nothing for as long.  The browser alone knows whether a page has received what we
have answered, and we alone know of requests after that.  A page that asks for the same again and
again, or that stopped its own loading, is done when it has asked for nothing new for two seconds.
One that never rests is read at its limit as it is then.
"""

import time
from collections.abc import Callable

__all__ = ["LIMIT_S", "QUIET_S", "Settling"]

# That of the browser itself.  Precedents: Puppeteer's networkidle0 500 ms, browsertrix 2 s.
QUIET_S = 0.5

# Longer than most pages take between two requests.
STEADY_S = 2.0

# Since the start, or since a request was last held back by us, for a gap or a retry.
# Precedents: Puppeteer 30 s, Scrapy's rendering services 30 to 90 s.
LIMIT_S = 30.0

# Whatever holds it back.
MAX_LIMIT_S = 240.0


class Settling:
    """One page on its way.

    Args:
        clock: Tells the time.

    Attributes:
        is_idle: Whether its network was idle once, or will not be.
        requests: How many requests it has made.

    >>> times = iter([100.0, 101.0, 102.0, 102.1, 102.5])
    >>> page = Settling(lambda: next(times))
    >>> page.wait_s
    29.0
    >>> page.begin_request(); page.end_request(); page.is_idle = True
    >>> page.wait_s, page.wait_s
    (0.4, 0.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_idle = self._is_loaded = False
        self.requests = self._pending = 0
        self._clock = clock
        self._quiet_since = now = clock()
        self._limit_at, self._last_limit_at = now + LIMIT_S, now + MAX_LIMIT_S

    def begin_request(self, *, is_new: bool = True) -> None:
        """Note a request."""
        self.requests += 1
        self._pending += is_new

    def end_request(self, *, is_new: bool = True) -> None:
        """Note that a request was answered or refused."""
        if is_new:
            self._pending -= 1
            self._quiet_since = self._clock()

    def restart(self) -> None:
        """Note that the document is loaded again."""
        self.is_idle = self._is_loaded = False

    def note_loaded(self) -> None:
        """Note that its document does not load any further."""
        self._is_loaded = True
        self._quiet_since = self._clock()

    def extend(self) -> None:
        """Note that it was waiting for us until now."""
        self._limit_at = min(self._clock() + LIMIT_S, self._last_limit_at)

    @property
    def is_over(self) -> bool:
        """Whether its limit is reached."""
        return self._clock() >= self._limit_at

    @property
    def wait_s(self) -> float:
        """How long to wait before asking again; 0 if it is done, or over."""
        now = self._clock()
        left_s = self._limit_at - now
        if (self.is_idle or self._is_loaded) and not self._pending:
            quiet_s = QUIET_S if self.is_idle else STEADY_S
            left_s = min(left_s, self._quiet_since + quiet_s - now)
        return max(0.0, round(left_s, 3))
