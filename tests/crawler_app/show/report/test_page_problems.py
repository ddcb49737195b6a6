"""Problems of working pages: each kind is found, and only where it is."""

import gzip
import io
import json
import random

import pytest

from crawler_app.base.models import Outcome, Role, State
from crawler_app.show.findings.kinds import ProblemKind
from crawler_app.show.report.as_csv import write_csv
from crawler_app.show.report.as_markdown import render_markdown
from crawler_app.show.report.page_problems import MAX_PAGES
from crawler_app.show.report.priorities import priorities_of
from crawler_app.show.report.tables import Limits
from crawler_app.show.report.tables.sections import tables_of
from crawler_app.show.report.verdict import headline, mood, unchecked

A = "http://a.test"
GOOD = (
    "<!DOCTYPE html><html lang=en><meta name=viewport content=width=device-width>"
    "<meta name=description content='About {0}'><h1>{0}</h1>"
    "<img src=/i.png alt='' width=1 height=1><a href=/>home</a> <a href={0}>self</a>"
)


def good(crawl, path, more="", title=None, **options):
    body = GOOD.format(path) + more
    crawl.page(path, body, title=path if title is None else title, **options)


def found(crawl, kind):
    """Return the problems of a kind: their subjects, numbers of pages, and examples."""
    report = crawl.report()
    problems = [each for each in report.problems if each.kind is kind]
    counted = sum(1 if each.subject else each.count for each in problems)
    assert counted == report.problem_counts.get(kind, 0)
    examples = [[url.removeprefix(A) for url in each.examples] for each in problems]
    counts = [(each.subject.removeprefix(A), each.count) for each in problems]
    return list(zip(counts, examples, strict=True))


def no_title(crawl):
    good(crawl, "/x", title="")


def no_title_but_not_listed(crawl):
    good(crawl, "/x", "<meta name=robots content=noindex>", title="")
    good(crawl, "/y", title="", canonical=f"{A}/")
    good(crawl, "/z", "<meta http-equiv=refresh content='0;/'>", redirect_to=f"{A}/")


def same_title(crawl):
    for path in ("/x", "/y"):
        good(crawl, path, title="Same")


def same_description(crawl):
    for path in ("/x", "/y"):
        crawl.page(path, f"<h1>{path}</h1><meta content=' a  b ' name=Description>")


def without(*pieces):
    def make(crawl):
        body = GOOD.format("/x")
        for piece in pieces:
            assert piece in body
            body = body.replace(piece, "")
        crawl.page("/x", body, title="x")

    return make


def with_body(more, **options):
    return lambda crawl: good(crawl, "/x", more, **options)


def linked(crawl, more):
    crawl.page("/", GOOD.format("/") + "<a href=/x>x</a>", title="/")
    good(crawl, "/x", more)


def from_sitemap(*, is_linked):
    def make(crawl):
        crawl.end(
            "/map.xml", Outcome(State.DONE, "ok", 200, "text/xml"), role=Role.SITEMAP
        )
        crawl.page("/", GOOD.format("/") + "<a href=/x>x</a>" * is_linked, title="/")
        good(crawl, "/x", via="/map.xml")

    return make


ONE = [(("", 1), ["/x"])]
NOTHING = []


