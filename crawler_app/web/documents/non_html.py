"""References in files that are not pages: style sheets and web app manifests.

Pure.  Those in an SVG image are read like those of a page.
"""

import json
from collections.abc import Iterator
from typing import Any

from crawler_app.base.http_headers import media_type
from crawler_app.web.documents.css import decode_css, references_in_css
from crawler_app.web.documents.references import Mention, Use
from crawler_app.web.documents.tree import Lines

__all__ = ["SVG_TYPE", "may_have_assets", "mentions_in_file"]

# Source: MIME Sniffing, "JSON MIME type", and Web Application Manifest.
_MANIFEST_TYPES = ("application/manifest+json", "application/json", "text/json")
_STYLE_TYPE = "text/css"
SVG_TYPE = "image/svg+xml"


def may_have_assets(content_type: str) -> bool:
    """Return whether files of a type may refer to others.

    >>> may_have_assets("text/css; charset=utf-8"), may_have_assets("image/png")
    (True, False)
    """
    return media_type(content_type) in (_STYLE_TYPE, SVG_TYPE, *_MANIFEST_TYPES)


def mentions_in_file(body: bytes, content_type: str) -> list[Mention]:
    """Return what a file refers to; nothing for other types.

    >>> mentions_in_file(b"a { background: url(b.png) }", "text/css")[0][:3]
    ('b.png', <Use.ASSET: 2>, 'url()')
    """
    kind = media_type(content_type)
    if kind == _STYLE_TYPE:
        return list(_in_style_sheet(decode_css(body, content_type)))
    icons = _icons_in(body) if kind in _MANIFEST_TYPES else ()
    return [Mention(icon, Use.ASSET, "manifest", "") for icon in dict.fromkeys(icons)]


def _in_style_sheet(text: str) -> Iterator[Mention]:
    lines = Lines(text.replace("\r\n", "\n").replace("\r", "\n"))
    for found in references_in_css(text):
        name = "@import" if found.is_import else "url()"
        yield Mention(found.value, Use.ASSET, name, "", *lines.place(found.at))


def _icons_in(body: bytes) -> Iterator[str]:
    """Yield the images of a manifest; JSON that is none has no such lists."""
    try:
        manifest = json.loads(body)
    except (ValueError, RecursionError):
        return
    yield from _sources_in(manifest)
    for shortcut in _list_in(manifest, "shortcuts"):
        yield from _sources_in(shortcut)


def _sources_in(parent: Any) -> Iterator[str]:
    for name in ("icons", "screenshots"):
        for image in _list_in(parent, name):
            if isinstance(image, dict) and isinstance(image.get("src"), str):
                yield image["src"]


def _list_in(parent: Any, name: str) -> list[Any]:
    found = parent.get(name) if isinstance(parent, dict) else None
    return found if isinstance(found, list) else []
