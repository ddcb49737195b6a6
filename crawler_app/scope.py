"""What may be crawled.

Pure: a URL goes in, a Verdict with its reason comes out.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from crawler_app.models import TOO_DEEP
from crawler_app.urls import host_of

__all__ = ["Scope", "Verdict"]


@dataclass(slots=True, frozen=True)
class Verdict:
    """Whether a URL may be fetched, and if not, why: one word for counting."""

    is_in_scope: bool
    refusal: str = ""


IN_SCOPE = Verdict(True)
OTHER_HOST = Verdict(False, "out_of_scope")
BELOW_DEPTH = Verdict(False, TOO_DEEP)
EXCLUDED = Verdict(False, "excluded_by_pattern")
NOT_INCLUDED = Verdict(False, "not_included")


class Scope:
    """The hosts of the seeds, narrowed by patterns and by depth.

    A host is a name and a port; http and https on their default ports are one host.

    Args:
        seeds: Canonical URLs.
        include: Regular expressions; a URL must match one of them, if there are any.
            Seeds need not.
        exclude: Regular expressions that a URL must not match.
        max_depth: Most links from a seed; None for no limit.

    >>> scope = Scope(["http://a.test/"], exclude=["/private/"])
    >>> scope.check("http://a.test/private/x", depth=1)
    Verdict(is_in_scope=False, refusal='excluded_by_pattern')
    """

    def __init__(
        self,
        seeds: Iterable[str],
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        max_depth: int | None = None,
    ) -> None:
        self._seeds = frozenset(seeds)
        self._hosts = frozenset(map(host_of, self._seeds))
        self._include = [re.compile(pattern) for pattern in include]
        self._exclude = [re.compile(pattern) for pattern in exclude]
        self._max_depth = max_depth

    def check(self, url: str, depth: int) -> Verdict:
        """Return the verdict on a canonical URL found so many links from a seed."""
        if host_of(url) not in self._hosts:
            return OTHER_HOST
        if url in self._seeds:
            return IN_SCOPE
        if any(pattern.search(url) for pattern in self._exclude):
            return EXCLUDED
        if self._include and not any(p.search(url) for p in self._include):
            return NOT_INCLUDED
        if self._max_depth is not None and depth > self._max_depth:
            return BELOW_DEPTH
        return IN_SCOPE
