"""What several processes find is what one finds, and every command reads it as one crawl."""

import contextlib
import io
import json
import re
import zipfile
from contextlib import nullcontext

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.commands.main import main
from crawler_app.run.directory import CrawlDirectory

PAGES = 12
CSS = {"Content-Type": "text/css"}
PNG = {"Content-Type": "image/png"}


@pytest.fixture(scope="module")
def web(make_web):
    """Everything that leads from one host to another, or is refused."""
    with make_web() as web:
        web.tree(30, hosts=2)
        for i in range(PAGES):
            add_rich_page(web, i)
        robots = f"User-agent: *\nDisallow: /secret\nSitemap: {web.url(1, 'map.xml')}\n"
        for site in web.sites:
            plain = {"Content-Type": "text/plain"}
            site.answer("/robots.txt", robots.encode(), headers=plain)
            site.page("/copy", title="Copy")
            site.page("/x", web.url(0, "missing"), title="Copy of a copy")
        add_sitemap(web)
        yield web


def add_rich_page(web, i):
    """Add a page on one of two hosts with assets on the other, and with an external link."""
    here, there, outside = i % 2, (i + 1) % 2, 2 + i % 2
    children = [c for c in (2 * i + 1, 2 * i + 2) if c < PAGES]
    links = [web.url(c % 2, f"page-{c}") for c in children]
    links.append(web.url(outside, f"out?{i}"))
    web.sites[here].answer(
        f"/page-{i}",
        "".join(
            [
                f"<link rel=stylesheet href={web.url(there, f'{i}.css')}>",
                f"<img src={web.url(there, f'missing-{i}.png')}>",
                *(f"<a href={link}>x</a>" for link in links),
            ]
        ).encode(),
    )
    background = f"p {{ x: url({web.url(here, f'{i}.png')}) }}"
    web.sites[there].answer(f"/{i}.css", background.encode(), headers=CSS)
    web.sites[here].redirect(f"/{i}.png", to=web.url(there, f"moved-{i}.png"))
    web.sites[there].answer(f"/moved-{i}.png", b"PNG", headers=PNG)
    if i < PAGES // 2:
        web.sites[outside].page(f"/out?{i}")


def add_sitemap(web):
    """Add a sitemap of two pages, whose links are at the same depth in each order."""
    names = "secret", "missing", "copy", "x"
    links = [web.url(n, name) for n in range(4) for name in names]
    queries = [web.url(n, f"q?{i}") for n in range(2) for i in range(5)]
    web.sites[0].page("/listed", *links)
    web.sites[1].page("/listed", *links, *queries)
    entries = "".join(f"<url><loc>{web.url(n, 'listed')}</loc></url>" for n in range(2))
    web.sites[1].answer(
        "/map.xml",
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode(),
        headers={"Content-Type": "application/xml"},
    )


def crawl(web, directory, processes, *options):
    """Crawl two of the hosts; return what was requested, and how often."""
    before = web.requests
    seeds = [web.url(0, "0"), web.url(0, "page-0"), web.url(1, "page-1")]
    arguments = ["crawl", *seeds, "--into", str(directory), "--quiet", *options]
    assert main([*arguments, "--processes", str(processes)]) == 0
    return web.requests - before


@pytest.fixture(scope="module")
def crawled(web, tmp_path_factory):
    """A crawl by one process, and the same by three: directories and requests."""
    options = ("--external", "--max-depth", "3", "--config", "queries.toml")
    directory = tmp_path_factory.mktemp("crawls")
    (directory / "queries.toml").write_text("max-queries-per-path = 2")
    both = directory / "one", directory / "several"
    with contextlib.chdir(directory):
        requests = [
            crawl(web, into, number, *options)
            for into, number in zip(both, (1, 3), strict=True)
        ]
    return both, requests


@pytest.fixture
def crawls(crawled):
    return crawled[0]


def test_each_url_is_requested_as_often(crawled):
    _, (one, several) = crawled

    assert set(several) == set(one)
    for url in one:
        assert several[url] == one[url], url


def test_export_has_the_same_urls_and_roles(crawled, gencrawl):
    def records(directory):
        lines = gencrawl("export", directory, "--quiet").out.splitlines()
        return sorted(map(row, lines))

    def row(line):
        values = json.loads(line)
        # Which of several pages was read first depends on the server.
        return [
            (k, v)
            for k, v in values.items()
            if not k.startswith(("took", "finished", "via"))
        ]

    def lines_of_csv(directory):
        csv = gencrawl("export", directory, "--quiet", "--format", "csv")
        return csv.out.count("\n")

    (one, several), _ = crawled
    found = records(several)
    assert found == records(one)
    roles = {dict(record)["role"] for record in found}
    assert roles == {"link", "asset", "external", "sitemap"}
    assert lines_of_csv(several) == lines_of_csv(one)


