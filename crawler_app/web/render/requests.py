"""A request of the browser, as the crawl sees it.  Pure."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["BrowserRequest"]

# Kinds of requests that no page needs to be read: they end late or never, or report.
REFUSED_KINDS = (
    *("CSPViolationReport", "EventSource", "Media", "Ping", "Prefetch"),
    *("SignedExchange", "TextTrack", "WebSocket"),
)

# Headers of a request that the crawl sets by its own rules, or that could tell another host what
# was read before.
OWN_HEADERS = (
    *("accept-encoding", "cache-control", "connection", "content-length"),
    *("dnt", "host", "pragma", "referer", "upgrade-insecure-requests", "user-agent"),
)


@dataclass(slots=True, frozen=True)
class BrowserRequest:
    """A request that is paused.

    Attributes:
        kind: What it is for, in the words of the DevTools protocol, such as ``Script``.
        headers: Without those that the crawl sets.
        body: None for a method that has none.
    """

    url: str
    method: str
    kind: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None

    @classmethod
    def of(cls, params: dict[str, Any]) -> "BrowserRequest | None":
        """Return the request of an event ``Fetch.requestPaused``; None if no page needs it."""
        request = params["request"]
        headers = {k.lower(): v for k, v in request["headers"].items()}
        if _is_spared(params["resourceType"], headers):
            return None
        own = {
            name: value
            for name, value in headers.items()
            if name not in OWN_HEADERS and not name.startswith("sec-")
        }
        parts = request.get("postDataEntries", ())
        body = b"".join(base64.b64decode(part.get("bytes", "")) for part in parts)
        return cls(
            request["url"].partition("#")[0],
            request["method"],
            params["resourceType"],
            own,
            body if request["method"] in ("PATCH", "POST", "PUT") else None,
        )


def _is_spared(kind: str, headers: Mapping[str, str]) -> bool:
    accept = headers.get("accept", "")
    return (
        kind in REFUSED_KINDS
        or accept == "text/event-stream"
        or (kind == "Other" and accept.startswith("image/"))  # the icon of the tab
        or "prefetch" in headers.get("sec-purpose", "")
    )
