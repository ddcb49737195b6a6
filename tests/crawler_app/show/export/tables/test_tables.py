"""The tables of a crawled site, in each format, and in SQL."""

import contextlib
import csv
import gzip
import io
import itertools
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import duckdb
import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler_app.base.config import CrawlConfig
from crawler_app.base.progress import no_step
from crawler_app.run.crawler import Crawler
from crawler_app.show.analysis import cached
from crawler_app.show.export.tables.columns import COLUMNS_BY_TABLE, text_columns
from crawler_app.show.export.tables.database import write_parquet_file
from gencoro.ioloop import IOLoop
from tests.helpers.site import Site


def html(site, path, source, times=None):
    headers = {"Content-Type": "text/html; charset=utf-8"}
    site.answer(path, source.encode(), headers=headers, times=times)


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def mill():
    """A site whose home page has every kind of link."""
    site = Site()
    html(
        site,
        "/",
        "<html lang=en><title>Home</title><h1 id=m>The <b>mill</b><a href=#m>&para;</a></h1>"
        '<a href="/a#part">A</a> <a href="/gone">Gone</a> <a rel="NoFollow  ugc" href="/n">N</a>'
        '<a href="mailto:x@y.test">Mail</a><img src="/p.png">',
    )
    html(site, "/a", "<title>=A,\n“x”</title><a href=/>Back</a><p>A windmill.")
    site.answer("/p.png", b"png", headers={"Content-Type": "image/png"})
    yield site
    site.stop()


@pytest.fixture(scope="module")
def crawl(mill, tmp_path_factory):
    """A crawl of it, which the tests only read."""
    directory = tmp_path_factory.mktemp("mill") / "crawl"
    config = CrawlConfig((mill.url,), into=str(directory))
    with contextlib.closing(IOLoop(make_current=False)) as loop:
        loop.run_sync(Crawler(config).run)
    return directory


@pytest.fixture
def answer(gencrawl):
    """Return a function that returns the rows of a query, as lines of CSV."""

    def answer(*sources_and_query):
        ended = gencrawl("sql", *sources_and_query, "-q")
        assert ended.status == 0, ended.err
        return ended.out.splitlines()[1:]

    return answer


