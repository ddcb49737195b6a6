"""Distinguishes a host that is down from a URL that fails.

A host is down if none of its URLs gets through.  A refused connection shows that.  If
several URLs in a row get no response, one that had a response before is fetched again,
and decides.  A URL that fails while others get through is the one to blame.

No clock and no socket: the current time is an argument.
"""

from collections import Counter
from dataclasses import dataclass, field

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import Outcome
from crawler_app.base.reasons import HOST_FAULTS
from crawler_app.base.urls import origin_of
from crawler_app.run.crawl.observer import NO_HOST_OBSERVER, HostObserver
from crawler_app.store.frontier import Frontier
from crawler_app.web import politeness

__all__ = ["Outages"]

# URLs in a row without a response that raise the suspicion.  Fewer than the tries of a URL:
# a crawl that fetches one at a time may retry the first before it gets to the next.
SUSPICIOUS_FAILURES = 2


@dataclass(slots=True)
class _Origin:
    """An origin that has responded, in this run or an earlier one.

    Attributes:
        known_url: The first of its URLs that got a response.
        responses: The number of its responses in this run.
        failed: URLs without a response since the last one; no more than raise suspicion.
        is_down: Whether the known URL failed too.
        pauses: The number of pauses since the last response.
        held_until: The end of the last pause.
        spared: The URLs that were put back without counting a try, with the number of
            responses at that time.
    """

    known_url: str
    responses: int = 0
    failed: set[str] = field(default_factory=set)
    is_down: bool = False
    pauses: int = 0
    held_until: float = 0.0
    spared: dict[str, int] = field(default_factory=dict)

    def end_outage(self) -> None:
        """Note that it responds."""
        self.failed.clear()
        self.is_down, self.pauses, self.held_until = False, 0, 0.0


class Outages:
    """The outages of one run.

    They are those of an origin: the https server of a host may be down while its http
    server is up.  An origin that has never responded has none, and its URLs just fail.

    Args:
        frontier: Remembers which origins have responded.
        stats: Counts the ``outages``.
        observer: Notified of outages.

    >>> from crawler_app.store.frontier.sqlite import SqliteFrontier
    >>> from crawler_app.base.models import State
    >>> from crawler_app.base.reasons import Reason
    >>> outages = Outages(CrawlConfig(("http://a.test/",)), SqliteFrontier())
    >>> outages.note_response("http://a.test/")
    >>> refused = Outcome(State.FAILED, Reason.CONNECTION_REFUSED)
    >>> outages.ends_at("http://a.test/x", refused, now=100.0)
    101.0
    """

    def __init__(
        self,
        config: CrawlConfig,
        frontier: Frontier,
        stats: Counter[str] | None = None,
        observer: HostObserver = NO_HOST_OBSERVER,
    ) -> None:
        self._observer = observer
        self._first_pause_s = config.retry_pause_s
        self._frontier = frontier
        self._stats = Counter() if stats is None else stats
        # None for those that have never responded.
        self._by_name: dict[str, _Origin | None] = {}

    def note_response(self, url: str) -> None:
        """Note that a URL got a response, which ends any outage."""
        name = origin_of(url)
        origin = self._by_name.get(name) or self._origin(name)
        if origin is None:
            origin = self._by_name[name] = _Origin(url)
            self._frontier.note_response(name, url)
        origin.responses += 1
        if origin.pauses:
            self._observer.outage_changed(name, 0, False)
        if origin.failed or origin.pauses:
            origin.end_outage()
        if origin.spared:
            origin.spared.pop(url, None)

    def learn(self, name: str, pauses: int) -> None:
        """Note how many pauses all processes together have made for an origin."""
        if self._by_name.get(name) is None:
            self._by_name.pop(name, None)  # it may have responded since
        origin = self._origin(name)
        if origin is None:
            return
        if not pauses and origin.pauses:
            origin.end_outage()
        origin.pauses = pauses

    def forget(self, url: str) -> None:
        """Forget a URL that will not be fetched again."""
        origin = self._origin(origin_of(url))
        if origin is not None:
            origin.spared.pop(url, None)

    def url_to_probe(self, url: str, now: float) -> str:
        """Return the URL to fetch next, after another one got no response.

        Empty if there is no suspicion, or nothing to find out.
        """
        origin = self._origin(origin_of(url))
        if origin is None or url == origin.known_url or now < origin.held_until:
            return ""
        if len(origin.failed) < SUSPICIOUS_FAILURES:
            origin.failed.add(url)
        is_suspicious = len(origin.failed) == SUSPICIOUS_FAILURES
        return origin.known_url if is_suspicious and self._pause_s(origin) else ""

    def note_down(self, url: str) -> None:
        """Note that the URL to probe got no response either."""
        origin = self._origin(origin_of(url))
        assert origin is not None
        # Unless another URL has got one in the meantime.
        origin.is_down = len(origin.failed) == SUSPICIOUS_FAILURES

    def ends_at(self, url: str, outcome: Outcome, now: float) -> float | None:
        """Return when the pause ends that a host gets if it was up and is down now.

        None if the failure is that of the URL, or if the pauses are used up.  Without the
        pause, an outage of seconds would use up the tries of all URLs of the host.
        """
        origin = self._origin(origin_of(url))
        if origin is None or outcome.status is not None:
            return None
        if not origin.is_down and outcome.reason not in HOST_FAULTS:
            return None
        if origin.spared.setdefault(url, origin.responses) < origin.responses:
            return None  # others have got through since it was put back
        if now < origin.held_until:
            return origin.held_until  # this fetch began before the outage was noticed
        pause_s = self._pause_s(origin)
        if pause_s is None:
            self._observer.outage_changed(origin_of(url), origin.pauses, False)
            return None
        self._stats["outages"] += 1
        origin.pauses += 1
        origin.held_until = now + pause_s
        self._observer.outage_changed(origin_of(url), origin.pauses, True)
        return origin.held_until

    def _pause_s(self, origin: _Origin) -> float | None:
        return politeness.outage_pause_s(origin.pauses, self._first_pause_s)

    def _origin(self, name: str) -> _Origin | None:
        """Return what is known of an origin; None if it has never responded."""
        if name not in self._by_name:
            known_url = self._frontier.known_url(name)
            self._by_name[name] = _Origin(known_url) if known_url else None
        return self._by_name[name]
