"""Finds sites without end whose pages say the same again and again.

A calendar has a next month, a site may put a new session id into every path, and a wildcard
in DNS answers for every subdomain.  No URL tells: a shop has as many ids in its paths, but each
of its pages says something else.  So the texts of pages are compared whose URLs differ only in
ids or subdomains, without these ids and names.  In a calendar digits do not count, neither in
the path nor in the text.  Elsewhere a short number counts: there are sites with any number of
pages like "Photo 17".

Pure, and bounded in memory.
"""

import functools
import logging
import re
from collections.abc import Collection

from crawler_app.base.urls import bare_path, host_of, name_of
from crawler_app.run.crawl.scope import registrable_domain

__all__ = ["RepeatedPages", "shapes_of"]

logger = logging.getLogger(__name__)

DIGITS = b"0123456789"

# A path with a year and a month, or with the name of a calendar and a number.
_CALENDAR = re.compile(
    r"/\d{4}[-/](0?[1-9]|1[0-2])(?!\d)"
    r"|/(agenda|cal|calendar|day|diary|events?|month|schedule|week)/(.*/)?[^/a-z]*\d",
    re.IGNORECASE,
)

# A part of a path that is a new id: a long number, a UUID, or letters among digits; ASP.NET
# writes a session as ``(S(id))``.
_ID = re.compile(
    r"(\([a-z]\()?"
    r"(\d{10,}|[\da-f]{16,}|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}"
    r"|(?=.{8})[a-z]*\d+[a-z]+\d[a-z\d]*|(?=.*\d)[a-z\d]{16,})"
    r"\)*",
    re.IGNORECASE,
)

# How often each text occurs in a trap, on average.  A text may rightly occur in some places,
# such as the archives of a year, a month and a day.
LEAST_REPEATS = 20

# A shorter name of a subdomain may well be a part of a word.
LEAST_LABEL_CHARS = 6

# Texts of one shape: a site with more is no trap.  Texts of all shapes: about 20 MB.
MAX_TEXTS = 5_000
MAX_ALL_TEXTS = 50_000


class RepeatedPages:
    """Counts, for each shape of URLs, the pages whose text was seen before.

    Args:
        limit: Such pages before a shape is taken for a trap; None for no limit.
        hosts: Those of the seeds, if URLs that differ in other subdomains have one shape.

    >>> repeated = RepeatedPages(limit=30)
    >>> for month in range(40):
    ...     repeated.note(f"http://a.test/calendar/{month}", f"Events: {month}")
    >>> repeated.is_trap("http://a.test/calendar/99"), repeated.is_trap("http://a.test/99")
    (True, False)
    """

    def __init__(self, limit: int | None, hosts: Collection[str] | None = None) -> None:
        self._limit = limit
        self._hosts = hosts
        # By shape; those of which a page was read last are at the end.
        self._texts_by_shape: dict[str, set[int]] = {}
        self._repeats_by_shape: dict[str, int] = {}
        self._texts = 0
        self._traps: set[str] = set()

    def note(self, url: str, text: str, size_bytes: int = 0) -> None:
        """Note a page that was read: what it says, and its size if that counts, too."""
        if self._limit is None or self.is_trap(url):
            return
        if shapes := shapes_of(url, self._hosts):
            for name in _names_in(url):
                text = text.replace(name, "")
            words = text.encode(errors="replace")
            if _CALENDAR.search(bare_path(url)):
                words = words.translate(None, DIGITS)
            said = hash((words, size_bytes))
            repeats = max(self._note(shape, said) for shape in shapes)
            if self.is_trap(url):
                logger.warning(
                    "%d pages at URLs like %s say what others do, so further ones are "
                    "skipped; max-queries-per-path raises the limit",
                    repeats,
                    url,
                )

    def _note(self, shape: str, text: int) -> int:
        """Note a text; return how many pages had one that was seen before."""
        texts = self._texts_by_shape.pop(shape, None) or set()
        self._texts_by_shape[shape] = texts
        if text not in texts:
            if len(texts) < MAX_TEXTS:
                texts.add(text)
                self._texts += 1
                self._drop_oldest()
            return 0
        repeats = self._repeats_by_shape.get(shape, 0) + 1
        self._repeats_by_shape[shape] = repeats
        assert self._limit is not None
        if repeats >= max(self._limit, LEAST_REPEATS * len(texts)):
            self._traps.add(shape)
        return repeats

    def _drop_oldest(self) -> None:
        while self._texts > MAX_ALL_TEXTS:
            oldest = next(iter(self._texts_by_shape))
            self._texts -= len(self._texts_by_shape.pop(oldest))
            self._repeats_by_shape.pop(oldest, None)

    def is_trap(self, url: str) -> bool:
        """Return whether a URL has the shape of a trap."""
        if not self._traps:
            return False
        return any(shape in self._traps for shape in shapes_of(url, self._hosts))


def shapes_of(url: str, hosts: Collection[str] | None = None) -> set[str]:
    """Return what URLs have in common that differ in ids, dates or subdomains.

    That is the path to the first of these, and the whole path; nothing if there is none.

    >>> sorted(shapes_of("http://a.test/cal/2031/07/list?view=9"))
    ['a.test/cal/*', 'a.test/cal/*/*/list']
    >>> sorted(shapes_of("http://x.a.test/help", hosts=["www.a.test"]))
    ['*.a.test', '*.a.test/help']
    >>> shapes_of("http://a.test/photo/17")
    set()
    """
    host = host_of(url)
    if hosts is not None and host not in hosts:
        host = _general_host(host)
    path = bare_path(url)
    varies = _has_digit if _CALENDAR.search(path) else _ID.fullmatch
    parts = ["*" if varies(part) else part for part in path.split("/")[3:]]
    whole = "/".join([host, *parts])
    if host.startswith("*"):
        return {host, whole}
    if "*" in parts:
        return {whole, "/".join([host, *parts[: parts.index("*") + 1]])}
    return set()


def _names_in(url: str) -> list[str]:
    """Return the host and the ids of a URL, which its page may repeat in its text."""
    host = name_of(host_of(url))
    label = host.partition(".")[0]
    ids = [part for part in bare_path(url).split("/")[3:] if _ID.fullmatch(part)]
    return [host, *[label] * (len(label) >= LEAST_LABEL_CHARS), *ids]


_has_digit = re.compile(r"\d").search


@functools.lru_cache(10_000)
def _general_host(host: str) -> str:
    domain = registrable_domain(host)
    name, colon, port = host.partition(":")
    return f"*.{domain}{colon}{port}" if name.endswith(f".{domain}") else host
