"""What rendering a page has gained and cost: written into the note of its URL, and read from there.

Pure.  So it is known page by page, of all runs and all workers of a crawl.
"""

import re
from typing import NamedTuple, Self

from crawler_app.base.text.formatting import number, seconds

__all__ = ["DOCUMENT", "RenderedPage", "render_words"]

# The document of a rendered page in the archive: this before its URL.
DOCUMENT = "urn:dom:"

_NOTE = re.compile(
    r"rendered: \+([\d,]+) links?, \+([\d,]+) words?, ([\d,]+) requests?, "
    r"CPU ([\d,]+) ms"
)


class RenderedPage(NamedTuple):
    """One page, or the sum of several.

    Attributes:
        links: Those that the page has by its scripts only.
        words: The same.
        requests: Which the page has made.
        chromium_ms: CPU time of the browser.
        pages: 1, unless it is a sum.
        gained: Those that had more links or text by their scripts.
    """

    links: int = 0
    words: int = 0
    requests: int = 0
    chromium_ms: int = 0
    pages: int = 0
    gained: int = 0

    def __add__(self, other: tuple[int, ...]) -> Self:  # type: ignore[override]
        return type(self)(*(sum(pair) for pair in zip(self, other, strict=True)))

    @property
    def note(self) -> str:
        """The note of a page.

        >>> RenderedPage(3, 1200, 5, 180, 1, 1).note
        'rendered: +3 links, +1,200 words, 5 requests, CPU 180 ms'
        """
        return (
            f"rendered: +{number(self.links, 'link')}, +{number(self.words, 'word')}, "
            f"{number(self.requests, 'request')}, CPU {self.chromium_ms:,} ms"
        )

    @classmethod
    def of_note(cls, note: str) -> Self:
        """Return what a note says; nothing but zeros if it is of no rendered page.

        >>> RenderedPage.of_note("rendered: +1 link, +0 words, 5 requests, CPU 180 ms")
        RenderedPage(links=1, words=0, requests=5, chromium_ms=180, pages=1, gained=1)
        """
        found = _NOTE.search(note)
        if found is None:
            return cls()
        counts = [int(each.replace(",", "")) for each in found.groups()]
        return cls._make([*counts, 1, int(any(counts[:2]))])


def render_words(total: RenderedPage) -> str:
    """Return the sum of several pages in words.

    >>> render_words(RenderedPage(3, 1200, 50, 1800, 10, 2))
    '2 had 3 more links and 1,200 more words; 50 requests, CPU 1.80 s of Chromium'
    >>> render_words(RenderedPage(requests=50, chromium_ms=1800, pages=10))
    'none had more links or words; 50 requests, CPU 1.80 s of Chromium'
    """
    counts = [(total.links, "more link"), (total.words, "more word")]
    gains = " and ".join(number(count, noun) for count, noun in counts if count)
    gain = f"{total.gained:,} had {gains}" if gains else "none had more links or words"
    return (
        f"{gain}; {number(total.requests, 'request')}, CPU "
        f"{seconds(total.chromium_ms / 1000)} of Chromium"
    )
