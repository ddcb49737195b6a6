"""Distinguishes a host that refuses the crawl from a URL that is broken.

A host may begin to refuse everything after some pages.  When it refuses a URL with an ordinary
status such as 403, a page that it gave before is fetched again: if it refuses that too, it has
closed to the crawl, and its other URLs are not asked for.  At the end of the crawl a few of them
are asked for again, more slowly, and the rest if one of these is answered.

No clock and no socket.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Refusals"]

logger = logging.getLogger(__name__)

TOO_MANY_REQUESTS = 429

# How many refusals in a row say something, if not the first: 503 often passes, and after 429
# nothing should be asked at once, so that more of them decide alone.
SUSPICIOUS_BY_STATUS = {503: 2, TOO_MANY_REQUESTS: 8}

# URLs of a host that are asked for again first.
SAMPLED = 3

# More are left for another run.
MAX_KEPT = 10_000


@dataclass(slots=True)
class _Host:
    """A host that has answered, or refused.

    Attributes:
        known_url: The first of its URLs that it gave.
        answered: The number of URLs that it gave.
        in_a_row: Refusals since the last answer.
        refused: The URLs to ask for again at the end, the first ones.
        is_sampled: Whether the first of these were asked for again.
        closed_by: The status with which it refuses everything; 0 if it does not.
    """

    known_url: str = ""
    answered: int = 0
    in_a_row: int = 0
    refused: dict[str, None] = field(default_factory=dict)
    is_sampled: bool = False
    closed_by: int = 0


class Refusals:
    """The refusals of one run, by host.

    >>> refusals = Refusals()
    >>> refusals.note_answer("a.test", "http://a.test/")
    >>> refusals.url_to_probe("a.test", "http://a.test/x", 403)
    'http://a.test/'
    >>> refusals.note_closed("a.test", 403)
    >>> refusals.closed()
    ['a.test refuses every request now (status 403)']
    """

    def __init__(self) -> None:
        self._host_by_name: dict[str, _Host] = {}

    def note_answer(self, name: str, url: str) -> None:
        """Note that a host has given a page or a file."""
        host = self._host_by_name.get(name)
        if host is None:
            host = self._host_by_name[name] = _Host(url)
        elif not host.known_url:
            host.known_url = url
        host.answered += 1
        host.in_a_row = host.closed_by = 0

    def url_to_probe(self, name: str, url: str, status: int) -> str:
        """Note a refusal; return the URL to fetch, to find out whether the host has closed.

        Empty if it has given no page before, or was asked not long ago.
        """
        host = self._host_by_name.get(name)
        if host is None or not host.known_url or host.known_url == url:
            return ""
        host.in_a_row += 1
        if host.in_a_row < SUSPICIOUS_BY_STATUS.get(status, 1):
            return ""
        if status == TOO_MANY_REQUESTS:
            self.note_closed(name, status)
            return ""
        is_power_of_2 = host.in_a_row & (host.in_a_row - 1) == 0
        return host.known_url if is_power_of_2 else ""

    def note_closed(self, name: str, status: int) -> None:
        """Note that a host refuses everything, with this status."""
        host = self._host_by_name[name]
        is_new = not host.closed_by and not host.is_sampled
        host.closed_by = status
        if is_new:
            logger.warning("%s; it is asked again at the end", _closed(name, host))

    def is_closed(self, name: str) -> bool:
        """Return whether a host refuses everything now."""
        host = self._host_by_name.get(name)
        return host is not None and host.closed_by > 0

    def note_refused(self, name: str, url: str) -> None:
        """Remember a URL that is to be asked for again at the end."""
        refused = self._host_by_name.setdefault(name, _Host()).refused
        if len(refused) < MAX_KEPT:
            refused[url] = None

    def to_ask_again(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the hosts to ask again, and for which URLs: first a few, then the rest."""
        for name, host in self._host_by_name.items():
            urls = list(host.refused)
            if not host.is_sampled:
                urls = urls[:SAMPLED]
            elif host.closed_by or not host.answered:
                continue
            host.is_sampled = True
            host.answered = host.closed_by = host.in_a_row = 0
            for url in urls:
                del host.refused[url]
            if urls:
                yield name, urls

    def closed(self) -> list[str]:
        """Return a sentence about each host that has closed to the crawl."""
        return [
            _closed(name, host)
            for name, host in self._host_by_name.items()
            if host.closed_by
        ]


def _closed(name: str, host: _Host) -> str:
    return f"{name} refuses every request now (status {host.closed_by})"
