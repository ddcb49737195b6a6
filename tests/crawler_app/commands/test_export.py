"""``gencrawl export``: where the output goes, and what each format takes."""

import pytest

from crawler_app.commands.output_file import replacing


@pytest.mark.parametrize("name", ["urls.csv", "my-urls.CSV"])
def test_format_is_the_one_that_the_output_is_named_after(
    crawled, gencrawl, tmp_path, name
):
    output = tmp_path / name
    output.write_text("former")

    assert gencrawl("export", crawled(done=2).path, "--output", output)[:2] == (0, "")

    header, *rows = output.read_text().splitlines()
    assert header.startswith("url,state,") and len(rows) == 2


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("llms.txt", "# Home\n"),
        ("our-llms-full.txt", "---\nurl:"),
        ("own.md", "---\nurl:"),
        ("texts.jsonl", '{"url": "{}", "date": '),
        ("our-text.jsonl", '{"url": "{}", "date": '),
        ("sitemap.xml", "<?xml"),
        ("pages.csv", "url,status,reason"),
        ("our-links.jsonl", '{"source": '),
        ("captures.html", "<!DOCTYPE html>"),
    ],
)
def test_what_is_exported_is_told_by_the_name(site, gencrawl, tmp_path, name, start):
    words = "Nobody had seen the bridge at the end of the day. " * 9
    site.answer("/", f"<title>Home</title><a href=/a>A</a><p>{words}".encode())
    gencrawl("crawl", site.url, "--into", tmp_path / "crawl", "-q")

    ended = gencrawl("export", tmp_path / "crawl", "--output", tmp_path / name)

    assert (ended.status, ended.out) == (0, "")
    text = (tmp_path / name).read_text()
    assert text.startswith(start.replace("{}", site.url))


def test_output_file_is_unchanged_if_the_export_fails(
    crawled, gencrawl, tmp_path, monkeypatch
):
    def fail(*_):
        raise KeyboardInterrupt

    output = tmp_path / "urls.jsonl"
    output.write_text("former")
    directory = crawled(done=2)
    monkeypatch.setattr("crawler_app.show.export.tables.urls.url_row", fail)

    assert gencrawl("export", directory.path, "--output", output).status == 130
    assert output.read_text() == "former"
    assert {each.name for each in tmp_path.iterdir()} == {"crawl", "urls.jsonl"}


def test_leavings_of_a_killed_export_are_deleted(crawled, gencrawl, tmp_path):
    output = tmp_path / "urls.csv"
    directory = crawled(done=1).path
    with replacing(output), replacing(output):  # both are still being written
        left = next(tmp_path.glob(".urls.csv.gencrawl-*"))
        (tmp_path / f"{left.name}x").touch()

        assert gencrawl("export", directory, "--output", output).status == 0

        assert len(list(tmp_path.glob(".urls.csv.*"))) == 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--output", "{}/urls.txt"], ".xml.gz; choose --format"),
        (["--output", "{}/texts.jsonl", "--table", "pages"], "not for texts"),
        (["--output", "{}/docs.jsonl"], "captures; choose --table, or --format texts"),
        (["--output", "{}/link.html"], "link.html is named after none of the tables"),
        (["--output", "{}"], "is a directory; --output names a file"),
        (["--output", "{}/none/urls.csv"], "there is no directory {}/none"),
        (["--format", "wacz", "--output", "{}/a.wacz"], "the crawl has no archive"),
        (["--format", "folder"], "name a directory with --output"),
        (
            ["--whole-page"],
            "--whole-page is for --format markdown or llms or llms-full",
        ),
    ],
)
def test_export_is_refused(crawled, gencrawl, tmp_path, options, complaint):
    words = [word.format(tmp_path) for word in options]

    ended = gencrawl("export", crawled(done=1).path, *words)

    assert ended.status == 2 and ended.out == ""
    assert complaint.format(tmp_path) in ended.err
