"""Robots directives in the X-Robots-Tag header and in ``<meta>`` elements.

Pure.  Only the directives that matter to a crawl are read: ``noindex`` keeps a page out of
the index, and ``nofollow`` means that none of its links is followed.  In doubt they apply.
The others, such as ``max-snippet`` and ``unavailable_after``, control how and how long a
search engine shows a page, and are ignored.

Source: Google Search Central, "Robots meta tag, data-nosnippet, and X-Robots-Tag".
"""

import re
from collections.abc import Iterable

__all__ = ["directives_in_header", "directives_in_meta"]

_DIRECTIVES_BY_WORD = {
    "noindex": ("noindex",),
    "nofollow": ("nofollow",),
    "none": ("noindex", "nofollow"),
}

# The standard separator is a comma, but "noindex nofollow" is common and unambiguous.
_GAP = re.compile(r"[\s,;:]+")

# A comma without a space is assumed to join two headers: then the second is not for the
# agent of the first.  If that is wrong, a page is skipped unnecessarily.
_JOINT = re.compile(r",(?!\s)")

# Values that must not be taken as directives or names: "max-image-preview: none", and times.
_VALUE = re.compile(
    r"max-(?:image-preview|snippet|video-preview)\s*:\s*[^\s,;]*"
    r"|unavailable_after\s*:[^,]*"
)

# "otherbot: noindex".
_AGENT = re.compile(r"\s*([a-z*][\w./*-]*)\s*:")

_ALL_AGENTS = ("*", "robots")

# Of all headers together; real ones are far shorter.
MAX_HEADER_CHARS = 8192


def directives_in_meta(content: str) -> frozenset[str]:
    """Return the directives in the ``content`` of a ``<meta name="robots">``.

    >>> sorted(directives_in_meta("NONE")), sorted(directives_in_meta("index, nofollow"))
    (['nofollow', 'noindex'], ['nofollow'])
    """
    words = _GAP.split(_VALUE.sub("", content.lower()))
    return frozenset(
        directive for word in words for directive in _DIRECTIVES_BY_WORD.get(word, ())
    )


def directives_in_header(values: str, agent: str) -> frozenset[str]:
    """Return the directives of X-Robots-Tag headers for one robot.

    Args:
        values: Those of all headers, joined by commas.
        agent: The robot's product token, in upper or lower case.

    >>> sorted(directives_in_header("nofollow, otherbot: noindex", "our-bot"))
    ['nofollow']
    """
    found: set[str] = set()
    for value in _JOINT.split(values[:MAX_HEADER_CHARS]):
        found.update(*map(directives_in_meta, _asked_of(agent.lower(), value)))
    return frozenset(found)


def _asked_of(agent: str, value: str) -> Iterable[str]:
    """Yield the parts of one header that are for a robot.

    A name applies to the directives that follow it, up to the next name.
    """
    is_for_us = True
    for part in _VALUE.sub("", value.lower()).split(","):
        named = _AGENT.match(part)
        if named and named[1] not in _DIRECTIVES_BY_WORD:
            name = named[1].partition("/")[0]
            is_for_us = name == agent or name in _ALL_AGENTS
            part = part[named.end() :]
        if is_for_us:
            yield part
