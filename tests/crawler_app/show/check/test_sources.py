"""A finding is led back to the file that its page is made from."""

from pathlib import Path

import pytest

from crawler_app.base.errors import ConfigError
from crawler_app.show.check.sources import SourceFinder


@pytest.fixture
def finder_of(tmp_path, monkeypatch):
    """Return a function that writes files, and returns a finder of what is in them."""
    monkeypatch.chdir(tmp_path)

    def write(files, left_out=()):
        for name, text in files.items():
            path = Path("src", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return SourceFinder(Path("src"), left_out)

    return write


# What a reference is like, and where it is in docs/guide/a.md; ^ is where it begins.
WRITTEN = [
    ("a.md", "See\n[x](^gone.html) here", "gone.html", "x"),
    ("a.md", '[x](^other.md#no "t")', "../other/#no", "x"),
    ("a.md", "[x](^../index.md#no)", "../../#no", "x"),
    ("a.md", "![x](^img/b%20c.png)", "../img/b%20c.png", "<img src>"),
    ("a.md", "[x](<^b c.html>)", "b c.html", "x"),
    ("a.md", "[x][r]\n\n[r]: ^http://a.test/?b=1&c=2", "http://a.test/?b=1&c=2", "x"),
    ("a.md", "[y][q]\n[x][r]\n\n[q]: gone\n[r]: ^gone", "gone", "x"),
    ("a.md", '<a href="^/a_(b)?c&amp;d">x</a>', "/a_(b)?c&d", "x"),
    ("a.md", "```\n[x](gone.html)\n```\n[x](^gone.html)", "gone.html", "x"),
    ("a.md", "<!-- [x](gone.html) -->\n[x](^gone.html).", "gone.html", "x"),
    ("a.md", "[y](gone.html)\n[the\nword](^gone.html)", "gone.html", "the word"),
    ("a.md", "this has a page: [y](gone)\n[this page](^gone)", "gone", "this page"),
    ("a.md", "[x](^#no)", "/guide/a/#no", "x"),
    ("a.md", "[x](^slugged.md#no)", "/guide/own/#no", "x"),
    ("a.md", "[x](^gone.md)", "#gone.md", "x"),
    ("a.md", "[![x][b]][l]\n\n[l]: ^gone.md", "#gone.md", "x"),
    ("a.md", "A label is [x](^label)", "#label", "x"),
    ("a.rst", "`x <^gone.html>`__", "gone.html", "x"),
    ("a.rst", "`x`_\n\n.. _y: gone\n.. _x: ^gone", "gone", "x"),
    ("a.rst", "Title\n~~~~~\n::\n\n   `x <gone>`_\n\n`x <^gone>`_\n~~~~", "gone", "x"),
    ("a.rst", ".. figure:: ^/pics/b.png", "../_images/b.png", "<img src>"),
    ("a.ipynb", '{"source": [\n"a\\n",\n"[x](^gone.html)\\n"]}', "gone.html", "x"),
]


@pytest.mark.parametrize(("name", "text", "href", "words"), WRITTEN)
def test_reference_is_found_as_it_is_written(finder_of, name, text, href, words):
    before, _, after = text.partition("^")
    slugged = "---\nslug: own\n---\n"
    files = {name: before + after, "b.md": href, "slugged.md": slugged}
    finder = finder_of({f"docs/guide/{file}": text for file, text in files.items()})
    target = {"../other/#no": "guide/other/index.html", "../../#no": "index.html"}

    place = finder.locate("guide/a/index.html", href, target.get(href, href), words)

    lines = before.split("\n")
    wanted = (f"src/docs/guide/{name}", len(lines), len(lines[-1]) + 1)
    assert place == wanted


@pytest.mark.parametrize(
    ("page", "file", "text"),
    [
        ("index.html", "docs/index.md", ""),
        ("index.html", "README.md", ""),
        ("guide/setup/index.html", "docs/guide/setup/README.md", ""),
        ("posts/first-post/index.html", "content/posts/First Post.md", ""),
        ("posts/short/index.html", "content/posts/long.md", "---\nslug: short\n---\n"),
        ("about-us/index.html", "content/x/y.md", '+++\nurl = "/about-us/"\n+++\n'),
        ("docs/basics/intro/index.html", "docs/01-basics/02-intro.mdx", ""),
        ("blog/2026/01/31/news/index.html", "blog/2026-01-31-news.md", ""),
        ("2026/01/31/news.html", "_posts/2026-01-31-news.markdown", ""),
        ("https://a.test/latest/guide/a.html", "docs/guide/a.rst", ""),
    ],
)
def test_page_is_paired_with_its_file(finder_of, page, file, text):
    others = ("docs/other/intro.md", "docs/other/setup.md", "docs/news/a.md")
    finder = finder_of(
        {name: "[x](gone)" for name in others} | {file: text + "\n[x](gone)"}
    )

    assert finder.locate(page, "gone", "gone", "x").file == f"src/{file}"


def test_several_alike_references_are_found_in_turn(finder_of):
    finder = finder_of({"a.md": "[x](gone)\n\n[x](gone)\n"})

    lines = [finder.locate("a.html", "gone", "gone", "x").line for _ in range(2)]

    assert lines == [1, 3]


@pytest.mark.parametrize(
    ("hint", "file"),
    [
        ("https://git.test/me/x/edit/main/docs/other.md", "docs/other.md"),
        ("_sources/other.md.txt", "docs/other.md"),
        ("https://git.test/me/x/edit/main/docs/user/other.md", "docs/user/other.md"),
    ],
)
def test_edit_link_of_a_page_names_its_file(finder_of, hint, file):
    files = ("docs/a.md", "docs/other.md", "docs/user/other.md")
    finder = finder_of(dict.fromkeys(files, "[x](gone)"))
    finder.note_links("a.html", ["b", hint])

    assert finder.locate("a.html", "gone", "gone", "x").file == f"src/{file}"


def test_link_of_a_menu_is_found_only_where_it_is_certain(finder_of):
    finder = finder_of(
        {
            "docs/a.md": "text",
            "docs/b.md": "http://one.test/ and http://two.test/ and http://two.test/x",
            "docs/c.md": "http://two.test/ and http://two.test/x",
            "docs/d.md": "[x](http://four.test/)",
            "docs/e.md": "[y](http://four.test/)",
            "docs/f.md": "[x](five.md)",
            "docs/user/SUMMARY.md": "[Menu](gone.html)",
            "docs/user/g.md": "[other](gone.html)",
            "mkdocs.yml": "nav:\n  - Home: http://two.test/x",
            "built/a.html": "<a href='http://three.test/'>x</a>",
        },
        left_out=[Path("src/built")],
    )

    def found(href):
        return finder.locate("a.html", href, href, "x")

    assert found("http://one.test/") == ("src/docs/b.md", 1, 1)
    assert found("http://two.test/") is None
    assert found("http://two.test/x") == ("src/mkdocs.yml", 2, 11)
    assert found("http://three.test/") is None
    assert found("http://four.test/") == ("src/docs/d.md", 1, 5)
    assert found("#text") is None
    assert found("#five.md") == ("src/docs/f.md", 1, 5)
    menu = finder.locate("b/c.html", "../user/gone.html", "user/gone.html", "Menu")
    assert menu == ("src/docs/user/SUMMARY.md", 1, 8)


def test_directory_without_sources_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="there are no sources"):
        SourceFinder(tmp_path)
    with pytest.raises(ConfigError, match="is not a directory"):
        SourceFinder(tmp_path / "none")


def test_finding_of_a_check_is_at_its_source(gencrawl, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "docs/a.md": "# A\n\n[x](gone.md)\n",
        "site/a/index.html": "<h1>A</h1><a href=../gone.md>x</a>",
    }.items():
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text(text)

    ended = gencrawl("check", "site", "--sources", ".")

    assert ended.status == 3
    assert ended.out.startswith("docs/a.md:3:5: ")
