"""Which pages are rendered, with ``--render auto``.

Pure.  A page that is nearly empty without its scripts is rendered.  Of all others, a few of each
shape of URL are, to see whether that finds anything: a page that has text may still have its links
from a script, and an empty one may be empty.
"""

import re
from collections import Counter
from urllib.parse import urlsplit

from crawler_app.base.urls import host_of

__all__ = ["RenderChoice", "has_scripts"]

# A script that a browser runs; the other types are data.
_SCRIPT = re.compile(
    rb"<script(?=[\s/>])(?![^>]*\stype\s*=\s*[\"']?(?!text/javascript|module|application/"
    rb"(?:x-)?(?:javascript|ecmascript)|[\"'])[^>]*)",
    re.IGNORECASE,
)

# The text of a page, less than that is a title, a menu or "please turn on JavaScript".
NEARLY_EMPTY_CHARS = 200

# Of one shape, before its gain is known.
SAMPLES_PER_SHAPE = 2

# One page may be rendered in vain for each ten pages of a host.  One that has text always may.
PAGES_PER_SAMPLE = 10

# Of one shape, that can be rendered later.
MAX_UNRENDERED = 10_000

_NUMBER = re.compile(r"\d")


def has_scripts(body: bytes) -> bool:
    """Return whether a page has a script that a browser would run.

    >>> has_scripts(b"<script src=app.js></script>")
    True
    >>> has_scripts(b'<p>script<script type="application/ld+json">{}</script>')
    False
    """
    return _SCRIPT.search(body) is not None


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

    >>> choice = RenderChoice()
    >>> choice.wants("http://a.test/", text_chars=0)
    True
    >>> choice.wants("http://a.test/text", text_chars=5000)
    True
    >>> choice.learn("http://a.test/text", has_gained=False)
    >>> choice.wants("http://a.test/more", text_chars=5000)
    False
    """

    def __init__(self) -> None:
        self._pages_by_host: Counter[str] = Counter()
        # Of each host and each shape: empty pages that stayed so, and samples taken; those of a
        # host only unless they have gained something.
        self._vain: Counter[str] = Counter()
        self._samples: Counter[str] = Counter()
        self._gaining_shapes: set[str] = set()
        self._unrendered_by_shape: dict[str, list[str]] = {}

    def wants(self, url: str, text_chars: int) -> bool:
        """Return whether to render a page that has scripts.

        Args:
            text_chars: The length of the text that it has without them.
        """
        host, shape = host_of(url), shape_of(url)
        self._pages_by_host[host] += 1
        if shape in self._gaining_shapes:
            return True
        is_empty = text_chars < NEARLY_EMPTY_CHARS
        if is_empty and self._vain[shape] < SAMPLES_PER_SHAPE:
            return True
        in_vain = self._pages_by_host[host] // PAGES_PER_SAMPLE
        allowed = max(1, in_vain - self._vain[host])
        if self._samples[shape] < SAMPLES_PER_SHAPE and self._samples[host] < allowed:
            self._samples.update((host, shape))
            return True
        unrendered = self._unrendered_by_shape.setdefault(shape, [])
        if len(unrendered) < MAX_UNRENDERED:
            unrendered.append(url)
        return False

    def learn(self, url: str, *, has_gained: bool, was_empty: bool = False) -> None:
        """Note whether rendering a page has found links or text that it had not.

        Args:
            was_empty: Whether it was rendered because it is nearly empty.
        """
        host, shape = host_of(url), shape_of(url)
        if has_gained:
            self._gaining_shapes.add(shape)
            self._samples[host] -= not was_empty
        elif was_empty:
            self._vain.update((host, shape))

    def take_missed(self) -> list[str]:
        """Return the pages that were not rendered before their shape was known to need it.

        Each is returned once.
        """
        by_shape = self._unrendered_by_shape
        shapes = [shape for shape in by_shape if shape in self._gaining_shapes]
        return [url for shape in shapes for url in by_shape.pop(shape)]
