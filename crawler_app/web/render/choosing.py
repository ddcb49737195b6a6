"""Which pages are rendered, with ``--render auto``.

A page that has a place for its scripts to fill is rendered, unless that place stays empty in
others.  Of all other pages a few are, of one shape of URL after another, to see whether that finds
anything: a page that looks whole may still have its links from a script.
"""

import re
from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple
from urllib.parse import urlsplit

from crawler_app.base.subgenerator import Subgenerator
from crawler_app.base.urls import host_of
from gencoro.locks import Condition

__all__ = ["Candidate", "RenderChoice", "gaps_in", "has_scripts"]

# A script that a browser runs; the other types are data.  Every pattern for whole pages is bounded:
# an author could have it try for hours.
_SCRIPT = re.compile(
    rb"<script(?=[\s/>])(?![^>]{0,999}\stype\s*=\s*[\"']?(?!text/javascript|module|application/"
    rb"(?:x-)?(?:javascript|ecmascript)|[\"'])[^>]*)",
    re.IGNORECASE,
)

# An element with nothing in it, which is not hidden.
_GAP = re.compile(
    rb"<((div|main|section|article|[uod]l|li|table|tbody|h[1-6]|span|[a-z]+-[a-z-]+)(?=[\s>])"
    rb"(?:(?!\shidden\b)[^<>]){0,300})>(?:\s|<!--[^<>]{0,20}-->)*</\2>",
    re.IGNORECASE,
)

# What tells elements of a page apart, however they are written.
_NOT_NAMED = re.compile(rb"[\s\"'\d]+")

# Text that a script replaces: "Loading", "Wait ..." in any language, "{{ title }}".
_PLACEHOLDER = re.compile(r"\bloading\b|\.\.\.|…|\{\{", re.IGNORECASE)

# A page with more text is no mere frame for what scripts will show.
SHORT_CHARS = 200

# Of one shape, before its gain is known.
TRIALS_PER_SHAPE = 2

# One page may be rendered in vain for each ten pages of a host; some more, while they show what the
# signs in them mean.
PAGES_PER_TRIAL = 10
TRIALS_OF_SIGNS = 5

# Of one shape, that can be rendered later.
MAX_UNRENDERED = 10_000

# Of all hosts.  Without an end, a site could have new ones in each page.
MAX_SIGNS = 10_000

_NUMBER = re.compile(r"\d")


def has_scripts(body: bytes) -> bool:
    """Return whether a page has a script that a browser would run.

    >>> has_scripts(b"<script src=app.js></script>")
    True
    >>> has_scripts(b'<p>script<script type="application/ld+json">{}</script>')
    False
    """
    return _SCRIPT.search(body) is not None


def gaps_in(body: bytes) -> Counter[str]:
    """Return the places of a page that its scripts may fill, and how many there are of each.

    >>> gaps_in(b"<main id=app></main><p></p>")
    Counter({'mainid=app': 1})
    >>> gaps_in(b'<MAIN id="app"><!-- --></MAIN>') == gaps_in(b"<main id=app></main>")
    True
    """
    found = (_NOT_NAMED.sub(b"", each[1]) for each in _GAP.finditer(body))
    return Counter(each.decode("latin-1").lower() for each in found)


def shape_of(url: str) -> str:
    """Return what a URL has in common with those of similar pages.

    >>> shape_of("http://a.test/blog/2024/hello-world?page=2")
    'a.test/blog/#/*?'
    >>> shape_of("http://a.test/about")
    'a.test/*'
    """
    parts = urlsplit(url)
    *folders, _ = parts.path.split("/")[1:] or [""]
    named = ["#" if _NUMBER.search(each) else each for each in folders]
    return "/".join([host_of(url), *named, "*"]) + "?" * bool(parts.query)


class Candidate(NamedTuple):
    """A page that is to be rendered.

    Attributes:
        signs: What in it may mean that it needs that, if this is not known yet.
        counted: What one more was rendered of, unless it is sure to gain something.
    """

    host: str
    shape: str
    signs: frozenset[str]
    counted: tuple[Hashable, ...]