@pytest.mark.parametrize(
    ("kind", "make", "expected"),
    [
        (ProblemKind.NO_TITLE, no_title, ONE),
        (ProblemKind.NO_TITLE, no_title_but_not_listed, NOTHING),
        (ProblemKind.SAME_TITLE, same_title, [(("Same", 2), ["/x", "/y"])]),
        (ProblemKind.LONG_TITLE, with_body("", title="x" * 61), ONE),
        (ProblemKind.LONG_TITLE, with_body("", title="x" * 60), NOTHING),
        (ProblemKind.NO_DESCRIPTION, without("description"), ONE),
        (ProblemKind.SAME_DESCRIPTION, same_description, [(("a b", 2), ["/x", "/y"])]),
        (ProblemKind.SEVERAL_HEADINGS, with_body("<template><h1></template>"), NOTHING),
        (
            ProblemKind.SEVERAL_HEADINGS,
            with_body("<!-- <h1> --><p title='<h1>'>"),
            NOTHING,
        ),
        (
            ProblemKind.NOINDEX,
            lambda c: linked(c, "<meta name=robots content=none>"),
            ONE,
        ),
        (
            ProblemKind.NOINDEX,
            lambda c: linked(c, "<meta name=robots content=all>"),
            NOTHING,
        ),
        (ProblemKind.NOINDEX, with_body("<meta name=robots content=noindex>"), NOTHING),
        (ProblemKind.CANONICAL, with_body("", canonical=f"{A}//x"), NOTHING),
        (ProblemKind.NO_ALT, with_body("<noscript><img src=n></noscript>"), NOTHING),
        (
            ProblemKind.NO_ALT,
            with_body("<img src=n aria-label=N width=1 height=1>"),
            NOTHING,
        ),
        (
            ProblemKind.NO_SIZE,
            with_body("<img src=n alt='' style='width:1px;height:1px'>"),
            NOTHING,
        ),
        (ProblemKind.ORPHAN, from_sitemap(is_linked=True), NOTHING),
        (ProblemKind.SOFT_404, with_body(""), NOTHING),
    ],
)
def test_problem_is_found_only_where_it_is(crawl, kind, make, expected):
    make(crawl)

    assert found(crawl, kind) == expected


def test_pages_without_problems_have_none(crawl):
    good(crawl, "/")
    good(crawl, "/x")

    assert crawl.report().problems == []


def test_unread_page_has_no_problems(make_crawl):
    crawl = make_crawl(archive=False)
    good(crawl, "/x", title="")

    kinds = [problem.kind for problem in crawl.report().problems]

    assert kinds == [ProblemKind.NO_TITLE]  # which the crawl has recorded


def test_long_lists_have_their_total(crawl):
    for n in range(MAX_PAGES + 5):
        good(crawl, f"/{n}", title="")
    report = crawl.report()

    (problem,) = (each for each in report.problems if each.kind is ProblemKind.NO_TITLE)
    (table,) = (t for t in tables_of(report, Limits(rows=1)) if t.anchor == "titles")

    assert (problem.count, len(problem.examples)) == (MAX_PAGES + 5, MAX_PAGES)
    *_, others, template = table.rows[0][2].lines
    assert others.name == f"and {MAX_PAGES + 1:,} more"
    assert (template.name, template.note) == ("/*", f"{MAX_PAGES + 5:,} pages")


def test_mixed_content_is_listed_with_its_place(crawl):
    page = "https://a.test/"
    crawl.page(page, "<p>\n<img src=//a.test/a><img src=http://a.test/b>")
    crawl.page(f"{page}x", "<base href=http://a.test/><script src=c></script>")
    crawl.page("/", "<img src=http://a.test/d><a href=http://a.test/e>x</a>")
    crawl.page(f"{page}y", "<img src=http://localhost/f><a href=http://a.test/g>x</a>")
    upgrade = "http-equiv=Content-Security-Policy content=upgrade-insecure-requests"
    crawl.page(f"{page}z", f"<meta {upgrade}><img src=http://a.test/h>")

    mixed = crawl.report().mixed_content

    assert {each.url: [(x.page, x.line) for x in each.links] for each in mixed} == {
        f"{A}/b": [(page, 2)],
        f"{A}/c": [(f"{page}x", 1)],
    }


@pytest.mark.parametrize(
    "form",
    [
        "<form action=http://b.test/>",
        "<form action=/x><button formaction=http://b.test/>",
        "<form id=f></form><input type=submit form=f formaction=http://b.test/>",
    ],
)
def test_form_that_is_sent_over_http_is_a_problem(crawl, form):
    for origin in ("https://a.test", "http://a.test"):
        crawl.page(f"{origin}/", form)

    problems = crawl.report().problems

    (found,) = (each for each in problems if each.kind is ProblemKind.INSECURE_FORM)
    assert found.examples == ["https://a.test/"]