def test_report_finds_the_same(crawls, gencrawl):
    one, several = (
        gencrawl.json("report", directory, "--format", "json", "--quiet")
        for directory in crawls
    )

    assert one["broken"] and one["most_linked"] and one["problems"] and one["skipped"]
    # Times and sizes of equal rank, and what the crawls themselves differ in.
    for name in one.keys() - {"slowest", "largest", "kept", "crawl", "made_at"}:
        assert normal(several[name]) == normal(one[name]), name
    captures = [report["kept"]["archive"]["captures"] for report in (one, several)]
    assert captures[0] == captures[1]
    failing = gencrawl("report", crawls[1], "--format", "md", "--fail-on", "broken")
    assert failing.status == 3
    assert f"{len(one['broken'])} broken URLs; " in failing.err


def normal(value):
    """Return a value without the parts that depend on the order in which pages were read."""
    if isinstance(value, list):
        return sorted((normal(each) for each in value), key=json.dumps)
    if isinstance(value, dict):
        return {
            k: normal(v)
            for k, v in value.items()
            if not k.startswith(("took", "mean", "via"))
        }
    return value


def test_search_merges_the_hits_of_all_processes(crawls, gencrawl):
    one, several = (
        gencrawl.json("search", directory, "copy", "--json", "--limit", "20")
        for directory in crawls
    )

    assert one["total"] == several["total"] == 4
    assert {hit["url"] for hit in several["hits"]} == {
        hit["url"] for hit in one["hits"]
    }
    assert [hit["title"] for hit in several["hits"]] == [
        hit["title"] for hit in one["hits"]
    ]
    some = gencrawl.json("search", crawls[1], "copy", "--json", "--limit", "3")
    assert some["hits"] == several["hits"][:3]
    assert gencrawl("search", crawls[1], "nothing-like-that").status == 1


def test_questions_in_sql_have_the_same_answers(crawls, gencrawl, tmp_path):
    pytest.importorskip("duckdb")
    query = "SELECT * EXCLUDE crawl FROM links ORDER BY ALL"
    options = ("--cache", tmp_path, "--quiet", "--format", "csv")

    one, several = (gencrawl("sql", crawl, query, *options).out for crawl in crawls)

    assert several == one and one.count("\n") > 5


def test_wacz_has_the_archives_of_all_processes(crawls, capsysbinary):
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
    one, several = (
        gencrawl("export", directory, "--format", "cdxj", "--quiet").out.splitlines()
        for directory in crawls
    )
    places = [line.split(" ", 2) for line in several]

    assert [line.split(" ", 1)[0] for line in several] == [
        line.split(" ", 1)[0] for line in one
    ]
    assert several == sorted(several, key=lambda line: line.split(" ", 2)[:2])
    names = {json.loads(fields)["filename"] for *_, fields in places}
    assert names and names <= {f"part-{n}/archive-00001.warc.gz" for n in range(3)}


def test_status_counts_all_processes(crawls, gencrawl):
    def status(directory):
        summary = gencrawl.json("status", directory, "--json")
        del summary["last_at"], summary["archive"]["bytes"], summary["archive"]["files"]
        summary["failures"].sort(key=json.dumps)
        for failure in summary["failures"]:
            assert failure.pop("via")
        return summary

    one, several = crawls
    assert status(several) == status(one)
    shown = gencrawl("status", several).out
    assert "\nfinished on " in shown
    assert re.search("in [123] file", shown)


def test_last_pages_get_their_assets_from_other_processes(web, gencrawl, tmp_path):
    before = web.requests
    seeds = [web.url(0, "page-0"), web.url(1, "page-1")]
    options = ("--processes", 2, "--max-pages", 5, "--no-robots", "--quiet")

    gencrawl("crawl", *seeds, "--into", tmp_path / "crawl", *options)

    requests = web.requests - before
    pages = {url.rpartition("-")[2] for url in requests if "/page-" in url}
    assert len(pages) == 5
    for name in ("/{}.css", "/{}.png", "/moved-{}.png", "/missing-{}.png"):
        ends = tuple(name.format(page) for page in pages)
        assert sum(url.endswith(ends) for url in requests) == 5
    status = gencrawl.json("status", tmp_path / "crawl", "--json")
    assert status["done"] + status["failed"] == 5 * 5


def test_part_that_is_a_link_is_not_opened(tmp_path):
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