def rows_of(gencrawl, crawl, table, style, path):
    """Return the rows of an exported table, by what reads them."""
    output = path / f"{table}.{style}"
    assert gencrawl("export", crawl, "--table", table, "--output", output).status == 0
    if style == "csv":
        with output.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    if style == "jsonl":
        return list(map(json.loads, output.read_text().splitlines()))
    found = duckdb.execute("FROM read_parquet(?)", [str(output)])
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.mark.parametrize("style", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("table", COLUMNS_BY_TABLE)
def test_each_table_has_its_columns_in_each_format(
    gencrawl, crawl, tmp_path, table, style
):
    rows = rows_of(gencrawl, crawl, table, style, tmp_path)

    columns = COLUMNS_BY_TABLE[table] if style == "parquet" else text_columns(table)
    assert rows and list(rows[0]) == list(columns)


@pytest.mark.parametrize(
    ("table", "size", "count"), [("links", 160, 600_000), ("pages", 20_000, 5000)]
)
def test_table_larger_than_the_memory_of_its_writer(
    monkeypatch, tmp_path, table, size, count
):
    width = len(COLUMNS_BY_TABLE[table])
    row = [*[None] * (width - 1), "x" * size]
    monkeypatch.setattr(
        "crawler_app.show.export.tables.database.read_tables",
        lambda _, sinks, __: sinks[table](itertools.repeat(row, count)),
    )

    write_parquet_file(None, table, tmp_path / "t", no_step)

    found = duckdb.execute("SELECT count(*) FROM read_parquet(?)", [f"{tmp_path}/t"])
    assert found.fetchone() == (count,)


def test_page_says_what_is_known_of_it(gencrawl, crawl, mill, tmp_path):
    rows = rows_of(gencrawl, crawl, "pages", "jsonl", tmp_path)

    home, a = rows
    wanted = {
        "url": mill.url,
        "status": 200,
        "title": "Home",
        "title_chars": 4,
        "h1": "The mill",
        "h1_count": 1,
        "lang": "en",
        "words": 5,
        "depth": 0,
        "inlinks": 1,
        "outlinks": 4,
        "change": None,
    }
    assert {name: home[name] for name in wanted} == wanted
    assert {"broken_link", "fragment", "no_alt", "no_description"} <= set(
        home["findings"]
    )
    assert home["first_seen"][-1] == "Z"
    assert a["title"] == "=A, “x”" and "no_heading" in a["findings"]


def test_link_says_where_it_is_and_what_became_of_its_target(
    gencrawl, crawl, mill, tmp_path
):
    rows = rows_of(gencrawl, crawl, "links", "jsonl", tmp_path)

    by_target = {row["target"].removeprefix(mill.url): row for row in rows[:4]}
    assert list(by_target) == ["a", "gone", "n", "p.png"]
    assert (
        by_target["a"].items()
        >= {
            "source": mill.url,
            "line": 1,
            "fragment": "part",
            "text": "A",
            "kind": "link",
            "rel": "",
            "status": 200,
        }.items()
    )
    assert by_target["gone"].items() >= {"rel": "", "status": 404}.items()
    assert by_target["n"].items() >= {"rel": "nofollow ugc", "status": None}.items()
    assert by_target["p.png"].items() >= {"kind": "asset", "element": "img"}.items()


def test_what_only_programs_read_is_no_link_of_visitors(answer, site, cli, directory):
    html(
        site,
        "/",
        "<link rel=canonical href=/b><a href=/a>A</a><a href=/b>B</a>"
        '<script type="application/ld+json">{"url": "/a"}</script>',
    )
    html(site, "/a", "<meta property=og:url content=/b><link rel=next href=/b>")
    html(site, "/b", "<iframe src=/a></iframe>")
    cli("crawl")

    kinds = "SELECT kind, count(*) FROM links GROUP BY 1 ORDER BY 1"
    counts = "SELECT outlinks, inlinks FROM pages ORDER BY url"
    rels = "SELECT rel, count(*) FROM links WHERE rel != '' GROUP BY 1 ORDER BY 1"

    assert answer(directory, rels) == ["canonical,1", "next,1"]
    assert answer(directory, kinds) == ["frame,1", "link,2", "named,4"]
    assert answer(directory, counts) == ["2,0", "0,2", "1,1"]


def test_finding_says_which_place_a_page_does_not_have(gencrawl, crawl, mill, tmp_path):
    rows = rows_of(gencrawl, crawl, "findings", "jsonl", tmp_path)

    (found,) = (row for row in rows if row["kind"] == "fragment")
    assert (found["page"], found["subject"]) == (mill.url, "/a#part")
    assert found["line"] == 1


def test_findings_are_those_of_the_report(gencrawl, answer, site, cli, directory):
    text = " ".join(map(str, range(200)))
    html(site, "/", f"<title>T</title><p>{text} one<a href=/near>x</a>")
    html(site, "/near", f"<title>T</title><p>{text} two")
    cli("crawl")

    report = gencrawl.json("report", directory, "--format", "json", "-q")
    found = answer(directory, "SELECT DISTINCT kind FROM findings")
    question = "SELECT page, subject FROM findings WHERE kind = 'nearly_same'"
    near = answer(directory, question)

    assert sorted(found) == sorted(report["problem_counts"])
    assert near == [f"{site.url}near,{site.url}"]


def test_page_with_filters_escapes_what_a_site_wrote(gencrawl, site, cli, directory):
    html(site, "/", "<title></script><script>alert(1)</script></title>")
    cli("crawl")

    page = gencrawl("export", directory, "--format", "html").out

    assert page.count("<script") == 2
    assert "alert(1)" in page


QUESTIONS = {
    "SELECT count(*) FROM pages": [["2"]],
    "SELECT h1 FROM pages WHERE text ILIKE '%windmill%'": [[""]],
    "SELECT DISTINCT crawl, subset FROM ccindex.ccindex ORDER BY 2": [
        ["crawl", "crawldiagnostics"],
        ["crawl", "robotstxt"],
        ["crawl", "warc"],
    ],
    "SELECT [1, NULL, 2] AS a, 3 AS a": [["1 2", "3"]],
    "CREATE TABLE x AS SELECT 1 AS a; SELECT a + 1 FROM x;": [["2"]],
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_question_is_answered(answer, crawl, question):
    assert list(csv.reader(answer(crawl, question))) == QUESTIONS[question]


def test_crawl_that_is_named_twice_counts_once(answer, crawl):
    assert answer(crawl, crawl, "SELECT count(*) FROM pages") == ["2"]


WORKED = re.findall(
    r"code-block:: sql\n\n((?:   .*\n|\n)+)",
    (Path(__file__).parents[5] / "docs" / "analysis.rst").read_text(encoding="utf-8"),
)


def test_worked_questions_are_answered(answer, crawl, mill):
    directories, orphans, mentions, same, growth, ranks = (
        list(csv.reader(answer(crawl, each))) for each in WORKED
    )
    assert directories == [[mill.url, "1"]]
    assert orphans == mentions == same == []
    assert growth == [["crawl", "2", "8"]]
    assert {url: float(rank) for url, rank in ranks} == {mill.url: 1, f"{mill.url}a": 1}


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        ("", "the query is empty"),
        (
            "CREATE TABLE t (x INT); SELECT 1; SELECT 2",
            "run this one on its own: SELECT 1",
        ),
        ("SELECT x FROM pages", '"x" not found'),
        ("COPY pages TO '{}/x.csv'", "Cannot access"),
        ("ATTACH '{}/x.duckdb'", "Cannot access"),
        ("FROM read_text('/etc/passwd')", "Cannot access"),
        ("INSERT INTO crawl_0.pages (url) VALUES ('x')", "read-only"),
        ("SET enable_external_access = true", "locked"),
        ("INSTALL httpfs", "Cannot access"),
        ("SELECT error(chr(27) || ']0;x')", r"\x1b]0;x"),
    ],
)
def test_query_reads_the_tables_and_nothing_else(
    gencrawl, crawl, tmp_path, question, complaint
):
    ended = gencrawl("sql", crawl, question.format(tmp_path))

    assert ended.status == 2 and complaint in ended.err
    assert not list(tmp_path.glob("x.*"))


