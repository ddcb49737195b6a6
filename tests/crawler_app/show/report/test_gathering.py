"""Gathering a report from the directory of a crawl."""

import itertools
import tracemalloc
from urllib.parse import quote

import pytest

from crawler_app.base.errors import ArchiveError, ConfigError
from crawler_app.base.models import Outcome, State
from crawler_app.run.results.summary import FINISHED, RUNNING, STOPPED
from crawler_app.show.report import gather, render_markdown, temp_tables
from crawler_app.show.report.gathering import MAX_EXAMPLES
from crawler_app.show.report.report_data import ReportedLink
from crawler_app.show.report.shape import in_words
from crawler_app.store.frontier.sqlite import SqliteFrontier

A = "http://a.test"


def links_of(report, path):
    (broken,) = (each for each in report.broken if each.url == A + path)
    return list(broken.links)


def test_broken_url_is_listed_with_its_links(crawl):
    crawl.page("/", '<p>\n<a href="gone">Our <b>offer</b></a> <a href="fine">Fine</a>')
    crawl.page("/fine", '<a href="/gone#top">see there</a>')
    crawl.fail("/gone", via="/")

    report = crawl.report()

    assert [each.url for each in report.broken] == [f"{A}/gone"]
    assert report.broken[0].status == 404
    assert links_of(report, "/gone") == [
        ReportedLink(f"{A}/", "Our offer", "gone", line=2),
        ReportedLink(f"{A}/fine", "see there", "/gone#top", line=1),
    ]
    assert (report.broken_links, report.pages_with_broken_links) == (2, 2)
    assert report.unread == 0


@pytest.mark.parametrize(
    "href",
    [
        "&#103;one",
        "%67one",
        "./x/../gone",
        "HTTP://A.test:80/gone",
        "//a.test/gone",
        "\n gone\t",
        "/gone?#x",
    ],
)
def test_link_is_found_in_every_spelling(crawl, href):
    crawl.page("/", f'<!-- <a href="gone">no</a> --><a href="{href}">x</a>')
    crawl.fail("/gone", via="/")

    (link,) = crawl.report().broken[0].links

    assert (link.page, link.text) == (f"{A}/", "x")


@pytest.mark.parametrize("padding", ["", "<p>" * 200_000], ids=["tree", "tags"])
def test_refresh_to_a_broken_url_is_listed(crawl, padding):
    crawl.page("/", f'<a href="gone">x</a>{padding}')
    crawl.page(
        "/slide",
        f'<base href="/d/"><meta http-equiv=Refresh content="30;../gone">{padding}',
    )
    crawl.page("/page", f'{padding}<meta http-equiv=refresh content="0;gone2">')
    crawl.fail("/gone", via="/")

    assert links_of(crawl.report(), "/gone") == [
        ReportedLink(f"{A}/", "x", "gone", line=1),
        ReportedLink(f"{A}/slide", "<meta content>", "../gone", line=1),
    ]


def test_asset_is_found_where_it_is_referenced(crawl):
    crawl.page(
        "/", "<img src=/no.png><iframe src=/no.html></iframe><a href=no.html>x</a>"
    )
    crawl.page("/s.css", "p {x: url(no.png)}", content_type="text/css")
    crawl.page("/x", "<base href=/d/><p style='x: url(../no.png)'>")
    crawl.fail("/no.png")
    crawl.fail("/no.html")

    report = crawl.report()

    assert links_of(report, "/no.png") == [
        ReportedLink(f"{A}/", "<img src>", "/no.png", line=1),
        ReportedLink(f"{A}/s.css", "url()", "no.png", line=1),
        ReportedLink(f"{A}/x", "<p style>", "../no.png", line=1),
    ]
    assert links_of(report, "/no.html") == [
        ReportedLink(f"{A}/", "<iframe src>", "/no.html", line=1),
        ReportedLink(f"{A}/", "x", "no.html", line=1),
    ]