def test_malformed_references_are_listed_with_their_places(crawl):
    crawl.page("/", "<p>\n<a href='http://[bad#x'>x</a><img src=' '><a href=''>x</a>")
    crawl.page("/b", "<a href='http://[bad'>x</a><a href='/c d'>y</a><a href=/e>z</a>")

    report = crawl.report()
    shown = " ".join(render_markdown(report).split())
    rows = io.StringIO()
    write_csv(report, rows)

    found = {
        (each.url, each.problem): [
            (link.page, link.line, link.href) for link in each.links
        ]
        for each in report.malformed
    }
    assert found == {
        ("http://[bad", "not a valid URL"): [
            (f"{A}/", 2, "http://[bad#x"),
            (f"{A}/b", 1, "http://[bad"),
        ],
        (" ", "the reference is empty"): [(f"{A}/", 2, " ")],
        ("/c d", "a blank in the URL; write %20"): [(f"{A}/b", 1, "/c d")],
    }
    assert shown.startswith("# 3 malformed references: a.test")
    assert "“http://\\[bad”: not a valid URL, on 2 pages" in shown
    assert "http://a.test/b,1,y,/c d,,,malformed" in rows.getvalue()


def test_order_of_references_does_not_depend_on_the_order_of_pages(crawl):
    crawl.page("/", "<a href=#z>1</a><a href=#y>2</a><a href=#z>3</a><a href=#x>4</a>")

    report = crawl.report()

    assert [each.url for each in report.fragments] == ["#z", "#x", "#y"]


def test_url_of_malformed_references_alone_is_not_broken_too(crawl):
    crawl.page("/", "<a href=www.b.test/>x</a><a href=www.c.test/>x</a>")
    crawl.page("/c", "<a href=/www.c.test/>x</a>")
    crawl.fail("/www.b.test/", via="/")
    crawl.fail("/www.c.test/", via="/")

    report = crawl.report()

    assert [each.url for each in report.malformed] == ["www.b.test/", "www.c.test/"]
    (broken,) = report.broken
    assert [link.page for link in broken.links] == [f"{A}/c"]
    assert headline(report) == "1 broken URL and 2 malformed references"


def test_places_on_pages_of_other_sites_are_counted(crawl):
    crawl.page("/", "<a href=http://b.test/#x>x</a><a href=http://b.test/#top>y</a>")
    crawl.end("http://b.test/", Outcome(State.DONE, "exists", 200))

    report = crawl.report()

    assert report.fragments == []
    assert "1 fragment on other sites" in unchecked(report)


def test_redirects_are_listed_with_their_links(crawl):
    crawl.page("/", "<a href=old>Old</a>")
    crawl.page("/b", "<a href=/old>Old</a><a href=older>Older</a>")
    crawl.redirect("/older", "/old")
    crawl.redirect("/old", "/new")
    crawl.redirect("/not-linked", "/new")
    crawl.page("/new")

    report = crawl.report()

    assert [(each.url, each.end, each.pages, each.status) for each in report.moved] == [
        (f"{A}/old", f"{A}/new", 2, 301),
        (f"{A}/older", f"{A}/new", 1, 301),
    ]
    # A link to a redirect is one to the page it leads to.
    assert [(each.url, each.pages) for each in report.most_linked] == [(f"{A}/new", 2)]


def test_heavy_assets_are_listed_without_pages(crawl):
    crawl.page("/", "<img src=/big.png><img src=/slow.png><img src=/small.png>")
    large = {"content_type": "image/png", "archived": False, "role": Role.ASSET}
    crawl.page("/big.png", size_bytes=900_000, **large)
    crawl.page("/slow.png", took_s=3.0, **large)
    crawl.page("/small.png", **large)
    crawl.page("/large", size_bytes=900_000, took_s=9.0)

    heavy = crawl.report().heavy

    assert [(each.url, each.pages) for each in heavy] == [
        (f"{A}/big.png", 1),
        (f"{A}/slow.png", 1),
    ]


