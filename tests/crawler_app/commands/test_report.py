"""The command ``report``, after crawls of a real site."""

import json
import stat
import subprocess
import sys

import pytest

from crawler_app.commands.main import main
from crawler_app.config import CrawlConfig
from crawler_app.directory import CrawlDirectory
from crawler_app.directory.stores import open_stores

# Interrupted when the pages are read, by the terminal: each process gets the signal.
INTERRUPTED = """
import os, signal, sys
from crawler_app.commands import main, report
from crawler_app.report import gather

def interrupt(what, done, total):
    if what == "reading pages" and done:
        os.killpg(0, signal.SIGINT)

report.gather = lambda directory, on_step: gather(directory, interrupt)
sys.exit(main.main(sys.argv[1:]))
"""


@pytest.fixture
def crawled(site, tmp_path):
    """Crawl a site with a link to nowhere; return the directory."""
    site.page("/", "a", "b", "gone")
    site.page("/a", "moved")
    site.page("/b", title="The b")
    site.redirect("/moved", to="/gone")
    return crawl(site, tmp_path)


def crawl(site, tmp_path, *options):
    directory = tmp_path / "crawl"
    assert main(["crawl", site.url, "--into", str(directory), "--quiet", *options]) == 0
    return directory


def report(directory, *options):
    return main(["report", str(directory), *map(str, options)])


def json_of(directory, capsys, *options):
    capsys.readouterr()
    assert report(directory, "--format", "json", *options) == 0
    return json.loads(capsys.readouterr().out)


def test_page_is_written_into_the_directory_of_the_crawl(crawled, capsys):
    assert report(crawled) == 0

    page = (crawled / "report.html").read_text(encoding="utf-8")
    assert "<h1>1 broken URL</h1>" in page
    assert capsys.readouterr().err == f"Wrote {crawled}/report.html\n"


def test_broken_link_is_told_with_pages_and_words(crawled, site, capsys):
    (broken,) = json_of(crawled, capsys)["broken"]

    assert broken["url"] == f"{site.url}gone"
    assert broken["links"] == [
        {"page": site.url, "text": "x", "href": "gone", "through": None},
        {
            "page": f"{site.url}a",
            "text": "x",
            "href": "moved",
            "through": f"{site.url}moved",
        },
    ]


def test_links_are_found_on_pages_that_have_not_changed_since(site, tmp_path, capsys):
    site.page("/", "gone", headers={"Etag": '"1"'})
    directory = crawl(site, tmp_path)
    crawl(site, tmp_path)

    found = json_of(directory, capsys)

    assert found["statuses"] == {"304": 1, "404": 1}
    assert [link["page"] for link in found["broken"][0]["links"]] == [site.url]
    assert found["compared"]["unchanged"] == 1


def test_crawl_that_a_limit_has_ended(site, tmp_path, capsys):
    site.page("/", "gone", "a")
    directory = crawl(site, tmp_path, "--max-pages", "1")

    assert report(directory, "--fail-on", "broken", "--quiet") == 0
    assert "The crawl has not come to its end." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "beginning"),
    [("r.json", "{"), ("r.md", "# 1 broken"), ("R.HTM", "<!DOCTYPE html>")],
)
def test_format_is_told_by_the_name_of_the_file(crawled, tmp_path, name, beginning):
    assert report(crawled, "--output", tmp_path / name) == 0

    assert (tmp_path / name).read_text(encoding="utf-8").startswith(beginning)


def test_format_that_is_told_counts_more_than_the_name(crawled, tmp_path):
    assert report(crawled, "--output", tmp_path / "r.json", "--format", "md") == 0

    assert (tmp_path / "r.json").read_text(encoding="utf-8").startswith("# 1 broken")


@pytest.mark.parametrize("options", [["--format", "md"], ["--output", "-"]])
def test_report_to_standard_output_is_nothing_but_the_report(crawled, capsys, options):
    assert report(crawled, *options) == 0

    out, err = capsys.readouterr()
    assert out.startswith(("# 1 broken", "<!DOCTYPE html>"))
    assert "Wrote" not in err
    assert not (crawled / "report.html").exists()


def test_fail_on_broken_tells_by_the_status(crawled, capsys):
    assert report(crawled, "--fail-on", "broken") == 3

    assert (crawled / "report.html").exists()
    err = capsys.readouterr().err
    assert err.endswith("1 URL is broken; 2 links lead there.\n")


def test_fail_on_broken_is_content_with_a_good_site(site, tmp_path):
    site.page("/")

    assert report(crawl(site, tmp_path), "--fail-on", "broken") == 0


@pytest.mark.parametrize("stage", ["forbidden", "killed"])
def test_fail_on_broken_is_not_content_where_nothing_was_fetched(
    site, tmp_path, capsys, stage
):
    directory = tmp_path / "crawl"
    if stage == "forbidden":
        site.answer("/robots.txt", b"User-agent: *\nDisallow: /\n")
        main(["crawl", site.url, "--into", str(directory), "--quiet"])
    else:
        config = CrawlConfig((site.url,))
        with (
            CrawlDirectory.create(directory, config) as made,
            open_stores(made, config),
        ):
            pass

    assert report(directory, "--fail-on", "broken") == 1

    err = capsys.readouterr().err
    assert err.endswith("Nothing was fetched, so nothing is known.\n")
    assert report(directory) == 0


def test_report_takes_the_place_of_the_one_before(crawled):
    page = crawled / "report.html"
    page.write_text("the one before")

    report(crawled)

    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    others = (crawled / "crawl.json").stat().st_mode
    assert stat.S_IMODE(page.stat().st_mode) == stat.S_IMODE(others)


def test_report_that_is_not_done_leaves_the_one_before(crawled, monkeypatch):
    def stop(found):
        raise KeyboardInterrupt

    (crawled / "report.html").write_text("the one before")
    # The package has a function of this name, which hides the module.
    module = sys.modules["crawler_app.commands.report"]
    monkeypatch.setattr(module, "render_html", stop)

    assert report(crawled) == 130

    (left,) = (path for path in crawled.iterdir() if "report" in path.name)
    assert left.read_text() == "the one before"


def test_interrupt_ends_it_in_silence(crawled):
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, "report", crawled],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
    assert not (crawled / "report.html").exists()


@pytest.mark.parametrize(
    ("output", "complaint"),
    [("none/r.html", "there is no directory"), (".", "is a directory")],
)
def test_place_that_cannot_be_written_is_refused(
    crawled, tmp_path, capsys, output, complaint
):
    capsys.readouterr()

    assert report(crawled, "--output", tmp_path / output) == 2

    assert complaint in capsys.readouterr().err


def test_directory_without_a_crawl_is_refused(tmp_path, capsys):
    assert report(tmp_path) == 2

    assert "holds no crawl" in capsys.readouterr().err
