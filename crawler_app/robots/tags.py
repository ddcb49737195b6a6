"""What a page asks of robots, in its X-Robots-Tag header or in a ``<meta>``.

Pure.  Only what a crawl acts on is read: ``noindex``, keep the page out of the index, and
``nofollow``, follow none of its links.  In doubt they hold.  The rest, of which
``max-snippet`` and ``unavailable_after`` are the best known, is about how and how long a
search engine shows a page, and is passed over.

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

# Commas are the rule; "noindex nofollow" is common, and its meaning plain.
_GAP = re.compile(r"[\s,;:]+")

# A comma without a space joins two headers, or so it is taken: then the second is not for
# the agent of the first.  If that is wrong, a page is left alone that need not be.
_JOINT = re.compile(r",(?!\s)")

# Not to be read as directives or names: "max-image-preview: none", and times of day.
_VALUE = re.compile(
    r"max-(?:image-preview|snippet|video-preview)\s*:\s*[^\s,;]*"
    r"|unavailable_after\s*:[^,]*"
)

# "otherbot: noindex".
_AGENT = re.compile(r"\s*([a-z*][\w./*-]*)\s*:")

_EVERYBODY = ("*", "robots")


def directives_in_meta(content: str) -> frozenset[str]:
    """Return what the ``content`` of a ``<meta name="robots">`` asks for.

    >>> sorted(directives_in_meta("NONE")), sorted(directives_in_meta("index, nofollow"))
    (['nofollow', 'noindex'], ['nofollow'])
    """
    words = _GAP.split(_VALUE.sub("", content.lower()))
    return frozenset(
        directive for word in words for directive in _DIRECTIVES_BY_WORD.get(word, ())
    )


def directives_in_header(values: str | Iterable[str], agent: str) -> frozenset[str]:
    """Return what X-Robots-Tag headers ask of one robot.

    Args:
        values: The value of each header, or all of them joined by commas.
        agent: The robot's product token, in any case.

    >>> sorted(directives_in_header("nofollow, otherbot: noindex", "our-bot"))
    ['nofollow']
    >>> sorted(directives_in_header(["otherbot: nofollow", "Our-Bot: none"], "our-bot"))
    ['nofollow', 'noindex']
    """
    if isinstance(values, str):
        values = _JOINT.split(values)
    found: set[str] = set()
    for value in values:
        found.update(*map(directives_in_meta, _asked_of(agent.lower(), value)))
    return frozenset(found)


def _asked_of(agent: str, value: str) -> Iterable[str]:
    """Yield the parts of one header that are for a robot.

    A name holds for all that follows it, up to the next one.
    """
    is_for_us = True
    for part in _VALUE.sub("", value.lower()).split(","):
        named = _AGENT.match(part)
        if named and named[1] not in _DIRECTIVES_BY_WORD:
            name = named[1].partition("/")[0]
            is_for_us = name == agent or name in _EVERYBODY
            part = part[named.end() :]
        if is_for_us:
            yield part
