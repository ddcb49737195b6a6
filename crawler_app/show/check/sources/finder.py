"""Finds the place of a finding in the sources of a site."""

import functools
import os
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from crawler_app.base.errors import ConfigError
from crawler_app.show.check.sources.page_files import (
    CONTENT_SUFFIXES,
    Route,
    best_files,
    file_of_hint,
    route_of,
    routes_of,
)
from crawler_app.show.check.sources.tokens import (
    Token,
    is_beside,
    normal,
    tokens_of,
    with_uses,
    words_of,
)

__all__ = ["SourceFinder", "SourcePlace"]

# Menus and footers are in these.
OTHER_SUFFIXES = (
    *(".yml", ".yaml", ".toml", ".json", ".js", ".jsx", ".ts", ".tsx", ".mts", ".vue"),
    *(".j2", ".jinja", ".py", ".css", ".scss"),
)
# Those of programs; what begins with a dot is skipped, too, but for these.
SKIPPED_NAMES = ("node_modules", "__pycache__", "venv", "_build", "_site")
DOTTED_NAMES = (".vitepress", ".vuepress")

MAX_FILE_BYTES = 2_000_000

# Of content; the others are templates and settings.
PAGE_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".ipynb", ".txt")

INDEXES = ("index", "_index", "README")

# Of the likeliest files of a page, for those that are alike, such as index.md and README.md.
MAX_LIKELY = 3

# Further files, for a reference that is in none of these.
MAX_LOOKED_IN = 20


class SourcePlace(NamedTuple):
    """A place in a file, from 1; columns are in characters."""

    file: str
    line: int
    column: int


class _Wanted(NamedTuple):
    """What is looked for: the reference without escapes, and where it leads."""

    page: str
    href: str
    target: Route
    text: str
    ordinal: int


class _Found(NamedTuple):
    """A place, and whether the text of the link is beside it."""

    place: SourcePlace
    has_text: bool


# Says whether a token of a file may be the reference.
_Fits = Callable[[str, _Wanted, str], bool]


