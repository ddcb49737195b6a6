"""A crawl as a folder: ``export --format folder``."""

import pytest

LATIN = {"Content-Type": "text/html; charset=iso-8859-1"}


@pytest.fixture
def exported(site, gencrawl, tmp_path):
    """Crawl the site, and export it; return the folder."""

    def exported(*options):
        directory, folder = tmp_path / "crawl", tmp_path / "folder"
        if not directory.exists():
            assert gencrawl("crawl", site.url, "--into", directory, "-q").status == 0
        options = ("--format", "folder", "--output", folder, *options)
        ended = gencrawl("export", directory, *options)
        assert ended.status == 0, ended.err
        return folder

    return exported


def test_files_refer_to_each_other(site, exported):
    site.answer(
        "/",
        b"<link rel=stylesheet href=/s/style.css?v=1><a href=/old#a>A</a>"
        b"<a href=/gone>B</a><a href='list?page=2#x y'>C</a><a href=#top>D</a>"
        b"<a href=HTTP://b.test>E</a><a href=//c.test/x#y>F</a>",
    )
    site.redirect("/old", to="/new")
    site.answer("/new", b"<a href=/>Home</a>")
    site.answer("/list?page=2", b"<a href=list?page=2#z>here</a>")
    site.answer(
        "/s/style.css?v=1",
        b"@import 'more.css'; a { background: url(/i.png) }",
        headers={"Content-Type": "text/css"},
    )

    folder = exported()

    assert (folder / "index.html").read_text() == (
        '<link rel=stylesheet href="s/style@v=1.css"><a href="new.html#a">A</a>'
        '<a href="gone">B</a><a href="list@page=2.html#x y">C</a><a href=#top>D</a>'
        '<a href=HTTP://b.test>E</a><a href="http://c.test/x#y">F</a>'
    )
    assert (folder / "new.html").read_text() == '<a href="index.html">Home</a>'
    assert (folder / "list@page=2.html").read_text() == '<a href="#z">here</a>'
    assert (folder / "s/style@v=1.css").read_text() == (
        "@import 'more.css'; a { background: url(../i.png) }"
    )
    assert not (folder / "gone").exists()


def test_charset_that_only_the_header_says_is_kept(site, exported):
    site.answer("/", "<p>\u00fc<a href=b>B</a>".encode("latin-1"), headers=LATIN)
    site.answer("/b", "<meta charset=utf-8><p>\u00fc".encode("latin-1"), headers=LATIN)

    folder = exported()

    assert (folder / "index.html").read_bytes() == (
        '\ufeff<p>\u00fc<a href="b.html">B</a>'.encode()
    )
    assert (folder / "b.html").read_bytes().decode("utf-8-sig").endswith("<p>\u00fc")


def test_site_is_as_it_was_at_a_time(site, exported, gencrawl, tmp_path):
    site.answer("/", b"old")
    assert (exported() / "index.html").read_text() == "old"

    ended = gencrawl(
        *("export", tmp_path / "crawl", "--format", "folder"),
        *("--output", tmp_path / "folder", "--at", "2001-01-01"),
    )

    assert ended.status == 2 and "no page of that time" in ended.err
    assert (tmp_path / "folder/index.html").read_text() == "old"
    exported("--at", "2999-01-01")


@pytest.mark.parametrize("left_over", [".folder.new", ".folder.old"])
def test_what_a_killed_export_has_left_is_cleared(site, exported, tmp_path, left_over):
    site.answer("/", b"page")
    folder = exported()
    folder.rename(tmp_path / left_over)

    exported()

    assert (folder / "index.html").read_text() == "page"
    assert {each.name for each in tmp_path.iterdir()} == {"crawl", "folder"}


def test_start_that_is_not_at_the_top_has_an_index(site, gencrawl, tmp_path):
    site.answer("/docs/start.html", b"start")
    start = f"{site.url}docs/start.html"
    assert gencrawl("crawl", start, "--into", tmp_path / "crawl", "-q").status == 0

    options = ("--format", "folder", "--output", tmp_path / "folder")
    assert gencrawl("export", tmp_path / "crawl", *options).status == 0

    assert "url=docs/start.html" in (tmp_path / "folder/index.html").read_text()


def test_folder_of_others_is_not_replaced(site, exported, gencrawl, tmp_path):
    site.answer("/", b"page")
    folder = exported()
    (folder / "gencrawl-folder.json").rename(folder / "diary.txt")

    ended = gencrawl(
        *("export", tmp_path / "crawl", "--format", "folder", "--output", folder)
    )

    assert ended.status == 2 and "did not write" in ended.err
    assert (folder / "diary.txt").exists()
    assert {each.name for each in tmp_path.iterdir()} == {"crawl", "folder"}


def test_folder_is_as_it_was_after_ctrl_c(
    site, exported, gencrawl, tmp_path, monkeypatch
):
    def interrupt(*_):
        raise KeyboardInterrupt

    site.answer("/", b"page")
    folder = exported()
    monkeypatch.setattr("crawler_app.show.export.folder.writing._content", interrupt)

    ended = gencrawl(
        *("export", tmp_path / "crawl", "--format", "folder", "--output", folder)
    )

    assert ended.status == 130
    assert (folder / "index.html").read_text() == "page"
    assert {each.name for each in tmp_path.iterdir()} == {"crawl", "folder"}