def test_tables_are_made_anew_when_the_crawl_or_the_program_has_changed(
    answer, site, cli, directory, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    html(site, "/", "<a href=/a>A</a>")
    html(site, "/a", "<title>A</title>", times=1)
    cli("crawl")
    count = directory, "SELECT count(*), max(change) FROM pages"
    assert answer(*count) == ["2,"]
    (made,) = (tmp_path / "cache/gencrawl/sql").iterdir()
    before = made.stat().st_ino
    answer(*count)
    assert made.stat().st_ino == before
    monkeypatch.setattr(cached, "_code_version", lambda: "of another version")
    answer(*count)
    (made,) = (tmp_path / "cache/gencrawl/sql").iterdir()
    assert made.stat().st_ino != before

    html(site, "/a", "<title>A</title><a href=/b>B</a>")
    html(site, "/b", "<title>B</title>")
    cli("crawl")

    assert answer(*count) == ["3,unchanged"]
    (again,) = (tmp_path / "cache/gencrawl/sql").iterdir()
    assert again != made


def test_wacz_and_directory_say_the_same(gencrawl, answer, crawl, tmp_path):
    package = tmp_path / "copy.wacz"
    gencrawl("export", crawl, "--output", package)
    sums = "SELECT crawl, count(*), sum(outlinks), sum(words) FROM pages GROUP BY 1"

    one, other = answer(crawl, package, f"{sums} ORDER BY 1")

    assert one.partition(",")[2] == other.partition(",")[2]
    assert {one.partition(",")[0], other.partition(",")[0]} == {"crawl", "copy.wacz"}
    responses = "SELECT url, status, bytes, digest FROM urls WHERE status IS NOT NULL"
    statuses = f"SELECT DISTINCT status FROM ({responses}) ORDER BY 1"
    assert answer(package, statuses) == ["200", "404"]
    unlike = f"{responses} GROUP BY ALL HAVING count(*) = 1"
    assert answer(crawl, package, unlike) == []


def test_revisit_has_the_body_of_the_record_it_refers_to(
    gencrawl, answer, site, directory, cli, tmp_path
):
    page = f"<title>Twin</title><link rel=canonical href=c><p>{'long ' * 99}<a href=a>A"
    html(site, "/", "<title>Home</title><a href=/x/>X</a><a href=/y/>Y</a>")
    html(site, "/x/", page)
    html(site, "/y/", page)
    assert cli("crawl").status == 0
    query = "SELECT url, title, canonical, bytes FROM pages ORDER BY url"

    file = directory / "archive-00001.warc.gz"
    assert answer(file, query)[1:] == [
        f"{site.url}{each}/,Twin,{site.url}{each}/c,{len(page)}" for each in "xy"
    ]
    assert (
        answer(file, "SELECT DISTINCT kind FROM findings WHERE kind='no_title'") == []
    )

    # What another archive has is not known here, and not a page without a title.
    later = tmp_path / "later"
    known = ("--dedupe-against", directory, "--into", later, "-q")
    assert gencrawl("crawl", site.url, *known).status == 0
    file = later / "archive-00001.warc.gz"
    assert answer(file, "SELECT url FROM pages") == [site.url]


@pytest.mark.skipif(not shutil.which("wget"), reason="wget is not here")
def test_warc_of_wget_is_read(answer, site, tmp_path):
    html(site, "/", "<title>Home</title><a href=/a>A</a>")
    html(site, "/a", "<title>A</title>")
    wget = ["wget", "-q", "-r", f"--warc-file={tmp_path}/w", "-P", tmp_path, site.url]
    subprocess.run(wget, check=False)

    links = "SELECT source, target, status FROM links"
    assert answer(tmp_path / "w.warc.gz", links) == [f"{site.url},{site.url}a,200"]


def warc_of(pages):
    """Return a WARC file by warcio: responses, and a page's list of what it loads."""
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True)
    for path, (status, body) in pages.items():
        url, content = f"http://a.test/{path}", io.BytesIO(body)
        headers = StatusAndHeaders(status, [("Content-Type", "text/html")], "HTTP/1.1")
        for record in (
            writer.create_warc_record(url, "response", content, http_headers=headers),
            writer.create_warc_record(f"urn:pageinfo:{url}", "resource", io.BytesIO()),
        ):
            writer.write_record(record)
            record.raw_stream.close()
    return buffer.getvalue()


