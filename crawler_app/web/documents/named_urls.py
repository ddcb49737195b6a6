"""URLs that a page names for programs, and that its forms lead to: a check asks for these too.

Pure.  A browser neither loads nor shows them: previews in social networks (Open Graph), search
engines (JSON-LD, microdata), import maps, the sources of quotations, forms sent with GET.
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from turbohtml import Element

from crawler_app.web.documents.references import Reference, Use
from crawler_app.web.documents.tree import Tree

__all__ = ["urls_named_in"]

_PROPERTIES = frozenset(
    (
        *("og:audio", "og:image", "og:image:url", "og:image:secure_url", "og:url"),
        *("og:video", "og:video:url", "twitter:image", "twitter:image:src"),
        "msapplication-tileimage",
    )
)

# Keys of schema.org whose values are URLs of this site, or of others that exist.
_KEYS = frozenset(
    (
        *("contentUrl", "embedUrl", "image", "item", "logo", "mainEntityOfPage"),
        *("sameAs", "thumbnailUrl", "url"),
    )
)
MAX_URLS = 1000
MAX_DEPTH = 32


def urls_named_in(tree: Tree) -> Iterator[Reference]:
    """Yield the URLs that a page names, without those that it links to or loads.

    >>> from crawler_app.web.documents.tree import tree_of
    >>> tree = tree_of("<meta property=og:image content=a.png>")
    >>> [each.value for each in urls_named_in(tree)]
    ['a.png']
    """
    for element in tree.tags("meta"):
        name = element.attr("property") or element.attr("name") or ""
        content = (element.attr("content") or "").strip()
        if (
            content
            and name.strip().lower() in _PROPERTIES
            or _is_url_of(element.attr("itemprop") or "", content)
        ):
            yield Reference(element, content, Use.NAMED, "meta", "content")
    for element in tree.select("link[itemprop][href]:not([rel])"):
        if _is_url_of(element.attr("itemprop") or "", element.attr("href") or ""):
            yield _in_attribute(element, "href", Use.NAMED)
    for element in tree.tags("form"):
        action = element.attr("action")
        method = (element.attr("method") or "get").strip().lower()
        if method in ("post", "dialog"):
            continue
        if action:
            yield Reference(element, action, Use.LINK, "form", "action")
        for button in element.select("[formaction]:not([formmethod])"):
            yield _in_attribute(button, "formaction", Use.LINK)
    for attribute in ("cite", "longdesc"):
        for element in tree.select(f"[{attribute}]"):
            yield _in_attribute(element, attribute, Use.NAMED)
    for element in tree.tags("script"):
        kind = (element.attr("type") or "").strip().lower()
        if kind in _URLS_BY_TYPE:
            yield from _in_data(element, kind)


def _in_attribute(element: Element, attribute: str, use: Use) -> Reference:
    value = (element.attr(attribute) or "").strip()
    return Reference(element, value, use, element.tag, attribute)


def _in_data(element: Element, kind: str) -> Iterator[Reference]:
    try:
        data = json.loads(element.text)
    except (ValueError, RecursionError):
        return
    name, urls_in = _URLS_BY_TYPE[kind]
    for url in itertools.islice(urls_in(data), MAX_URLS):
        yield Reference(element, url, Use.NAMED, name, "")


def _modules_in(data: Any) -> Iterator[str]:
    """Yield the URLs of an import map, without prefixes of URLs."""
    imports = data.get("imports") if isinstance(data, dict) else None
    for url in imports.values() if isinstance(imports, dict) else ():
        if isinstance(url, str) and not url.endswith("/"):
            yield url


def _urls_in(data: Any, depth: int = MAX_DEPTH, key: str = "") -> Iterator[str]:
    if isinstance(data, str):
        if _is_url_of(key, data):
            yield data.strip()
    elif depth and isinstance(data, list):
        for each in data:
            yield from _urls_in(each, depth - 1, key)
    elif depth and isinstance(data, dict):
        for name, value in data.items():
            yield from _urls_in(value, depth - 1, name)


def _is_url_of(keys: str, value: str) -> bool:
    is_url = value.strip().lower().startswith(("http", "/"))
    return is_url and not _KEYS.isdisjoint(keys.split())


# What a block of data is called, and the URLs in it.
_URLS_BY_TYPE = {
    "application/ld+json": ("JSON-LD", _urls_in),
    "importmap": ("import map", _modules_in),
}
