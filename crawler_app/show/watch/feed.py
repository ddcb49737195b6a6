"""The Atom feed of what was told.  Pure."""

import uuid
from collections.abc import Sequence
from xml.etree import ElementTree

from crawler_app.base.text.formatting import cut, iso_time, sentence
from crawler_app.show.watch.notices.notice import Event, heading_of, line_of

__all__ = ["feed_of"]

MAX_ENTRIES = 100
MAX_CHARS = 500


def feed_of(id: str, events: Sequence[Event]) -> str:
    """Return a feed of the last events, the newest entry first.

    Args:
        id: A word that no other feed has, of 32 hexadecimal digits.
    """
    # The id itself is not published: the ids of notices follow from it.
    own = uuid.uuid5(uuid.UUID(id), "/feed")
    feed = ElementTree.Element("feed", xmlns="http://www.w3.org/2005/Atom")
    _add(feed, "id", own.urn)
    _add(feed, "title", "Broken links")
    _add(feed, "updated", iso_time(events[-1].at if events else 0.0))
    _add(_add(feed, "author"), "name", "gencrawl watch")
    for event in reversed(events[-MAX_ENTRIES:]):
        heading = heading_of(event.kind).partition(";")[0]
        title = f"{event.site}: {heading}" if event.site else sentence(heading)
        entry = _add(feed, "entry")
        _add(entry, "id", uuid.uuid5(own, str(event.id)).urn)
        _add(entry, "title", f"{title}: {event.target}" if event.target else title)
        _add(entry, "updated", iso_time(event.at))
        if event.target.startswith(("http://", "https://")):
            _add(entry, "link").set("href", cut(event.target, MAX_CHARS))
        _add(entry, "content", line_of(event))
    ElementTree.indent(feed)
    return ElementTree.tostring(feed, encoding="unicode", xml_declaration=True) + "\n"


def _add(
    parent: ElementTree.Element, name: str, text: str | None = None
) -> ElementTree.Element:
    made = ElementTree.SubElement(parent, name)
    # Escaped, since XML does not allow every character.
    made.text = None if text is None else cut(text, 2 * MAX_CHARS)
    return made
