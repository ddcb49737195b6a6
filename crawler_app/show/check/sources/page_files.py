"""Pairs pages with the files that they are made from, by their paths.  Pure.

Precedents: the rules of MkDocs, Sphinx, Hugo, Docusaurus, VitePress and Jekyll for the URL of a file.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

__all__ = [
    "CONTENT_SUFFIXES",
    "Route",
    "best_files",
    "file_of_hint",
    "route_of",
    "routes_of",
]

# The parts of a path without what generators add or leave out.
Route = tuple[str, ...]

CONTENT_SUFFIXES = (
    ".md",
    ".mdx",
    ".markdown",
    ".rst",
    ".ipynb",
    ".html",
    ".htm",
    ".txt",
)

# Docusaurus: 01-intro.md is intro; Jekyll, Docusaurus: 2026-01-31-news.md is 2026/01/31/news.
_NUMBER = re.compile(r"\d+\s*[-_.]+\s*(?=[^\d\s\-_.])")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)-(?=.)")

# The keys of front matter that give a page another path.
_NAMED = re.compile(
    r"^(?:slug|permalink|url|id)\s*[:=]\s*[\"']?([^\"'\s#]+)", re.MULTILINE
)
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)\n(.*?)\n\1", re.DOTALL)

# "Edit this page" of GitHub, GitLab and Gitea; Sphinx shows its sources.  Links to /blob/ are left alone,
# since texts have them, too.
_HINT = re.compile(r"/_?edit/[^/]+/(.+)|(?:^|/)_sources/(.+)\.txt$")


@functools.lru_cache(10_000)
def route_of(path: str) -> Route:
    """Return the route of the path of a page or a file.

    >>> route_of("guide/First%20Steps/index.html"), route_of("http://a.test/guide/x.md?y#z")
    (('guide', 'first-steps'), ('guide', 'x'))
    """
    parts = [
        re.sub(r"[\s_]+", "-", part).casefold()
        for part in unquote(urlsplit(path).path).split("/")
        if part not in ("", ".")
    ]
    if parts:
        stem, dot, suffix = parts[-1].rpartition(".")
        if dot + suffix in CONTENT_SUFFIXES:
            parts[-1] = stem
        if parts[-1].replace("-", "") in ("index", "readme"):
            parts.pop()
    return tuple(parts)


def routes_of(path: str, text: str) -> Iterator[Route]:
    """Yield the routes that generators may give a file.

    Args:
        text: Its content, whose front matter may name another.

    >>> list(routes_of("docs/02-setup.md", ""))
    [('docs', '02-setup'), ('docs', 'setup')]
    """
    route = route_of(path)
    yield route
    if route != (plain := tuple(_NUMBER.sub("", part) for part in route)):
        yield plain
    if route and (dated := _DATE.match(route[-1])):
        title = route[-1][dated.end() :]
        yield (*route[:-1], *dated.groups(), title)
        yield (*route[:-1], title)
    if front_matter := _FRONT_MATTER.match(text):
        for name in _NAMED.findall(front_matter[2]):
            named = route_of(name)
            yield named if name.startswith("/") else (*route[:-1], *named)


def best_files(page: str, routes_by_file: Mapping[str, Sequence[Route]]) -> list[str]:
    """Return the files that a page may be made from, the likeliest first.

    >>> best_files("guide/a/index.html", {"docs/guide/a.md": [("docs", "guide", "a")]})
    ['docs/guide/a.md']
    """
    wanted = route_of(page)
    scores = []
    for file, routes in routes_by_file.items():
        score = max(_likeness(wanted, route) for route in routes)
        if score > (0, 0, 0):
            # A template with the same path comes after the content.
            scores.append((score, not file.endswith((".html", ".htm")), file))
    return [file for *_, file in sorted(scores, reverse=True)]


def _likeness(page: Route, file: Route) -> tuple[int, int, int]:
    """Return how well two routes fit: whether one ends the other, and where they differ."""
    common = 0
    while common < min(len(page), len(file)) and page[-1 - common] == file[-1 - common]:
        common += 1
    is_whole = common in (len(page), len(file))
    left = len(page) + len(file) - 2 * common
    if not common and page:
        return (0, 0, 0)
    # The start page has an empty route, and the shallowest index is most like it.
    if not page:
        return (1, 0, -left) if len(file) <= 1 else (0, 0, 0)
    return (1 + is_whole, common, -left)


def file_of_hint(reference: str, files: Iterable[str]) -> str | None:
    """Return the file that an "edit" link of a page names; None if it is no such link.

    >>> file_of_hint("https://git.test/me/x/edit/main/docs/a.md", ["docs/a.md", "a.md"])
    'docs/a.md'
    """
    found = _HINT.search(reference)
    if not found:
        return None
    named = PurePosixPath("/", unquote(found[1] or found[2]).partition("?")[0])
    fitting = [
        file
        for file in files
        if str(named).endswith(f"/{file}") or f"/{file}".endswith(str(named))
    ]
    # Of docs/a.md and a.md the one with more in common, and of x/a.md and x/y/a.md the one with less.
    return min(fitting, key=lambda f: abs(len(f) - len(str(named))), default=None)
