"""The report as Markdown, JSON and CSV."""

import io
import json
import re
from pathlib import Path

import pytest

from crawler_app.base.models import Outcome, State
from crawler_app.show.report import render_html, render_markdown, to_json, write_csv

A = "http://a.test"
GUIDE = (Path(__file__).parents[4] / "docs" / "report.rst").read_text(encoding="utf-8")


def test_markdown_has_the_verdict_and_the_links(crawl):
    crawl.page("/", '<a href="gone">Our | *offer*</a>')
    crawl.fail("/gone")

    text = render_markdown(crawl.report())

    assert text.startswith("# 1 broken URL: a.test\n\n1 link on 1 page leads there.\n")
    assert (
        f"- **404** [/gone](<{A}/gone>): Not Found. 1 link on 1 page.\n"
        f"  - [/](<{A}/>) “Our \\| \\*offer\\*” (line 1)\n"
    ) in text
    assert "| Status | URLs |\n| --- | --- |\n| 200 OK | 1 |\n" in text


def test_markdown_in_text_of_the_site_is_escaped(crawl):
    crawl.page("/1", "same", title="<b>[x](y) `z` | w")
    crawl.page("/2", "same", title="<b>[x](y) `z` | w")

    text = render_markdown(crawl.report())

    assert "\\<b\\>\\[x\\](y) \\`z\\` \\| w<br>" in text


def test_markdown_link_keeps_its_url(crawl):
    crawl.page("/", '<a href="/gone?a=1&amp;amp;b=2&amp;c=3">x</a>')
    crawl.fail("/gone?a=1&amp;b=2&c=3")

    text = render_markdown(crawl.report())

    assert f"(<{A}/gone?a=1&amp;amp;b=2&c=3>)" in text
    assert "“x”" in text


def test_markdown_counts_urls_by_state(crawl):
    crawl.page("/")
    crawl.fail("/gone")
    crawl.fail("/huge", "too_large", None)
    crawl.refuse("http://b.test/", "out_of_scope")
    crawl.queue("/later")

    text = render_markdown(crawl.report())

    assert "1 done (1 page, 0 files, 0 redirects), 0 B; " in text
    assert "; 2 failed (1 broken, 1 not checked), 1 skipped, 1 left; as of" in text


@pytest.mark.parametrize(
    ("render", "told"),
    [
        (render_markdown, "2 done (1 page, 0 files, 1 external, 0 redirects), 0 B; "),
        (render_html, "exist, not crawled"),
    ],
)
def test_external_urls_are_counted_too(crawl, render, told):
    crawl.page("/")
    assert told not in render(crawl.report())

    crawl.end("http://b.test/", Outcome(State.DONE, "exists", 200))

    assert told in render(crawl.report())


def test_json_has_complete_lists(crawl):
    pages = 40
    for n in range(pages):
        crawl.page(f"/{n}", f'{n}<a href="to-gone">x</a>')
    crawl.redirect("/to-gone", "/on-to-gone")
    crawl.redirect("/on-to-gone", "/gone")
    crawl.fail("/gone")

    found = json.loads(json.dumps(to_json(crawl.report())))

    (broken,) = found["broken"]
    assert len(broken["links"]) == pages
    assert broken["links"][0] == {
        "page": f"{A}/0",
        "line": 1,
        "text": "x",
        "href": "to-gone",
        "through": f"{A}/to-gone",
    }
    assert (broken["status"], broken["meaning"]) == (404, "404 Not Found")
    assert found["totals"]["broken_links"] == pages


def test_json_has_the_keys_that_the_guide_names(crawl):
    crawl.page("/")

    found = to_json(crawl.report())

    named = re.findall(
        r"(?m)^   \* - (``.+``)$", GUIDE.split("\nThe report for programs")[1]
    )
    assert set(found) == set(re.findall(r"\w+", " ".join(named)))
    assert found["crawl"]["state"] == "finished"
    assert found["crawl"]["started_at"] == "1970-01-01T00:16:40Z"
    assert found["site"] == "a.test"
    assert found["statuses"] == {"200": 1}


def test_csv_has_a_row_for_each_link_to_fix(crawl):
    crawl.page("/", '<a href="gone">=1+1</a>\n<a href="old">Old</a>')
    crawl.page("/p", '<a href="old">Old</a>', archived=False)
    crawl.redirect("/old", "/p")
    crawl.fail("/gone")
    crawl.fail("/lost", "dns", None)
    file = io.StringIO()

    write_csv(crawl.report(), file)

    assert file.getvalue().splitlines() == [
        "page,line,text,href,target,status,reason",
        f"{A}/,1,'=1+1,gone,{A}/gone,404,http_404",
        f",,,,{A}/lost,,dns",
        f"{A}/,2,Old,old,{A}/p,301,redirect",
    ]
