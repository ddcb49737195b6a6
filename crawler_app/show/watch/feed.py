"""The Atom feed of what was told.  Pure."""

from xml.etree import ElementTree

from crawler_app.base.text.formatting import cut, iso_time
from crawler_app.show.watch.memory import Memory

__all__ = ["feed_of"]

MAX_ENTRIES = 100
MAX_CHARS = 500


def feed_of(memory: Memory) -> str:
    """Return a feed of the last events, the newest entry first."""
    events = memory.events[-MAX_ENTRIES:]
    feed = ElementTree.Element("feed", xmlns="http://www.w3.org/2005/Atom")
    # No channel has a slash in its name, so no id of a notice is published.
    _add(feed, "id", memory.own_id("/feed").urn)
    _add(feed, "title", "Broken links")
    _add(feed, "updated", iso_time(events[-1].at if events else 0.0))
    _add(_add(feed, "author"), "name", "gencrawl watch")
    for event in reversed(events):
        entry = _add(feed, "entry")
        _add(entry, "id", memory.own_id(f"/feed/{event.id}").urn)
        _add(
            entry, "title", f"{event.site}: {event.kind}: {event.target or event.line}"
        )
        _add(entry, "updated", iso_time(event.at))
        if event.target.startswith(("http://", "https://")):
            _add(entry, "link").set("href", cut(event.target, MAX_CHARS))
        _add(entry, "content", event.line)
    ElementTree.indent(feed)
    return ElementTree.tostring(feed, encoding="unicode", xml_declaration=True) + "\n"


def _add(
    parent: ElementTree.Element, name: str, text: str | None = None
) -> ElementTree.Element:
    made = ElementTree.SubElement(parent, name)
    # Escaped, since XML does not allow every character.
    made.text = None if text is None else cut(text, 2 * MAX_CHARS)
    return made