def test_lone_surrogate_in_a_manifest_is_accepted(crawl):
    manifest = r'{"icons": [{"src": "a?\ud800"}]}'
    crawl.page("/m", manifest, content_type="application/manifest+json")
    crawl.fail(f"/a?{quote(chr(0xFFFD))}")

    (link,) = crawl.report().broken[0].links

    assert (link.page, link.href) == (f"{A}/m", "a??")


def test_full_disk_is_an_error_with_advice(crawl, monkeypatch):
    crawl.page("/", "x")
    small = f"PRAGMA max_page_count = 20; {temp_tables.TABLES}"
    monkeypatch.setattr(temp_tables, "TABLES", small)
    for n in range(200):
        crawl.page(f"/{n}", title="x" * 1000, archived=False)

    with pytest.raises(ConfigError, match="full; TMPDIR names another directory"):
        crawl.report()


def test_link_relative_to_a_base_is_found(crawl):
    crawl.page("/", '<base href="/deep/"><a href="gone">x</a><a href="?q">y</a>')
    crawl.fail("/deep/gone")
    crawl.fail("/deep/?q")

    report = crawl.report()

    assert [link.text for link in links_of(report, "/deep/gone")] == ["x"]
    assert [link.text for link in links_of(report, "/deep/?q")] == ["y"]


def test_redirect_loop_is_broken_and_has_its_links(crawl):
    crawl.page("/", '<a href="in">In</a> <a href="b">B</a>')
    crawl.redirect("/in", "/a")
    crawl.redirect("/a", "/b")
    crawl.redirect("/b", "/a")

    report = crawl.report()

    assert report.summary.loops == [[f"{A}/a", f"{A}/b"]]
    assert report.broken[0].reason == "redirect_loop"
    assert [(x.text, x.through) for x in report.broken[0].links] == [
        ("In", f"{A}/in"),
        ("B", f"{A}/b"),
    ]
    assert (report.summary.failed, report.summary.broken) == (0, 0)
    assert [host.broken for host in report.summary.hosts] == [1]
    assert in_words(report.shape.totals()[""]) == "1 page, 2 redirects, 1 redirect loop"


def test_most_linked_broken_url_comes_first(crawl):
    crawl.page("/", '<a href="b">1</a><a href="b">2</a><a href="c">3</a>')
    for path in ("/c", "/b"):
        crawl.fail(path)

    assert [each.url for each in crawl.report().broken] == [f"{A}/b", f"{A}/c"]


def test_without_an_archive_the_first_page_is_listed(make_crawl):
    crawl = make_crawl(archive=False)
    crawl.page("/", '<a href="gone">x</a>')
    crawl.fail("/gone", via="/")

    report = crawl.report()

    assert not report.has_archive
    assert report.broken[0].links == [ReportedLink(f"{A}/")]


def test_unreadable_page_is_counted(make_crawl):
    crawl = make_crawl(max_body_bytes=100)
    crawl.page("/", '<a href="gone">x</a>', archived=False)
    crawl.page("/large", '<a href="gone">x</a>' * 6)
    crawl.page("/other", '<a href="gone">y</a>')
    crawl.fail("/gone", via="/")

    report = crawl.report()

    assert report.unread == 2
    assert [link.page for link in report.broken[0].links] == [f"{A}/other"]


def test_unreadable_archive_table_is_an_error(crawl):
    crawl.page("/", '<a href="gone">x</a>')
    crawl.fail("/gone")
    crawl.close()
    (crawl.directory.path / "archive.sqlite3").write_bytes(b"no table at all" * 100)

    with pytest.raises(ArchiveError):
        gather(crawl.directory)


