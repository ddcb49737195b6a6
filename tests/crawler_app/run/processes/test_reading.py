"""Every command reads what several processes have fetched as one crawl."""

import io
import json
import re
import zipfile
from contextlib import nullcontext

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.run.directory import CrawlDirectory


@pytest.fixture(scope="module")
def web(make_web):
    with make_web() as web:
        links = [
            web.url(n, path) for n in range(4) for path in ("missing", "copy", "x")
        ]
        web.sites[1].page("/29", *links)
        for site in web.sites:
            site.page("/copy", title="Copy")
            site.page("/x", web.url(0, "missing"), title="Copy of a copy")
        web.tree(30)
        yield web


@pytest.fixture(scope="module")
def crawls(web, tmp_path_factory):
    """The directory of a crawl by one process, and that of the same crawl by three."""
    from crawler_app.commands.main import main

    directory = tmp_path_factory.mktemp("crawls")
    for processes in ("1", "3"):
        arguments = ["crawl", *(web.url(n, str(n)) for n in range(4)), "--quiet"]
        into = str(directory / processes)
        assert main([*arguments, "--into", into, "--processes", processes]) == 0
    return directory / "1", directory / "3"


def test_export_has_the_same_urls(crawls, gencrawl):
    def rows(directory, *options):
        lines = gencrawl("export", directory, "--quiet", *options).out.splitlines()
        return sorted(lines) if options else sorted(map(row, lines))

    def row(line):
        values = json.loads(line)
        # Which of several pages was read first depends on the server.
        return [
            (k, v)
            for k, v in values.items()
            if not k.startswith(("took", "finished", "via", "depth"))
        ]

    one, three = crawls
    assert rows(three) == rows(one)
    assert len(rows(three, "--format", "csv")) == len(rows(one, "--format", "csv"))


def test_report_finds_the_same(crawls, gencrawl):
    one, three = (
        gencrawl.json("report", directory, "--format", "json", "--quiet")
        for directory in crawls
    )

    assert len(one["broken"]) == 4
    assert one["most_linked"]
    assert one["problems"]
    for name in (
        *("broken", "redirects", "duplicates", "not_checked", "most_linked"),
        *("problems", "problem_counts"),
    ):
        assert normal(three[name]) == normal(one[name]), name
    failing = gencrawl("report", crawls[1], "--format", "md", "--fail-on", "broken")
    assert failing.status == 3
    assert "4 URLs are broken; 8 links lead there" in failing.err


def normal(value):
    """Return a value without the parts that depend on the order in which pages were read."""
    if isinstance(value, list):
        return sorted((normal(each) for each in value), key=json.dumps)
    if isinstance(value, dict):
        return {k: normal(v) for k, v in value.items() if not k.startswith("took")}
    return value


def test_search_merges_the_hits_of_all_processes(crawls, gencrawl):
    one, three = (
        gencrawl.json("search", directory, "copy", "--json", "--limit", "20")
        for directory in crawls
    )

    assert one["total"] == three["total"] == 8
    assert {hit["url"] for hit in three["hits"]} == {hit["url"] for hit in one["hits"]}
    assert [hit["title"] for hit in three["hits"]] == [
        hit["title"] for hit in one["hits"]
    ]
    some = gencrawl.json("search", crawls[1], "copy", "--json", "--limit", "3")
    assert some["hits"] == three["hits"][:3]
    assert gencrawl("search", crawls[1], "nothing-like-that").status == 1


def test_wacz_has_the_archives_of_all_processes(crawls, capsysbinary):
    from crawler_app.commands.main import main

    packages = []
    for directory in crawls:
        assert main(["export", str(directory), "--format", "wacz", "--quiet"]) == 0
        data = capsysbinary.readouterr().out
        packages.append(zipfile.ZipFile(io.BytesIO(data)))
    pages = [
        sorted(
            json.loads(line).get("url", "")
            for line in package.open("pages/pages.jsonl")
        )
        for package in packages
    ]

    assert pages[0] == pages[1]
    names = [name for name in packages[1].namelist() if name.startswith("archive/")]
    parts = [f"archive/part-{n}-archive-00001.warc.gz" for n in range(3)]
    assert names and set(names) <= set(parts)


def test_index_for_replay_tools_names_the_files_of_all_processes(crawls, gencrawl):
    one, three = (
        gencrawl("export", directory, "--format", "cdxj", "--quiet").out.splitlines()
        for directory in crawls
    )
    places = [line.split(" ", 2) for line in three]

    assert [line.split(" ", 1)[0] for line in three] == [
        line.split(" ", 1)[0] for line in one
    ]
    assert three == sorted(three, key=lambda line: line.split(" ", 2)[:2])
    names = {json.loads(fields)["filename"] for *_, fields in places}
    assert names and names <= {f"part-{n}/archive-00001.warc.gz" for n in range(3)}


def test_status_counts_all_processes(crawls, gencrawl):
    one, three = (gencrawl("status", directory).out for directory in crawls)

    assert [line for line in three.splitlines() if "skipped" in line] == [
        line for line in one.splitlines() if "skipped" in line
    ]
    assert "\nfinished on " in three
    assert re.search("in [123] file", three)


def test_part_that_is_a_link_is_not_opened(crawls, tmp_path):
    target = tmp_path / "mine"
    target.mkdir()
    directory = tmp_path / "crawl"
    directory.mkdir()
    (directory / "part-0").symlink_to(target)

    with pytest.raises(ConfigError, match="symbolic link"):
        CrawlDirectory(directory).frontier()


@pytest.mark.parametrize(
    ("name", "processes", "is_refused"),
    [
        ("part-1/frontier.sqlite3", 2, True),
        ("part-1/", 2, False),
        ("part-2/", 2, True),
        ("part-0/", 1, True),
    ],
)
def test_parts_of_something_else_are_not_used(
    tmp_path, gencrawl, name, processes, is_refused
):
    path = tmp_path / "crawl" / name
    path.parent.mkdir(parents=True)
    path.mkdir() if name.endswith("/") else path.write_text("precious")
    config = CrawlConfig(("http://a.test/",), processes=processes)

    with (
        pytest.raises(ConfigError, match="contains part-")
        if is_refused
        else nullcontext()
    ):
        CrawlDirectory.create(tmp_path / "crawl", config)