class SourceFinder:
    """The files of a directory with the sources of a site.

    Args:
        left_out: Directories in it that are no sources, such as the built site.

    Raises:
        ConfigError: it is not a directory, or has no sources.
    """

    def __init__(self, root: Path, left_out: Collection[Path] = ()) -> None:
        if not root.is_dir():
            raise ConfigError(f"{root}, given by --sources, is not a directory")
        self._root = root
        self._files = sorted(_files_in(root, {path.resolve() for path in left_out}))
        content = [file for file in self._files if file.endswith(CONTENT_SUFFIXES)]
        if not content:
            raise ConfigError(f"there are no sources of pages in {root}")
        self._content = content
        # Only files whose last part is that of a page are compared with it.
        self._routes_by_name: dict[str, dict[str, list[Route]]] = defaultdict(dict)
        self._routes = {file: [*routes_of(file, self._read(file))] for file in content}
        for file, routes in self._routes.items():
            for name in {part for route in routes for part in _names(route)}:
                self._routes_by_name[name][file] = routes
        self._file_by_page: dict[str, str] = {}
        self._found_before: Counter[tuple[str, str, str]] = Counter()
        self._likely = functools.lru_cache(1000)(self._likely_files)
        self._tokens = functools.lru_cache(100)(self._tokens_of)

    def note_links(self, page: str, references: Iterable[str]) -> None:
        """Note the file that a page names in an "edit" link."""
        for reference in references:
            if file := file_of_hint(reference, self._content):
                self._file_by_page[page] = file
                return

    def locate(
        self, page: str, href: str, target: str, text: str
    ) -> SourcePlace | None:
        """Return where a reference is written; None if that is not certain.

        Args:
            page: The path of the page in the site, or its URL.
            target: Where the reference leads, in the same way.
            text: The text of the link.
        """
        self._found_before[page, href, text] += 1
        ordinal = self._found_before[page, href, text] - 1
        wanted = _Wanted(page, normal(href), route_of(target), text, ordinal)
        named = self._file_by_page.get(page)
        files = [named] if named else self._likely(page)
        for fits in (_is_written, self._leads_there, _is_unresolved, _has_name):
            for file in files:
                found = self._best(file, wanted, fits)
                is_word = fits is _is_unresolved and not re.search("[/.]", href)
                if found and (found.has_text or not is_word):
                    return found.place
        return self._elsewhere(wanted)

    def _best(self, file: str, wanted: _Wanted, fits: _Fits) -> _Found | None:
        """Return the place of the likeliest of the fitting tokens of a file."""
        fitting = [
            token
            for text, tokens in self._tokens(file).items()
            if fits(text, wanted, file)
            for token in tokens
        ]
        if not fitting:
            return None
        lines = self._read(file).split("\n")
        text = words_of(wanted.text)
        places: dict[tuple[bool, ...], set[tuple[int, int]]] = defaultdict(set)
        for token in fitting:
            line = with_uses(lines, token.line - 1)
            is_on_line = set(text) <= set(words_of(line))
            rank = not token.is_example, is_beside(text, lines, token), is_on_line
            places[rank].add((token.line, token.column))
        best = max(places)
        all_best = sorted(places[best])
        place = all_best[wanted.ordinal % len(all_best)]
        return _Found(SourcePlace((self._root / file).as_posix(), *place), best[1])

    def _elsewhere(self, wanted: _Wanted) -> SourcePlace | None:
        """Return the place in the only file with a reference.

        Or the only one with its text beside it, or the only template.
        """
        wanted = wanted._replace(ordinal=0)
        ways: tuple[tuple[str, _Fits], ...] = (
            (wanted.href, _is_written),
            (wanted.href.removeprefix("#"), _is_unresolved),
            (_name_in(wanted.href), self._leads_there),
        )
        for key, fits in ways:
            having = self._files_by_token.get(key, set())
            outside = {file for file in having if not file.endswith(PAGE_SUFFIXES)}
            looked_in = having if len(having) <= MAX_LOOKED_IN else outside
            found = {
                file: best
                for file in looked_in
                if (best := self._best(file, wanted, fits))
            }
            with_text = {file for file, best in found.items() if best.has_text}
            for likely in (having & found.keys(), with_text, outside & found.keys()):
                if len(likely) == 1:
                    return found[likely.pop()].place
        return None

    def _leads_there(self, token: str, wanted: _Wanted, file: str) -> bool:
        """Return whether a token is a path from its file to the target.

        As generators rewrite them, and with the path that a page gives itself.
        """
        path, _, fragment = token.partition("#")
        if fragment != _fragment(wanted) or "://" in path:
            return False
        target = wanted.target
        if not path:  # Hugo puts the page before the fragment
            return bool(fragment) and target == route_of(wanted.page)
        if not re.search("[/.]", path):
            return False
        base = "" if path.startswith("/") else posixpath.dirname(file)
        named = posixpath.normpath(posixpath.join(base, path.lstrip("/")))
        routes = self._routes.get(named) or [route_of(named)]
        if not (target and all(routes)):  # a start page, whose file may be in docs
            is_index = PurePosixPath(path).stem in INDEXES
            return not target and len(routes[0]) < 2 and is_index
        return any(_ends_alike(route, target) for route in routes)

    @functools.cached_property
    def _files_by_token(self) -> dict[str, set[str]]:
        files: dict[str, set[str]] = defaultdict(set)
        for file in self._files:
            for text, tokens in self._tokens_of(file).items():
                if re.search(r"[/.#:]", text) and not all(
                    token.is_example for token in tokens
                ):
                    files[text].add(file)
                    files[_name_in(text)].add(file)
        return files

    def _likely_files(self, page: str) -> list[str]:
        name = next(_names(route_of(page)))
        return best_files(page, self._routes_by_name.get(name, {}))[:MAX_LIKELY]

    def _tokens_of(self, file: str) -> dict[str, list[Token]]:
        tokens_by_text: dict[str, list[Token]] = defaultdict(list)
        for token in tokens_of(self._read(file), is_rst=file.endswith(".rst")):
            tokens_by_text[token.text].append(token)
        return tokens_by_text

    def _read(self, file: str) -> str:
        try:
            return (self._root / file).read_text(encoding="utf-8", errors="replace")
        except OSError:  # it was removed, or may not be read
            return ""


def _files_in(root: Path, left_out: Collection[Path]) -> Iterator[str]:
    """Yield the text files in a directory, relative to it."""
    for directory, folders, names in os.walk(root):
        here = Path(directory)
        folders[:] = [
            name
            for name in folders
            if name not in SKIPPED_NAMES
            and (not name.startswith(".") or name in DOTTED_NAMES)
            and (here / name).resolve() not in left_out
        ]
        for name in names:
            path = here / name
            is_text = name.endswith(CONTENT_SUFFIXES + OTHER_SUFFIXES)
            if is_text and path.is_file() and path.stat().st_size <= MAX_FILE_BYTES:
                yield path.relative_to(root).as_posix()


def _names(route: Route) -> Iterator[str]:
    """Yield the last part of a route; empty for a start page, which may be in a folder."""
    if route:
        yield route[-1]
    if len(route) < 2:
        yield ""


def _is_written(token: str, wanted: _Wanted, file: str) -> bool:
    return token == wanted.href


def _name_in(reference: str) -> str:
    """Return the last part of a path."""
    return PurePosixPath(reference.partition("#")[0]).name


def _ends_alike(route: Route, target: Route) -> bool:
    common = min(len(route), len(target))
    return route[-common:] == target[-common:]


def _is_unresolved(token: str, wanted: _Wanted, file: str) -> bool:
    """Return whether a token is a reference that MyST could not resolve, so that it is #TOKEN."""
    return wanted.href.startswith("#") and token == wanted.href[1:]


def _has_name(token: str, wanted: _Wanted, file: str) -> bool:
    """Return whether a token names the same file in another directory, as images are moved."""
    path, _, fragment = token.partition("#")
    wanted_name = PurePosixPath(urlsplit(wanted.href).path).name
    is_named = "." in wanted_name and PurePosixPath(path).name == wanted_name
    return is_named and fragment == _fragment(wanted)


def _fragment(wanted: _Wanted) -> str:
    return wanted.href.partition("#")[2]