@pytest.mark.parametrize("archive", [True, False])
@pytest.mark.parametrize(
    ("redirects", "reason"),
    [
        (["/"], "timeout"),
        (["/", "/gone"], "timeout"),
        (["/", "/a", "/b", "/"], "redirect_loop"),
        (["/", "/a", "/b", "/a"], "redirect_loop"),
    ],
)
def test_seed_that_redirects_to_a_broken_url_is_marked(
    make_crawl, archive, redirects, reason
):
    crawl = make_crawl(archive=archive)
    for path, to in itertools.pairwise(redirects):
        crawl.redirect(path, to)
    if reason == "timeout":
        via = redirects[-2] if redirects[1:] else ""
        crawl.fail(redirects[-1], reason, None, via=via, error="too late")

    (broken,) = crawl.report().broken

    assert (broken.reason, broken.is_seed, list(broken.links)) == (reason, True, [])
    assert (broken.status, broken.error == "too late") == (None, reason == "timeout")


@pytest.mark.parametrize("reason", ["too_large", "hook_error", "private_address"])
def test_internal_failure_is_not_broken(crawl, reason):
    crawl.fail("/big", reason, None, error="so it was")

    report = crawl.report()

    assert report.broken == []
    assert [each.reason for each in report.not_checked] == [reason]
    assert report.summary.not_checked == 1


def test_skipped_urls_are_grouped_by_reason(crawl):
    for n in range(MAX_EXAMPLES + 2):
        crawl.refuse(f"http://b.test/{n}", "out_of_scope")
    crawl.refuse("/x", "robots")

    report = crawl.report()

    counts = report.summary.count_by_reason[State.EXCLUDED]
    assert counts == {"robots": 1, "out_of_scope": MAX_EXAMPLES + 2}
    assert report.examples_by_reason["robots"] == [f"{A}/x"]
    assert len(report.examples_by_reason["out_of_scope"]) == MAX_EXAMPLES


def test_identical_pages_are_one_group_without_files(crawl):
    for path in ("/1", "/2", "/3"):
        crawl.page(path, "the same text", title="Same", canonical=f"{A}/1")
    for path in ("/4", "/5"):
        crawl.page(path, "another", canonical=A + path)
    crawl.page("/6", "and one more")
    for path in ("/7.png", "/8.png"):
        crawl.page(path, "a picture", content_type="image/png")

    group, other = crawl.report().duplicates

    assert group.urls == [f"{A}/1", f"{A}/2", f"{A}/3"]
    assert (group.title, group.wasted_bytes) == ("Same", 2 * len("the same text"))
    # One that all of them declare, or none.
    assert (group.canonical, other.canonical) == (f"{A}/1", "")


def test_redirect_chain_has_its_final_response(crawl):
    crawl.redirect("/a", "/b")
    crawl.redirect("/b", "/c")
    crawl.redirect("/x", "/y")
    crawl.redirect("/y", "/z")
    crawl.redirect("/z", "/end")
    crawl.fail("/c", "http_500", 500)

    chains = [
        (c.urls[0], c.urls[-1], c.status, c.reason) for c in crawl.report().chains
    ]

    assert chains == [  # the longest first
        (f"{A}/x", f"{A}/end", None, None),
        (f"{A}/a", f"{A}/c", 500, "http_500"),
    ]


def test_state_of_the_crawl(crawl):
    crawl.page("/")
    assert crawl.report().state == FINISHED

    crawl.queue("/later")
    assert crawl.report().state == STOPPED

    with crawl.directory:
        assert crawl.report().state == RUNNING
    assert crawl.report().state == STOPPED


@pytest.mark.parametrize(
    ("outcome", "is_empty"),
    [
        ({"reason": "too_large", "status": None}, True),
        ({"reason": "robots_unreachable", "status": None}, True),
        ({"reason": "dns", "status": None}, False),
        ({"reason": "hook_error"}, False),
        ({"state": State.DONE}, False),
        ({"state": State.DONE, "content_type": "image/png"}, False),
    ],
)
def test_crawl_without_any_response_is_empty(crawl, outcome, is_empty):
    crawl.page("/", **{"state": State.FAILED} | outcome)

    assert crawl.report().is_empty is is_empty


def test_crawl_that_was_not_begun_is_refused(tmp_path, make_crawl):
    crawl = make_crawl()
    (crawl.directory.path / "frontier.sqlite3").unlink()

    with pytest.raises(ConfigError, match="has not begun"):
        crawl.report()


