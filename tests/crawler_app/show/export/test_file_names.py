"""File names of URLs: each is legal on every system, and no two are the same file."""

import posixpath
import re
from itertools import starmap
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.show.export.file_names import (
    MARKDOWN,
    NamedFile,
    file_names,
    href_between,
)

HOST = "http://a.test"
SEGMENTS = st.text(
    st.sampled_from("aA.~%2fF:?*|\\<\u00fc\u0130\u00df \u200b/"), max_size=6
).map(lambda text: text.replace("?", "%3F"))
# With a suffix of letters that have four bytes each.
LONG = "x" * 300 + "." + "%F0%9F%98%80" * 30
PATHS = st.lists(
    SEGMENTS
    | st.sampled_from(
        ["con", "NUL.txt", "..", "%2e%2e", "x" * 300, "index.html", LONG]
    ),
    min_size=1,
    max_size=12,
).map("/".join)
URLS = st.builds(
    "{}/{}{}".format, st.just(HOST), PATHS, st.sampled_from(["", "?", "?q=a/b"])
)
TYPES = st.sampled_from(
    ["text/html", "text/css", "text/plain", "image/png", MARKDOWN, ""]
)

WINDOWS = re.compile(
    r"(?!(con|prn|aux|nul|com\d|lpt\d)(\.|\Z))[^<>:\"/\\|?*\x00-\x1f]*[^<>:\"/\\|?*\x00-\x1f. ]",
    re.IGNORECASE,
)


@given(st.dictionaries(URLS, TYPES, min_size=1, max_size=8))
def test_names_are_legal_and_each_is_one_file(type_by_url):
    name_by_url = file_names(list(starmap(NamedFile, type_by_url.items())), "a.test")

    names = [name.casefold() for name in name_by_url.values()]
    assert len(set(names)) == len(type_by_url)
    for name in name_by_url.values():
        assert len(name) <= 220
        for segment in name.split("/"):
            assert WINDOWS.fullmatch(segment) and len(segment.encode()) <= 120
    above = {parent for name in names for parent in _parents(name)}
    assert above.isdisjoint(names)


def _parents(name):
    while name := posixpath.dirname(name):
        yield name


@pytest.mark.parametrize(
    ("url", "mime", "name"),
    [
        ("/", "text/html", "index.html"),
        ("/docs/", "text/html", "docs/index.html"),
        ("/docs", "text/html", "docs.html"),
        ("/a.php", "text/html", "a.php.html"),
        ("/?page=2", "text/html", "index@page=2.html"),
        ("/s.css?v=3", "text/css", "s@v=3.css"),
        ("/caf%C3%A9.html", "text/html", "caf\u00e9.html"),
        ("/a%2Fb.HTM", "text/html", "a_b.HTM"),
        ("/readme.html", "text/plain", "readme.html.txt"),
        ("/aux.js", "text/javascript", "_aux.js"),
        ("/gencrawl-folder.json/a.css", "text/css", "_gencrawl-folder.json/a.css"),
        ("/archive.tar.gz", "application/gzip", "archive.tar.gz"),
        ("/no.html", "", "no.html"),
        ("/a.html?q", MARKDOWN, "a@q.md"),
        ("/v1.2", MARKDOWN, "v1.2.md"),
        ("/b.md/", MARKDOWN, "b.md/index.md"),
    ],
)
def test_name_shows_its_url(url, mime, name):
    assert file_names([NamedFile(HOST + url, mime)], "a.test") == {HOST + url: name}


def test_file_and_directory_of_one_name_are_apart():
    urls = [f"{HOST}/a", f"{HOST}/a/b", "http://a.test:81/x"]

    names = file_names([NamedFile(url, "font/ttf") for url in urls], "a.test")

    assert re.fullmatch("a~[0-9a-f]{8}", names[urls[0]])
    assert [names[url] for url in urls[1:]] == ["a/b", "hosts/a.test_81/x"]
    assert (
        urlsplit(href_between("x/y.html", names[urls[0]])).path
        == f"../{names[urls[0]]}"
    )


def test_marked_name_may_be_taken():
    marked = file_names(
        [NamedFile(f"{HOST}/{name}", "text/html") for name in ("A", "a?b", "A?b")],
        "a.test",
    )[f"{HOST}/a?b"]
    natural = f"{HOST}/{quote(marked)}"  # sorted before the other, as "%" is before "?"

    names = file_names(
        [
            NamedFile(url, "text/html")
            for url in (natural, f"{HOST}/a?b", f"{HOST}/A?b")
        ],
        "a.test",
    )

    assert len(set(names.values())) == 3


def test_urls_with_the_same_name_share_a_file_if_they_say_the_same():
    files = [
        NamedFile(f"{HOST}/{name}", "text/html", "x") for name in ("", "index.html")
    ]
    other = NamedFile("https://a.test/", "text/html", "y")

    names = file_names([*files, other], "a.test")

    assert [names[each.url] for each in files] == ["index.html"] * 2
    assert names[other.url].startswith("index~")


def test_file_that_two_urls_share_may_have_a_mark():
    files = [NamedFile(f"{HOST}/{name}", MARKDOWN, "x") for name in ("a", "a.html")]

    names = file_names([*files, NamedFile(f"{HOST}/a.md/b", MARKDOWN)], "a.test")

    assert names[files[0].url] == names[files[1].url] != "a.md"
