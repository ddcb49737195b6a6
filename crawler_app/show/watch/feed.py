"""The Atom feed of what was told.  Pure."""

import uuid
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from crawler_app.base.text.formatting import iso_time, sentence
from crawler_app.show.watch.notices.notice import HEADING_BY_KIND, Event, event_line

__all__ = ["MAX_ENTRIES", "feed_of"]

MAX_ENTRIES = 100

# A time for a feed without entries.
NEVER = 0.0


def feed_of(id: str, events: Sequence[Event]) -> str:
    """Return a feed, the newest entry first.

    Args:
        id: A word that no other feed has, of 32 hexadecimal digits.
    """
    own = uuid.UUID(id)
    updated = iso_time(events[-1].at if events else NEVER)
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{own.urn}</id><title>Broken links</title><updated>{updated}</updated>",
        "<author><name>gencrawl watch</name></author>",
        *(_entry(own, event) for event in reversed(events)),
        "</feed>",
    ]
    return "\n".join(parts) + "\n"


def _entry(own: uuid.UUID, event: Event) -> str:
    heading = HEADING_BY_KIND[event.kind].partition(";")[0]
    title = f"{event.site}: {heading}" if event.site else sentence(heading)
    if event.target:
        title += f": {event.target}"
    is_link = event.target.startswith(("http://", "https://"))
    link = f"<link href={quoteattr(_clean(event.target))}/>" if is_link else ""
    return (
        f"<entry><id>{uuid.uuid5(own, str(event.id)).urn}</id>"
        f"<title>{escape(_clean(title))}</title><updated>{iso_time(event.at)}</updated>"
        f"{link}<content>{escape(_clean(event_line(event)))}</content></entry>"
    )


def _clean(text: str) -> str:
    """Replace characters that XML does not allow."""
    return "".join(c if c >= " " and c not in "\ufffe\uffff" else "?" for c in text)
