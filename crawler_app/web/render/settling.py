"""When a page is done.

Pure: times are arguments, in seconds on one clock.  A page is done when the browser calls its network
idle, which means that it has loaded and then had no request under way for half a second, and when we
have answered nothing for as long.  The browser alone knows whether a page has received what we
have answered, and we alone know of requests after that.  A page that asks for the same again and
again, or that stopped its own loading, is done when it has asked for nothing new for two seconds.
One that never rests is read at its limit as it is then.
"""

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

    Attributes:
        is_idle: Whether its network was idle once, or will not be.
        requests: How many requests it has made.

    >>> page = Settling(100.0)
    >>> page.wait_s(101.0)
    29.0
    >>> page.begin_request(); page.end_request(102.0); page.is_idle = True
    >>> page.wait_s(102.1), page.wait_s(102.5)
    (0.4, 0.0)
    """

    def __init__(self, now: float) -> None:
        self.is_idle = self._is_loaded = False
        self.requests = 0
        self._pending = 0
        self._quiet_since = now
        self._limit_at = now + LIMIT_S
        self._last_limit_at = now + MAX_LIMIT_S

    @property
    def is_quiet(self) -> bool:
        """Whether it has loaded, and waits for nothing."""
        return (self.is_idle or self._is_loaded) and not self._pending

    def begin_request(self, *, is_new: bool = True) -> None:
        """Note a request."""
        self.requests += 1
        self._pending += is_new

    def end_request(self, now: float, *, is_new: bool = True) -> None:
        """Note that a request was answered or refused."""
        if is_new:
            self._pending -= 1
            self._quiet_since = now

    def restart(self) -> None:
        """Note that the document is loaded again."""
        self.is_idle = self._is_loaded = False

    def note_loaded(self, now: float) -> None:
        """Note that its document does not load any further."""
        self._is_loaded = True
        self._quiet_since = now

    def extend(self, now: float) -> None:
        """Note that it was waiting for us until now."""
        self._limit_at = min(now + LIMIT_S, self._last_limit_at)

    def is_over(self, now: float) -> bool:
        """Return whether its limit is reached."""
        return now >= self._limit_at

    def wait_s(self, now: float) -> float:
        """Return how long to wait before asking again; 0 if it is done, or over."""
        left_s = self._limit_at - now
        if self.is_quiet:
            quiet_s = QUIET_S if self.is_idle else STEADY_S
            left_s = min(left_s, self._quiet_since + quiet_s - now)
        return max(0.0, round(left_s, 3))