ONE = {"": ("200 OK", b"<title>Home</title><a href=a#x>A</a><a href=gone>G</a>")}
OTHER = {
    "a": ("200 OK", b"<a rel=nofollow href=/>Home</a>"),
    "gone": ("404 Not Found", b"<a href=/>Home</a>"),
}


def wacz_of(*warcs):
    """Return a WACZ file as Browsertrix writes it; see its specification, 1.1.1."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for number, warc in enumerate(warcs):
            package.writestr(f"archive/rec-c0ffee-{number}.warc.gz", warc)
        package.writestr("indexes/index.cdx.gz", gzip.compress(b"test,a)/ 2026 {}"))
        package.writestr("indexes/index.idx", '!meta 0 {"format": "cdxj-gzip-1.0"}')
        package.writestr("pages/pages.jsonl", '{"format": "json-pages-1.0"}')
        package.writestr("pages/extraPages.jsonl", '{"url": "http://a.test/a"}')
        package.writestr("logs/1.log", "{}")
        package.writestr("datapackage.json", '{"wacz_version": "1.1.1"}')
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("w.warc.gz", warc_of(ONE | OTHER)),
        ("w.wacz", wacz_of(warc_of(ONE), warc_of(OTHER))),
    ],
)
def test_files_of_other_programs_are_read(answer, tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)

    site = "http://a.test/"
    found = "SELECT source, target, fragment, rel, status FROM links"
    assert answer(file, f"{found} ORDER BY ALL") == [
        f"{site},{site}a,x,,200",
        f"{site},{site}gone,,,404",
        f"{site}a,{site},,nofollow,200",
    ]
    known = "SELECT url, title, status, inlinks, outlinks FROM pages"
    assert answer(file, f"{known} ORDER BY ALL") == [
        f"{site},Home,200,1,2",
        f"{site}a,,200,1,1",
    ]
    captures = "SELECT count(*), count(DISTINCT warc_filename) FROM captures"
    assert answer(file, captures) == [f"3,{2 if name == 'w.wacz' else 1}"]


def page(number):
    return f"<title>T{number}</title><a href=/{number + 1}>Next page</a>".encode()


def test_bodies_that_are_stored_as_they_came_or_decoded_are_read(answer, tmp_path):
    zipped = gzip.compress(page(2))
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(zipped), zipped)
    coded = [("Content-Encoding", "gzip")]
    framed = [*coded, ("Transfer-Encoding", "chunked")]
    bodies = [(page(0), []), (gzip.compress(page(1)), coded), (chunked, framed)]
    bodies += [(page(3), coded), (page(4), framed)]
    site = "http://a.test/"
    with (tmp_path / "w.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        records = [
            writer.create_warc_record(
                *(f"{site}{number}", "response", io.BytesIO(body)),
                http_headers=StatusAndHeaders(
                    "200 OK", [("Content-Type", "text/html"), *fields], "HTTP/1.1"
                ),
            )
            for number, (body, fields) in enumerate(bodies)
        ]
        # As warcit writes the files of a folder.
        resource = (f"{site}5", "resource", io.BytesIO(page(5)))
        records.append(
            writer.create_warc_record(*resource, warc_content_type="text/html")
        )
        for record in records:
            writer.write_record(record)
            record.raw_stream.close()

    pages = "SELECT url, title, outlinks FROM pages ORDER BY url"
    assert answer(tmp_path / "w.warc.gz", pages) == [
        f"{site}{number},T{number},1" for number in range(6)
    ]


def test_ctrl_c_ends_a_query(crawl):
    endless = "SELECT sum(a.range * b.range) FROM range(100000000) a, range(1000000) b"
    code = "from crawler_app.show.analysis import session as s\n" + (
        "run = s.run_statements\n"
        "def told(*args): print('begun', flush=True); return run(*args)\n"
        "import crawler_app.commands.sql as c; c.run_statements = told\n"
        "import sys; from crawler_app.__main__ import main\n"
        "sys.argv[1:] = ['sql', '-q', sys.argv[1], sys.argv[2]]; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, crawl, endless]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.1)  # whether it has begun is not told
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 130
        finally:
            process.kill()
