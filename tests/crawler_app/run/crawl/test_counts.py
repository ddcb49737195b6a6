"""Every output describes a crawl in the same words and numbers."""

import contextlib
import re

import pytest
from prometheus_client import parser

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import State
from crawler_app.commands.summary_text import render_summary
from crawler_app.run.crawl.monitor import Monitor
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.show.dashboard.events import to_json as sample_to_json
from crawler_app.show.dashboard.metrics import Metrics
from crawler_app.show.report import gather, render_html, render_markdown
from crawler_app.show.report.as_json import to_json
from crawler_app.show.terminal.plain_text import line_of

WANTED = {"done": 5, "failed": 3, "skipped": 2, "queued": 0, "under_way": 0}
TOTALS = {"urls": 10, "pages": 2, "files": 1, "redirects": 2, "left": 0}
TOTALS |= {"done": 5, "failed": 3, "broken": 2, "not_checked": 1, "skipped": 2}


@pytest.fixture
def outputs(site, tmp_path, run_sync):
    """Crawl a site of each kind of URL; return what each place says of it."""
    found = ("/page", "/file.txt", "/gone", "/lost", "/large", "/round", "/no/x")
    site.page("/", *found, "http://b.test/")
    site.page("/page")
    site.answer("/file.txt", b"x", headers={"Content-Type": "text/plain"})
    site.answer("/large", b"x" * 5_000)
    site.redirect("/round", "/trip")
    site.redirect("/trip", "/round")
    config = CrawlConfig(
        (site.url,),
        into=str(tmp_path / "crawl"),
        robots=False,
        exclude=("/no/",),
        max_body_bytes=4_000,
    )
    outputs = {}

    @contextlib.contextmanager
    def watch(crawl):
        yield
        outputs["sample"] = Monitor(crawl).look()
        outputs["metrics"] = Metrics(crawl).render()[0].decode()

    result = run_sync(Crawler(config, watch=watch).run)
    outputs["summary"] = result.summary
    outputs["report"] = gather(CrawlDirectory.open(config.into))
    return outputs


def number_of(word, text):
    return int(re.search(rf"(\d+) {word}", text)[1])


def test_numbers_for_programs_agree(outputs):
    summary, report = outputs["summary"].to_json(), to_json(outputs["report"])["totals"]

    for totals in (summary, report):
        assert {name: totals[name] for name in TOTALS} == TOTALS
    assert summary["states"] == WANTED
    assert sample_to_json(outputs["sample"])["count_by_state"] == WANTED
    values = {
        (sample.name, *sample.labels.values()): sample.value
        for family in parser.text_string_to_metric_families(outputs["metrics"])
        for sample in family.samples
    }
    assert {name: values["gencrawl_urls", name] for name in WANTED} == WANTED
    failed = {
        key[1]: n for key, n in values.items() if key[0] == "gencrawl_failed_total"
    }
    assert failed == summary["reasons"]["failed"] == {"http_404": 2, "too_large": 1}
    hosts = outputs["report"].summary.hosts
    assert sum(host.broken for host in hosts) == len(outputs["report"].broken) == 3


def test_numbers_for_people_agree(outputs):
    line = line_of(outputs["sample"])
    assert all(
        number_of(state.label.replace("_", " "), line) == WANTED[state.label]
        for state in State
    )
    text = " ".join(render_summary(outputs["summary"]).split())
    assert "done 5 2 pages, 1 file, 2 redirects" in text
    assert "failed 3 2 broken, 1 not checked" in text
    assert "skipped 2 " in text
    markdown = render_markdown(outputs["report"])
    assert markdown.startswith("# 2 broken URLs and 1 redirect loop:")
    assert "5 done (2 pages, 1 file, 2 redirects)" in markdown
    assert "3 failed (2 broken, 1 not checked), 2 skipped, 0 left" in markdown


def test_page_agrees_with_the_rest(outputs):
    page = render_html(outputs["report"])

    assert "<h1>2 broken URLs and 1 redirect loop</h1>" in page
    tiles = dict(re.findall(r"<dt>(\w+)</dt><dd><strong>(.*?)</strong>", page))
    wanted = {
        "Pages": "2",
        "Files": "1",
        "Redirects": "2",
        "Failed": "3",
        "Skipped": "2",
    }
    assert wanted.items() <= tiles.items()
    assert "2 broken, 1 not checked" in page
