"""Which pages are rendered, with ``--render auto``.

Some pages show a sign that they need it: an element with nothing in it, such as ``<main id=app>``,
or a text like "Loading ...".  The first page of a host with a new sign is rendered as a trial, and
if that gains it links or text, so are all others with the sign.  Pages without such signs may still
get their links from a script: of these, one of each shape of URL, such as ``/blog/*``, is tried.

One of ten pages of a host may be tried in vain.  A page that is not rendered at first can be
later, when other pages have shown that it needs it.
"""

import re
import sys
from collections import Counter
from urllib.parse import urlsplit

from crawler_app.base.urls import host_of

__all__ = ["RenderChoice", "signs_in"]

# An element with nothing in it, which is not hidden.
_GAP = re.compile(
    rb"<((div|main|section|article|[uod]l|li|table|tbody|h[1-6]|span|[a-z]+-[a-z-]+)(?=[\s>])"
    rb"(?:(?!\shidden\b)[^<>]){0,300})>(?:\s|<!--[^<>]{0,20}-->)*</\2>",
    re.IGNORECASE,
)

# Text that a script replaces: "Loading", "Wait ..." in any language, "{{ title }}".
_PLACEHOLDER = re.compile(r"\bloading\b|\.\.\.|…|\{\{", re.IGNORECASE)

# Of one page.
MAX_SIGNS = 10

# One of ten pages of a host may be tried in vain; and some more, with a sign and little text.
PAGES_PER_TRIAL = 10
SHORT_CHARS = 200
TRIALS_OF_SHORT = 5

# Of one shape, that can be rendered later.
MAX_UNRENDERED = 10_000

_NUMBER = re.compile(r"\d+")


def signs_in(body: bytes, text: str) -> list[str]:
    """Return what in a page its scripts may fill or replace, each once.

    Args:
        text: What can be read in it without them; nothing is a sign, too.

    >>> signs_in(b"<h1>Home</h1><main id=app7></main><p>Loading", "Home Loading")
    ['main id=app#', 'Loading']
    """
    gaps = (each[1].decode("latin-1") for each in _GAP.finditer(body))
    found = [_NUMBER.sub("#", each) for each in gaps]
    found += _PLACEHOLDER.findall(text) if text else [""]
    return list(dict.fromkeys(found))[:MAX_SIGNS]


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


class RenderChoice:
    """Decides page by page, and learns from each that was rendered.

    >>> choice, body = RenderChoice(), b"<h1>Home</h1><main></main>"
    >>> choice.wants("http://a.test/", body, "Home")
    True
    >>> choice.learn("http://a.test/", has_gained=True)
    >>> choice.wants("http://a.test/about/us", body, "Home")
    True
    """

    def __init__(self) -> None:
        self._pages_by_host = Counter[str]()
        # In vain, or under way.
        self._trials_by_host = Counter[str]()
        # Under way, by URL: the new signs, or the new shape.
        self._trials: dict[str, list[str]] = {}
        # Of each sign and shape that was tried, whether that has gained something by now.
        self._gains: dict[str, bool] = {}
        # By shape and URL: the shape and the signs of a page.
        self._unrendered: dict[str, dict[str, list[str]]] = {}

    def wants(self, url: str, body: bytes, text: str) -> bool:
        """Return whether to render a page that has scripts; once it is, `learn` has to be told.

        Args:
            text: What can be read in it without them.
        """
        host, shape = host_of(url), shape_of(url)
        self._pages_by_host[host] += 1
        # Most signs are in many pages.
        signs = [sys.intern(f"{host} {each}") for each in signs_in(body, text)]
        page = [shape, *signs]
        if url in self._trials or self._is_gaining(page):
            return True
        if trial := self._trial_of(url, page, is_short=len(text) < SHORT_CHARS):
            self._trials[url] = trial
            self._trials_by_host[host] += 1
            self._gains.update(dict.fromkeys(trial, False))
            return True
        unrendered = self._unrendered.setdefault(shape, {})
        if len(unrendered) < MAX_UNRENDERED:
            unrendered[url] = page
        return False

    def learn(self, url: str, *, has_gained: bool) -> None:
        """Note whether a page, as rendered, has links or text that it had not."""
        trial = self._trials.pop(url, [])
        if trial and has_gained:
            self._trials_by_host[host_of(url)] -= 1
            self._gains.update(dict.fromkeys(trial, True))

    def take_missed(self) -> list[str]:
        """Return pages to render that were not, each once.

        Those that are known by now to need it; if there are none, one of each shape that may be
        tried, of the largest first.
        """
        by_size = sorted(self._unrendered.values(), key=len, reverse=True)
        every = [each for pages in by_size for each in pages.items()]
        found = [url for url, page in every if self._is_gaining(page)]
        tried = Counter[str]()
        for pages in () if found else by_size:
            new = (url for url, page in pages.items() if self._trial_of(url, page))
            url = next(new, "")
            if url and tried[host := host_of(url)] < self._trials_left(host):
                tried[host] += 1
                found.append(url)
        for url in found:
            del self._unrendered[shape_of(url)][url]
            self._pages_by_host[host_of(url)] -= 1  # it is read again
        return found

    def _is_gaining(self, page: list[str]) -> bool:
        return any(map(self._gains.get, page))

    def _trial_of(
        self, url: str, page: list[str], *, is_short: bool = False
    ) -> list[str]:
        """Return what rendering a page would try; nothing if all is known, or it may not be."""
        host, (shape, *signs) = host_of(url), page
        new = [each for each in signs if each not in self._gains]
        left = self._trials_left(host)
        if new and is_short:
            left += TRIALS_OF_SHORT
        if left <= 0 or (not new and shape in self._gains):
            return []
        return new or [shape]

    def _trials_left(self, host: str) -> int:
        allowed = max(1, self._pages_by_host[host] // PAGES_PER_TRIAL)
        return allowed - self._trials_by_host[host]