def test_secrets_are_not_shown(make_crawl):
    crawl = make_crawl(auth="me:sesame", max_depth=3)
    crawl.page("/")

    options = crawl.report().options

    assert options == {"auth": "(set)", "index": False, "max-depth": 3}


def test_progress_is_reported(crawl):
    crawl.page("/", '<a href="gone">x</a>')
    crawl.fail("/gone")
    steps = []

    crawl.report(on_step=lambda *step: steps.append(step))

    whats = [what for what, _ in itertools.groupby(steps, key=lambda step: step[0])]
    assert whats == ["reading URLs"]
    assert steps[0] == ("reading URLs", 0, 2)


def test_page_with_a_failed_hook_is_read_too(crawl):
    crawl.page("/", '<a href="gone">x</a>', state=State.FAILED, reason="hook_error")
    crawl.fail("/gone")

    assert [link.text for link in crawl.report().broken[0].links] == ["x"]


def test_sites_of_several_hosts_are_one_report(make_crawl):
    crawl = make_crawl()
    crawl.page("/", '<a href="http://b.test/gone">there</a>')
    crawl.end("http://b.test/gone", Outcome(State.FAILED, "http_404", 404))

    report = crawl.report()

    assert [link.text for link in report.broken[0].links] == ["there"]
    assert [(host.name, host.broken) for host in report.summary.hosts] == [
        ("a.test", 0),
        ("b.test", 1),
    ]


def test_second_crawl_lists_still_broken_and_fixed_urls(crawl):
    crawl.redirect("/loop", "/loop")
    crawl.fail("/gone")
    crawl.fail("/back")
    crawl.begin_again()
    crawl.redirect("/loop", "/loop")
    crawl.page("/back")
    crawl.fail("/gone")
    crawl.fail("/new")

    report = crawl.report()

    assert {each.url.removeprefix(A): each.was_broken for each in report.broken} == {
        "/loop": True,
        "/gone": True,
        "/new": False,
    }
    assert report.comparison.fixed == [f"{A}/back"]
    text = render_markdown(report)
    assert "Not Found. Still broken." in text
    assert "Not Found. Newly broken." in text
    assert "| Newly broken | 1 |" in text
    assert "| Fixed | 1 |" in text


def peak_of_report(make_crawl, pages):
    """Return the peak memory of a report of a crawl with many pages."""
    crawl = make_crawl(f"{pages}")
    for n in range(pages):
        links = f"<a href=/{n + 1}?{n}>x</a><a href=/gone>x</a><img src={n}.png>"
        crawl.page(f"/{n}", links, title=f"{n}", canonical=f"{A}/{n}?")
    crawl.fail("/gone")
    tracemalloc.start()
    try:
        report = crawl.report()
        assert len(report.broken[0].links) == report.broken[0].pages == pages
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_pages(make_crawl, monkeypatch):
    monkeypatch.setattr("crawler_app.web.documents.resolving.MAX_LINKS", 50)
    monkeypatch.setattr("crawler_app.show.report.temp_tables.MAX_COUNTS", 50)
    peak_of_report(make_crawl, 10)  # what is made once

    few, many = (peak_of_report(make_crawl, pages) for pages in (100, 300))

    assert (many - few) / 200 < 40  # bytes


def test_every_url_is_read_once(make_crawl, monkeypatch):
    crawl = make_crawl()
    for n in range(3):
        crawl.page(f"/{n}", f"same <a href=/{n}a>x</a>")
        crawl.redirect(f"/{n}a", f"/{n}b")
        crawl.redirect(f"/{n}b", "/gone")
    crawl.fail("/gone")
    read = []
    records = SqliteFrontier.records

    def counted(self, state=None):
        for record in records(self, state):
            read.append((record.url, state))
            yield record

    monkeypatch.setattr(SqliteFrontier, "records", counted)

    report = crawl.report()

    assert report.chains
    assert report.duplicates == []
    every = [url for url, state in read if state is None]
    assert len(every) == len(set(every)) == 10