def test_problem_of_most_visitors_comes_first(crawl):
    # Two pages lead to /rare; only one to /often, but all others lead to that page.
    menu = "<a href=/home>Home</a>"
    crawl.page("/home", "<a href=/often>x</a>")
    for n in range(6):
        crawl.page(f"/{n}", f"{n}{menu}" + "<a href=/rare>x</a>" * (n < 2))
    crawl.redirect("/old", "/home")
    crawl.page("/y", "<a href=/old>x</a>")
    crawl.fail("/rare")
    crawl.fail("/often")

    first = priorities_of(crawl.report())

    assert [(each.url.removeprefix(A), each.section, each.at) for each in first] == [
        ("/often", "broken", 1),
        ("/rare", "broken", 2),
        ("/old", "moved", 0),
    ]
    # The seven pages with menu or redirect lead to /home: 8 of all 15.
    assert first[0].where == "on 1 page, affects about 53% of visits"


def test_fault_in_a_style_sheet_affects_all_its_pages(crawl):
    for n in range(5):
        crawl.page(
            f"/{n}", f"{n}<link rel=stylesheet href=s.css>" + "<a href=/gone>" * (n < 2)
        )
    css = "p { background: url(no.png) }"
    crawl.page("/s.css", css, content_type="text/css", role=Role.ASSET)
    crawl.fail("/gone")
    crawl.fail("/no.png", role=Role.ASSET)

    first = priorities_of(crawl.report())

    assert [(each.url.removeprefix(A), each.where) for each in first[:2]] == [
        ("/no.png", "on 1 page, affects about 100% of visits"),
        ("/gone", "on 2 pages, affects about 40% of visits"),
    ]


def picture(crawl):
    crawl.page("/i.png", content_type="image/png", role=Role.ASSET)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (picture, "No broken links"),
        (lambda crawl: None, "found"),
        (lambda crawl: crawl.refuse("http://b.test/", "out_of_scope"), "found"),
        (lambda crawl: crawl.refuse("/private", "robots"), "found"),
        (lambda crawl: crawl.fail("/big", "too_large", None), "found"),
        (lambda crawl: crawl.queue("/later"), "found"),
        (lambda crawl: crawl.soft_404("/made-up"), "found"),
        (lambda crawl: crawl.fail("/i.png", role=Role.ASSET), "1 broken URL"),
    ],
)
def test_headline_depends_on_what_was_checked(crawl, more, told):
    good(crawl, "/")
    more(crawl)

    report = crawl.report()

    assert headline(report) == ("No broken links found" if told == "found" else told)
    moods = {"No broken links": "good", "found": "idle", "1 broken URL": "bad"}
    assert mood(report) == moods[told]


def test_large_text_is_only_named_if_it_was_sent_uncompressed(
    site, gencrawl, directory
):
    text = random.Random(0).randbytes(12_000).hex().encode()
    site.answer("/", b"<a href=/plain>x</a>" + text)
    site.answer("/plain", b"<a href=/packed>x</a>" + text)
    headers = {"Content-Encoding": "gzip"}
    site.answer("/packed", gzip.compress(text), headers=headers)

    gencrawl("crawl", site.url, "--into", directory, "--quiet")
    report = json.loads(gencrawl("report", directory, "--format", "json").out)

    (problem,) = (
        each for each in report["problems"] if "no compression" in each["subject"]
    )
    assert problem["count"] == 2


FEED = "application/rss+xml"
RSS = "<rss version='2.0'><channel><title>{}</title></channel></rss>"


@pytest.mark.parametrize(
    ("content_type", "body", "fault"),
    [
        (FEED, RSS.format("a\n& b"), "the feed is not well-formed XML (line 2)"),
        (f"{FEED}; charset=iso-8859-1", RSS.format("a &amp; b"), None),
        (FEED, "<?xml version='1.0' encoding='gbk'?>" + RSS.format("a"), None),
        (f"{FEED}; charset=x-none", RSS.format("a"), None),
        (
            "application/manifest+json",
            "{'icons': []}",
            "the web app manifest is not valid JSON",
        ),
        ("application/manifest+json", '{"icons": []}', None),
    ],
    ids=["amp", "latin-1", "gbk", "unknown charset", "manifest", "good manifest"],
)
def test_feed_or_manifest_that_cannot_be_read_is_named(
    crawl, content_type, body, fault
):
    crawl.page("/f", body, content_type=content_type)

    found = [p.subject for p in crawl.report().problems if p.kind is ProblemKind.MARKUP]

    assert found == ([fault] if fault else [])