class RenderChoice:
    """Decides page by page, and learns from each that was rendered."""

    def __init__(self) -> None:
        self._pages_by_host: Counter[str] = Counter()
        # Of each host and each group: what was rendered in vain, or is under way.
        self._taken: Counter[Hashable] = Counter()
        # Of each host, whether a sign means anything; and those that are being tried.
        self._meaning: dict[tuple[str, str], bool] = {}
        self._under_way: Counter[tuple[str, str]] = Counter()
        self._learned = Condition()
        self._gaining_shapes: set[str] = set()
        self._unrendered_by_shape: dict[str, list[str]] = {}

    def candidate(
        self, url: str, body: bytes, text: str, *, is_shell: bool
    ) -> Subgenerator[Candidate | None]:
        """Return a page to render, of which `learn` has to be told; None if it is left as it is.

        Waits while other pages with the same signs are rendered, which will tell.

        Args:
            text: What can be read in it without its scripts.
            is_shell: Whether that is nothing, and there is nothing else to see either.
        """
        host, shape = host_of(url), shape_of(url)
        self._pages_by_host[host] += 1
        signs = frozenset[str]()
        if len(text) < SHORT_CHARS:
            signs = signs.union(gaps_in(body), _PLACEHOLDER.findall(text))
        while True:
            meaning = {each: self._meaning.get((host, each)) for each in signs}
            unknown = frozenset(each for each in signs if meaning[each] is None)
            page = Candidate(host, shape, unknown, (host, (shape, is_shell)))
            if shape in self._gaining_shapes or True in meaning.values():
                page = Candidate(host, shape, frozenset(), ())
            elif not self._may_try(page, is_shell=is_shell):
                unrendered = self._unrendered_by_shape.setdefault(shape, [])
                if len(unrendered) < MAX_UNRENDERED:
                    unrendered.append(url)
                return None
            if not any(self._under_way[host, each] for each in page.signs):
                self._taken.update(page.counted)
                self._under_way.update((host, each) for each in page.signs)
                return page
            yield self._learned.wait()

    def _may_try(self, page: Candidate, *, is_shell: bool) -> bool:
        left = self._trials_left(page.host)
        if page.signs and left > -TRIALS_OF_SIGNS:
            return True
        is_new = self._taken[page.shape, is_shell] < TRIALS_PER_SHAPE
        return is_new and (is_shell or left > 0)

    def learn(
        self,
        page: Candidate,
        *,
        has_gained: bool | None,
        before: Counter[str],
        after: Counter[str],
    ) -> None:
        """Note what rendering a page has shown.

        Args:
            has_gained: Whether it has links or text that it had not; None if it failed.
            before: Its gaps.
            after: Those that are left.
        """
        if has_gained is not False:
            self._taken.subtract(page.counted)
        if has_gained:
            self._gaining_shapes.add(page.shape)
        self._under_way.subtract((page.host, each) for each in page.signs)
        known = has_gained is not None and len(self._meaning) < MAX_SIGNS
        for each in page.signs.union(before) if known else ():
            is_filled = each not in before or after[each] < before[each]
            self._meaning.setdefault((page.host, each), bool(has_gained and is_filled))
        self._learned.notify_all()

    def take_missed(self) -> list[str]:
        """Return pages to render that were not, each once.

        Those of a shape that is known by now to need it; if there are none, one each of shapes of
        which nothing is known, the largest first, while the number of pages allows it.
        """
        by_shape = self._unrendered_by_shape
        gaining = [shape for shape in by_shape if shape in self._gaining_shapes]
        found = [url for shape in gaining for url in by_shape.pop(shape)]
        tried: Counter[str] = Counter()
        by_size = sorted(by_shape.items(), key=lambda item: -len(item[1]))
        for shape, urls in () if found else by_size:
            host = shape.partition("/")[0]
            is_new = urls and not self._taken[shape, False]
            if is_new and tried[host] < self._trials_left(host):
                tried[host] += 1
                found.append(urls.pop())
        self._pages_by_host.subtract(map(host_of, found))  # which are read again
        return found

    def _trials_left(self, host: str) -> int:
        return max(1, self._pages_by_host[host] // PAGES_PER_TRIAL) - self._taken[host]
