"""The text of the pages of a crawl, in each format."""

import json

import pytest

STORY = "It was a long day, and at the end of it nobody had seen the bridge. " * 5
MENU = "<nav><a href=/>Home</a> <a href=/old>About</a></nav>"


@pytest.fixture
def crawled(site, cli):
    """A crawl of two pages with text, a redirect, and an empty page."""
    site.answer(
        "/robots.txt",
        b"User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /",
        headers={"Content-Type": "text/plain"},
    )
    links = (
        "<a href='old#why'>about</a> <a href=/empty>empty</a> <a href='//b.test/'>b</a>"
    )
    description = "<meta name=description content='All [of] `it&#27;'>"
    head = f"<title>The &quot;bridge&quot;</title>{description}"
    for path, title, body in (
        ("/", head, f"<h1>Bridge</h1><p>{STORY}{links}"),
        ("/about/us.html", "<title>&lt;b>\\</title>", f"<h1>Us</h1><p>{STORY}"),
    ):
        page = f"<!doctype html>{title}{MENU}<main>{body}</main>".encode()
        site.answer(path, page)
    site.redirect("/old", "/about/us.html")
    site.page("/empty")
    assert cli("crawl").status == 0
    return cli


def test_markdown_files_lead_to_each_other(crawled, site, tmp_path):
    out = tmp_path / "out"

    assert crawled("export", "--format", "markdown", "--output", out).status == 0

    files = {str(each.relative_to(out)) for each in out.rglob("*.md")}
    assert files == {"index.md", "about/us.md", "empty.md"}
    text = (out / "index.md").read_text()
    head, body = text.removeprefix("---\n").split("---\n", 1)
    known = dict(line.split(": ", 1) for line in head.splitlines())
    assert known["url"] == f'"{site.url}"' and known["title"] == '"The \\"bridge\\""'
    assert set(known) == {"url", "date", "digest", "title", "description", "usage"}
    assert known["usage"] == '"Content-Signal: search=yes, ai-train=no"'
    assert body.startswith("\n# Bridge\n\nIt was") and "Home" not in body
    assert "[about](about/us.md#why)" in body
    assert "[empty](empty.md) [b](http://b.test/)" in body
    assert (out / "empty.md").read_text().endswith("\n---\n\n\n")


def test_list_of_pages_has_their_titles_and_descriptions(crawled, site):
    text = crawled("export", "--format", "llms").out

    assert text.startswith(
        '# The "bridge"\n\n> Content-Signal: search=yes, ai-train=no\n'
    )
    assert f'- [The "bridge"]({site.url}): All (of) \\`it\n' in text
    assert f"/about\n\n- [\\<b>\\\\]({site.url}about/us.html)\n" in text
    assert "empty" not in text


@pytest.mark.parametrize(
    ("options", "has_menu"), [([], False), (["--whole-page"], True)]
)
def test_texts_keep_their_lines(crawled, site, options, has_menu):
    lines = crawled("export", "--format", "texts", *options).out.splitlines()

    first, second = map(json.loads, lines)
    assert (first["url"], second["title"]) == (site.url, "<b>\\")
    assert second["text"].endswith(f"Us\n\n{STORY.strip()}")
    assert second["markdown"].endswith(f"# Us\n\n{STORY.strip()}\n")
    assert ("Home" in second["text"]) is has_menu


def test_full_text_has_all_pages(crawled, site):
    text = crawled("export", "--format", "llms-full").out

    assert text.count("---\nurl: ") == 2
    assert text.index("# Bridge\n") < text.index("# Us\n")
    assert f"[about]({site.url}old#why)" in text


def test_page_beside_its_index_file_is_one(site, cli, tmp_path):
    page = (
        f"<title>T</title><p>{STORY}<a href=/docs/index.html>x</a><a href=/docs/other>"
    )
    for path in ("/docs/", "/docs/index.html", "/docs/other"):
        site.answer(path, page.encode())
    site.page("/", "/docs/")
    assert cli("crawl").status == 0
    out = tmp_path / "out"

    assert cli("export", "--format", "markdown", "--output", out).status == 0
    listed = cli("export", "--format", "llms").out

    files = {str(each.relative_to(out)) for each in out.rglob("*.md")}
    assert files == {"index.md", "docs/index.md", "docs/other.md"}
    text = (out / "docs/index.md").read_text()
    assert f'url: "{site.url}docs/"' in text and "[x](index.md)" in text
    assert "index.html" not in listed and "docs/other" in listed


def test_pages_with_noindex_are_in_no_file_that_is_published(site, cli):
    paths = "/gr%C3%BCn/", "/gr%C3%BCn/by-header", "/by-meta"
    links = "".join(f"<a href={path}>{path}</a> " for path in paths)
    page = f"<title>T</title><main><p>{STORY}{links}</main>"
    site.answer("/", page.encode())
    noindex = {"X-Robots-Tag": "noindex", "Content-Type": "text/html"}
    site.answer("/gr%C3%BCn/by-header", page.encode(), headers=noindex)
    site.answer("/by-meta", f"<meta name=robots content=noindex>{page}".encode())
    site.answer("/gr%C3%BCn/", page.encode())
    assert cli("crawl").status == 0

    def exported(name):
        return cli("export", "--format", name).out

    listed = exported("llms")
    assert (
        listed.count("- [T]") == 2
        and f"/gr\u00fcn\n\n- [T]({site.url}gr%C3%BCn/)" in listed
    )
    assert exported("llms-full").count("---\nurl: ") == 2
    assert len(exported("texts").splitlines()) == 4


@pytest.mark.parametrize("name", ["markdown", "folder"])
def test_page_that_another_archive_has_stays_on_the_web(
    site, gencrawl, tmp_path, name, caplog
):
    page = f"<title>T</title><main><p>{STORY}<a href=/a>A</a></main>"
    site.answer("/", page.encode())
    site.answer("/a", page.replace("T<", "U<").encode())
    former, later, out = (tmp_path / each for each in ("former", "later", "out"))
    gencrawl("crawl", f"{site.url}a", "--max-depth", 0, "--into", former, "-q")
    known = ("--dedupe-against", former, "--into", later, "-q")
    gencrawl("crawl", site.url, *known)

    ended = gencrawl("export", later, "--format", name, "--output", out)

    (file,) = (each for each in out.rglob("*") if each.suffix in (".md", ".html"))
    assert ended.status == 0 and file.stem == "index"
    assert f"{site.url}a" in file.read_text()
    assert "the content of 1" in caplog.text


def test_only_the_directory_of_an_export_is_replaced(crawled, tmp_path):
    mine, out = tmp_path / "mine", tmp_path / "out"
    mine.mkdir()
    (mine / "notes.md").touch()

    def export(output):
        return crawled("export", "--format", "markdown", "--output", output)

    ended = export(mine)
    assert ended.status == 2 and "did not write" in ended.err
    assert [each.name for each in mine.iterdir()] == ["notes.md"]

    assert export(out).status == 0
    files = sorted(out.rglob("*"))
    (out / "of a page that is gone.md").touch()
    assert export(out).status == 0
    assert sorted(out.rglob("*")) == files
