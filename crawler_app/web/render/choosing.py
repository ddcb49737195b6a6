"""Which pages are rendered, with ``--render auto``.

Pure.  A page that has a place for its scripts to fill is rendered, unless that place stays empty in
others.  Of all other pages a few are, of one shape of URL after another, to see whether that finds
anything: a page that looks whole may still have its links from a script.
"""

import re
from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple
from urllib.parse import urlsplit

from crawler_app.base.urls import host_of

__all__ = ["Candidate", "RenderChoice", "gaps_in", "has_scripts"]

# A script that a browser runs; the other types are data.  Every pattern for whole pages is bounded:
# an author could have it try for hours.
_SCRIPT = re.compile(
    rb"<script(?=[\s/>])(?![^>]{0,999}\stype\s*=\s*[\"']?(?!text/javascript|module|application/"
    rb"(?:x-)?(?:javascript|ecmascript)|[\"'])[^>]*)",
    re.IGNORECASE,
)

# An element with nothing in it that is neither hidden nor an icon.
_GAP = re.compile(
    rb"<((div|main|section|article|[uod]l|li|table|tbody|h[1-6]|[a-z]+-[a-z-]+)(?=[\s>])"
    rb"(?:(?!\shidden\b)[^<>]){0,300})>(?:\s|<!--[^<>]{0,20}-->)*</\2>",
    re.IGNORECASE,
)

# What tells elements of a page apart, however they are written.
_NOT_NAMED = re.compile(rb"[\s\"'\d]+")

# Text that a script replaces: "Loading", "Wait ..." in any language, "{{ title }}".
_PLACEHOLDER = re.compile(r"\bloading\b|\.\.\.|…|\{\{", re.IGNORECASE)

SHELL = "nothing to read"

# A page with more text is no mere frame for what scripts will show.
SHORT_CHARS = 200

# Of one shape, before its gain is known.
TRIALS_PER_SHAPE = 2

# One page may be rendered in vain for each ten pages of a host.
PAGES_PER_TRIAL = 10

# Places that stay empty, and pages of one shape that can be rendered later.
MAX_KNOWN = 10_000

_NUMBER = re.compile(r"\d")


def has_scripts(body: bytes) -> bool:
    """Return whether a page has a script that a browser would run.

    >>> has_scripts(b"<script src=app.js></script>")
    True
    >>> has_scripts(b'<p>script<script type="application/ld+json">{}</script>')
    False
    """
    return _SCRIPT.search(body) is not None


def gaps_in(body: bytes) -> frozenset[str]:
    """Return the places of a page that its scripts may fill.

    >>> gaps_in(b"<main id=app></main><p></p>")
    frozenset({'mainid=app'})
    >>> gaps_in(b'<MAIN id="app"><!-- --></MAIN>') == gaps_in(b"<main id=app></main>")
    True
    """
    found = (_NOT_NAMED.sub(b"", each[1]) for each in _GAP.finditer(body))
    return frozenset(each.decode("latin-1").lower() for each in found)


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
    """A page that has scripts, as it is without them.

    Attributes:
        needs: What it seems to need them for.
    """

    url: str
    host: str
    shape: str
    needs: frozenset[str]


class RenderChoice:
    """Decides page by page, and learns from each that was rendered.

    >>> choice = RenderChoice()
    >>> shell = choice.candidate("http://a.test/", b"", "", is_shell=True)
    >>> choice.wants(shell)
    True
    >>> choice.learn(shell, has_gained=False)
    >>> choice.wants(choice.candidate("http://a.test/text", b"", "Some text", is_shell=False))
    False
    """

    def __init__(self) -> None:
        self._pages_by_host: Counter[str] = Counter()
        # Of each host and each group: what was rendered in vain, or is under way.
        self._taken: Counter[Hashable] = Counter()
        self._under_way: Counter[Hashable] = Counter()
        # Of each host, what its scripts have not filled.
        self._unfilled: set[tuple[str, str]] = set()
        self._gaining_shapes: set[str] = set()
        self._unrendered_by_shape: dict[str, list[str]] = {}

    def candidate(
        self, url: str, body: bytes, text: str, *, is_shell: bool
    ) -> Candidate:
        """Return a page that was read.

        Args:
            text: What can be read in it without its scripts.
            is_shell: Whether that is nothing, and there is nothing else to see either.
        """
        host = host_of(url)
        self._pages_by_host[host] += 1
        needs = {SHELL} if is_shell else set()
        if len(text) < SHORT_CHARS:
            needs.update(_PLACEHOLDER.findall(text))
            known = self._unfilled
            needs.update(gap for gap in gaps_in(body) if (host, gap) not in known)
        return Candidate(url, host, shape_of(url), frozenset(needs))

    def wants(self, page: Candidate) -> bool | None:
        """Return whether to render a page; None if pages like it that are under way will tell.

        After each that is rendered, `learn` has to be called.
        """
        group = page.shape, page.needs
        if page.shape not in self._gaining_shapes:
            may_try = bool(page.needs) or self._trials_left(page.host) > 0
            if not may_try or self._taken[group] >= TRIALS_PER_SHAPE:
                if page.needs and self._under_way[group]:
                    return None
                unrendered = self._unrendered_by_shape.setdefault(page.shape, [])
                if len(unrendered) < MAX_KNOWN:
                    unrendered.append(page.url)
                return False
        self._taken.update((page.host, group))
        self._under_way[group] += 1
        return True

    def learn(
        self,
        page: Candidate,
        *,
        has_gained: bool | None,
        unfilled: frozenset[str] = frozenset(),
    ) -> None:
        """Note what rendering a page has shown.

        Args:
            has_gained: Whether it has links or text that it had not; None if it failed.
            unfilled: The gaps that its scripts have left.
        """
        group = page.shape, page.needs
        self._under_way[group] -= 1
        if has_gained:
            self._gaining_shapes.add(page.shape)
        if has_gained or page.needs and has_gained is None:  # which is tried again
            self._taken.subtract((page.host, group))
        if len(self._unfilled) < MAX_KNOWN:
            self._unfilled.update((page.host, gap) for gap in unfilled)

    def take_missed(self) -> list[str]:
        """Return pages to render that were not, each once.

        Those of a shape that is known by now to need it; if there are none, one each of shapes of
        which nothing is known, the largest first, while the number of pages allows it.
        """
        by_shape = self._unrendered_by_shape
        gaining = self._gaining_shapes & by_shape.keys()
        found = [url for shape in gaining for url in by_shape.pop(shape)]
        tried: Counter[str] = Counter()
        by_size = sorted(by_shape.items(), key=lambda item: -len(item[1]))
        for shape, urls in () if found else by_size:
            host = shape.partition("/")[0]
            is_new = urls and not self._taken[shape, frozenset()]
            if is_new and tried[host] < self._trials_left(host):
                tried[host] += 1
                found.append(urls.pop())
        self._pages_by_host.subtract(map(host_of, found))  # which are read again
        return found

    def _trials_left(self, host: str) -> int:
        return max(1, self._pages_by_host[host] // PAGES_PER_TRIAL) - self._taken[host]
