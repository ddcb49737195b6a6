"""The command ``report``, after crawls of a real site."""

import stat
import subprocess

import pytest

from crawler_app.base.config import CrawlConfig
from crawler_app.base.reasons import never_checked
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.stores import open_stores

# Interrupted when the pages are read, by the terminal: each process gets the signal.
INTERRUPTED = """
import os, signal, sys
from crawler_app.commands import main, report
from crawler_app.show.report import gather

def interrupt(what, done, total):
    if what == "reading URLs":
        os.killpg(0, signal.SIGINT)

report.gather = lambda directory, on_step: gather(directory, interrupt)
sys.exit(main.main(sys.argv[1:]))
"""


@pytest.fixture
def report_json(gencrawl, directory):
    return lambda: gencrawl.json("report", directory, "--format", "json")


@pytest.fixture
def crawled(site, cli, directory):
    """Crawl a site with a link to nowhere; return the directory."""
    site.page("/", "a", "b", "gone")
    site.page("/a", "moved")
    site.page("/b", title="The b")
    site.redirect("/moved", to="/gone")
    cli("crawl")
    return directory


def test_page_is_written_into_the_directory_of_the_crawl(crawled, cli):
    ended = cli("report")

    wrote = f"Wrote {crawled}/report.html and report.csv"
    told = f"Not checked: {never_checked()}.\n{wrote}\n"
    assert ended == (0, "", told)
    page = (crawled / "report.html").read_text(encoding="utf-8")
    assert "<h1>1 broken URL</h1>" in page
    assert len((crawled / "report.csv").read_text().splitlines()) == 3


def test_links_on_unchanged_pages_are_found(site, cli, report_json):
    site.page("/", "gone", headers={"Etag": '"1"'})
    cli("crawl")
    cli("crawl")

    found = report_json()

    assert found["statuses"] == {"200": 1, "404": 1}
    assert [link["page"] for link in found["broken"][0]["links"]] == [site.url]
    assert found["compared"]["unchanged"] == 1


def test_fail_on_broken_fails_for_a_malformed_link_that_leads_nowhere(site, cli):
    site.page("/", "www.b.test/x")
    cli("crawl")

    ended = cli("report", "--fail-on", "broken", "--quiet")

    assert ended.status == 3
    assert ended.err.endswith("1 malformed reference.\n")


def test_fail_on_broken_passes_if_a_limit_left_urls(site, cli):
    site.page("/", "gone", "a")
    cli("crawl", "--max-pages", "1")

    ended = cli("report", "--fail-on", "broken", "--quiet")

    assert ended.status == 0
    assert "The crawl has not finished." in ended.err


@pytest.mark.parametrize(
    ("options", "beginning"),
    [
        (["--output", "r.json"], "{"),
        (["--output", "r.md"], "# 1 broken"),
        (["--output", "R.HTM"], "<!DOCTYPE html>"),
        (["--output", "r.csv"], "page,line,text"),
        (["--output", "r.json", "--format", "md"], "# 1 broken"),
    ],
)
def test_format_is_that_of_the_option_or_the_file_name(
    crawled, cli, tmp_path, monkeypatch, options, beginning
):
    monkeypatch.chdir(tmp_path)

    assert cli("report", *options).status == 0

    assert (tmp_path / options[1]).read_text(encoding="utf-8").startswith(beginning)


@pytest.mark.parametrize("options", [["--format", "md"], ["--output", "-"]])
def test_standard_output_has_the_report_only(crawled, cli, options):
    ended = cli("report", *options)

    assert ended.status == 0
    assert ended.out.startswith(("# 1 broken", "<!DOCTYPE html>"))
    assert "Wrote" not in ended.err
    assert not (crawled / "report.html").exists()


def test_fail_on_broken_sets_the_exit_status(crawled, cli):
    ended = cli("report", "--fail-on", "broken")

    assert ended.status == 3
    assert (crawled / "report.html").exists()
    assert ended.err.endswith("1 broken URL; 2 links lead to what is broken.\n")


@pytest.mark.parametrize("stage", ["forbidden", "killed"])
def test_fail_on_broken_fails_if_nothing_was_fetched(
    site, directory, gencrawl, cli, stage
):
    if stage == "forbidden":
        site.answer("/robots.txt", b"User-agent: *\nDisallow: /\n")
        gencrawl("crawl", site.url, "--into", directory, "--quiet")
    else:
        config = CrawlConfig((site.url,))
        with (
            CrawlDirectory.create(directory, config) as made,
            open_stores(made, config),
        ):
            pass

    ended = cli("report", "--fail-on", "broken")

    assert ended.status == 1
    assert ended.err.endswith("Nothing was fetched.\n")
    assert cli("report").status == 0


def test_report_replaces_the_previous_one(crawled, cli):
    page = crawled / "report.html"
    page.write_text("Made by gencrawl on Monday")

    cli("report")

    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    others = (crawled / "crawl.json").stat().st_mode
    assert stat.S_IMODE(page.stat().st_mode) == stat.S_IMODE(others)


def test_failed_report_leaves_the_previous_one(crawled, cli, monkeypatch):
    def stop(found):
        raise KeyboardInterrupt

    (crawled / "report.html").write_text("Made by gencrawl on Monday")
    monkeypatch.setattr("crawler_app.commands.report.render_html", stop)

    assert cli("report").status == 130

    (left,) = (path for path in crawled.iterdir() if "report" in path.name)
    assert left.read_text() == "Made by gencrawl on Monday"


def test_interrupt_ends_it_in_silence(crawled, start_script):
    process = start_script(
        INTERRUPTED, "report", crawled, stderr=subprocess.PIPE, start_new_session=True
    )

    assert (*process.communicate(), process.returncode) == ("", "", 130)
    assert not (crawled / "report.html").exists()


@pytest.mark.parametrize(
    ("output", "complaint"),
    [("none/r.html", "there is no directory"), (".", "is a directory")],
)
def test_place_that_cannot_be_written_is_refused(
    crawled, cli, tmp_path, output, complaint
):
    ended = cli("report", "--output", tmp_path / output)

    assert ended.status == 2
    assert complaint in ended.err


@pytest.mark.parametrize("name", ["report.html", "report.csv"])
def test_file_of_another_program_is_kept(crawled, cli, name):
    (crawled / name).write_text("mine")

    refused = cli("report")
    (crawled / name).unlink()

    assert refused.status == 2
    assert f"{name} was not written by `gencrawl report`, and is kept" in refused.err
    assert cli("report").status == cli("report").status == 0
