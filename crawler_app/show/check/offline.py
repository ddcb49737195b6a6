"""Failures of sites that this machine's own network may have caused.

They are kept back until a site answers, so that a machine without a network is named once.
"""

from collections.abc import Iterator

from crawler_app.base.reasons import Reason
from crawler_app.base.text.formatting import number
from crawler_app.base.urls import host_of
from crawler_app.show.check.ends import End, key_of
from crawler_app.show.check.waiting import References, WaitingReferences

__all__ = ["Unreached"]

MAYBE_OFFLINE = (Reason.DNS, Reason.NETWORK)
MIN_OFFLINE_HOSTS = 2
MAX_NAMED_HOSTS = 3


class Unreached:
    """References to URLs that could not be reached."""

    def __init__(self) -> None:
        self._is_online = False
        self._waiting = WaitingReferences()
        self._end_by_url: dict[str, End] = {}

    def keeps(self, group: References, end: End) -> bool:
        """Keep references back, and return True, if the network may be down."""
        if self._is_online or end.outcome.reason not in MAYBE_OFFLINE:
            return False
        url = group.redirected_to or group.target
        self._end_by_url[url] = end
        self._waiting.add(key_of(url), group)
        return True

    def released(self) -> Iterator[tuple[References, End]]:
        """Yield what was kept back, because the network works; nothing is kept from now on."""
        self._is_online = True
        end_by_url, self._end_by_url = self._end_by_url, {}
        for url, end in end_by_url.items():
            for group in self._waiting.pop(key_of(url)):
                yield group, end

    def complaint(self) -> tuple[str, int]:
        """Return what to say of a machine without a network, and the number of URLs.

        Empty if a site was reached, or if only one failed.
        """
        hosts = sorted(set(map(host_of, self._end_by_url)))
        if len(hosts) < MIN_OFFLINE_HOSTS:
            return "", 0
        named, urls = ", ".join(hosts[:MAX_NAMED_HOSTS]), len(self._end_by_url)
        more = " ..." if len(hosts) > MAX_NAMED_HOSTS else ""
        words = (
            f"this machine seems to be offline: none of {number(len(hosts), 'host')} "
            f"could be reached ({named}{more}), so {number(urls, 'URL')} could not be "
            "checked"
        )
        return words, urls

    def close(self) -> None:
        """Delete what is on disk."""
        self._waiting.close()
