"""The HTML report: complete, safe, and limited in size."""

import base64
import hashlib
import html
import re
import shlex
from html.parser import HTMLParser

import pytest

from crawler_app.run.results.comparison import Comparison, Vanished
from crawler_app.run.results.summary import STOPPED
from crawler_app.show.report import render_html
from crawler_app.show.report.as_html import MAX_BYTES, MIN_FILTERED
from crawler_app.show.report.shape import UrlCategory
from crawler_app.show.report.tables import Limits
from crawler_app.show.report.tables.broken_links import broken_list

A = "http://a.test"
HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'&lt;"


class Tags(HTMLParser):
    """Every start tag of a page, with its attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def of(self, name):
        return [attributes for tag, attributes in self.found if tag == name]


def text_of(page):
    return " ".join(
        re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL).split()
    )


def test_verdict_comes_first(crawl):
    crawl.page("/", '<a href="gone">Our offer</a> <a href="gone">again</a>')
    crawl.fail("/gone")

    page = render_html(crawl.report())

    text = text_of(page)
    assert "1 broken URL 2 links on 1 page lead there." in text
    assert "Fix first" in text.partition("Broken links 1 ")[2].partition("Pages")[0]
    assert "404 /gone On 1 page, affects about 100% of visits" in text
    assert (
        "404 /gone Not Found. 2 links on 1 page. / Our offer line 1, and 1 more link"
    ) in text


def forbidden(crawl):
    crawl.refuse("/", "robots")


def too_large(crawl):
    crawl.fail("/", "too_large", None, error="9 MB")


def redirected_away(crawl):
    crawl.redirect("/", "http://b.test/")
    crawl.refuse("http://b.test/", "out_of_scope")


def good(crawl):
    crawl.page("/")


def of_every_state(crawl):
    good(crawl)
    crawl.fail("/huge", "too_large", None)
    crawl.refuse("http://b.test/", "out_of_scope")
    crawl.queue("/later")


def in_a_loop(crawl):
    crawl.page("/", '<a href="a">x</a>')
    crawl.redirect("/a", "/b")
    crawl.redirect("/b", "/a")


def without_archive(crawl):
    crawl.page("/", '<a href="gone">x</a>')
    crawl.fail("/gone", via="/")


def nothing(crawl):
    pass


EMPTY = "Nothing was fetched "


@pytest.mark.parametrize(
    ("options", "end", "told"),
    [
        ({}, nothing, f"{EMPTY}The crawl was stopped before its first page. "),
        ({}, nothing, "No link was followed."),
        ({}, forbidden, f"{EMPTY}The host's robots.txt asks not to fetch it; if the"),
        ({}, forbidden, "use “gencrawl crawl --no-robots”."),
        ({}, forbidden, "Not checked: 1 URL that was skipped, "),
        ({}, too_large, f"{EMPTY}It is larger than --max-body-bytes allows"),
        ({}, too_large, "(9 MB)."),
        ({}, redirected_away, f"{EMPTY}What it redirects to: it is outside the scope"),
        ({}, good, "No broken links In 1 page of a.test."),
        ({}, good, "Every link that was followed works."),
        ({}, good, "Not checked: forms that are sent with POST"),
        ({}, lambda crawl: crawl.fail("/"), "1 broken URL The crawl began with it."),
        ({}, in_a_loop, "1 redirect loop 1 link on 1 page leads there"),
        ({}, in_a_loop, "Hosts Host Broken URLs Pages Size Mean time a.test 1 3 1"),
        ({}, of_every_state, "Skipped 1 found, not fetched"),
        ({}, of_every_state, "Failed 1 0 broken, 1 not checked"),
        ({}, of_every_state, "Left 1 still to be fetched"),
        ({}, of_every_state, "has not finished: 1 URL is still"),
        ({}, of_every_state, "“gencrawl resume {}” continues it."),
        ({}, of_every_state, "Not checked: 1 external URL, "),
        (
            {"assets": "none"},
            good,
            "Not checked: images, style sheets, scripts and frames",
        ),
        ({"archive": False}, without_archive, "The crawl has no archive"),
        ({"host_gap_s": 0.5}, good, "host-gap 500ms"),
        ({"max_bytes": 2_000_000}, good, "max-bytes 2MB"),
        ({"max_pages": 9, "external": True}, good, "max-pages 9 external yes"),
        ({"include": ("/a", "/b")}, good, "include /a, /b"),
        ({"headers": ("Accept: x",)}, good, "headers (set)"),
    ],
)
def test_page_says_what_the_crawl_was_and_has_found(make_crawl, options, end, told):
    crawl = make_crawl("my crawl", **options)
    end(crawl)

    page = render_html(crawl.report())

    text = html.unescape(text_of(page))
    assert told.format(shlex.quote(str(crawl.directory.path))) in text
    assert (EMPTY in text) is ('class="treemap"' not in page)


# Words in red, with the number of broken URLs.
BAD = re.compile(r'<td.*?<span class="badge bad">(\D+?)<')


def out_of_scope(crawl):
    crawl.redirect("/1", "/2")
    crawl.redirect("/2", "http://b.test/")
    crawl.refuse("http://b.test/", "out_of_scope")


def broken_at_the_end(crawl):
    crawl.redirect("/3", "/4")
    crawl.redirect("/4", "/5")
    crawl.fail("/5", "dns", None)


@pytest.mark.parametrize(
    ("end", "bad"),
    [
        (good, {"An empty page"}),
        (of_every_state, {"An empty page"}),
        (lambda crawl: crawl.fail("/", "dns", None), {"no status"}),
        (out_of_scope, set()),
        (broken_at_the_end, {"no status", "the name of the host is unknown"}),
    ],
)
def test_only_what_is_broken_is_red(crawl, end, bad):
    end(crawl)

    page = render_html(crawl.report())
    assert set(BAD.findall(page)) == bad
    assert ("<td>not checked</td>" in page) is (end is of_every_state)


def test_identical_crawl_has_no_changes(crawl):
    crawl.page("/")
    report = crawl.report()
    report.comparison = Comparison(unchanged=1)
    assert "Since the previous crawl Nothing has changed. " in text_of(
        render_html(report)
    )

    report.state = STOPPED
    assert "Nothing has changed so far." in text_of(render_html(report))


def test_changes_are_listed_with_reasons(crawl):
    crawl.page("/")
    report = crawl.report()
    report.comparison = Comparison(
        new=[f"{A}/new"],
        vanished=[
            Vanished(f"{A}/1", "no longer linked"),
            Vanished(f"{A}/2", "http_404"),
        ],
        unchanged=3,
    )

    text = text_of(render_html(report))

    assert (
        "Change URLs Examples New 1 /new Vanished 2 /1 no longer linked "
        "/2 404 Not Found Unchanged 3"
    ) in text


def test_treemap_has_a_box_for_each_folder(crawl):
    for n in range(9):
        crawl.page(f"/a/{n}")
    crawl.fail("/b/gone")

    page = render_html(crawl.report())

    boxes = [tag for tag in Tags(page).of("button") if "data-folder" in tag]
    assert [(box["data-folder"], box["title"]) for box in boxes] == [
        ("a.test/a/", "a.test/a/: 90.0%, 9 pages"),
        ("a.test/b/", "a.test/b/: 10.0%, 1 broken"),
    ]
    assert "a 9 pages b 1 broken 9 pages 1 broken" in text_of(page)
    assert page.index('id="shape"') < page.index('id="broken"')
    assert page.index('"#shape"') < page.index('"#broken"')


def test_every_kind_of_finding_has_its_section(crawl):
    body = '<a href="gone">x</a> <a href="1">y</a> <img src="i.png">'
    crawl.page("/", body, title="Twice")
    crawl.page("/index.html", body, title="Twice")
    crawl.fail("/gone")
    crawl.fail("/huge", "too_large", None)
    crawl.redirect("/1", "/2")
    crawl.redirect("/2", "/")
    crawl.redirect("/x", "/x")
    crawl.refuse("http://b.test/", "out_of_scope")

    page = render_html(crawl.report())

    sections = [section["id"] for section in Tags(page).of("section")]
    assert sections == [
        "first",
        "totals",
        "shape",
        "broken",
        "loops",
        "moved",
        "chains",
        "markup",
        "titles",
        "headings",
        "descriptions",
        "access",
        "images",
        "duplicates",
        "linked",
        "statuses",
        "depths",
        "slowest",
        "largest",
        "hosts",
        "skipped",
        "not-checked",
        "crawl",
        "do",
    ]
    links = [a["href"][1:] for a in Tags(page).of("a") if a["href"].startswith("#")]
    assert links[: len(sections) - 2] == sections[2:]
    ids = {attributes["id"] for _, attributes in Tags(page).found if "id" in attributes}
    assert set(links) <= ids


def test_text_of_the_site_is_escaped(crawl):
    crawl.page(
        "/", f'<a href="/gone">{HOSTILE.replace("<", "&lt;")}</a>', title=HOSTILE
    )
    crawl.page("/2", "x", title=HOSTILE)
    crawl.page("/3", "x", title=HOSTILE)
    crawl.fail("/gone", error=HOSTILE)
    crawl.fail("/'\"><script>", "timeout", None)
    for n in range(9):
        crawl.page(f"/{HOSTILE}/{n}")

    page = render_html(crawl.report())

    tags = Tags(page)
    assert tags.of("img") == []
    assert tags.of("script") == [{}]  # our own
    assert not any(name.startswith("on") for _, found in tags.found for name in found)
    assert HOSTILE in html.unescape(text_of(page))


def test_bidirectional_controls_are_made_visible(crawl):
    crawl.page("/", '<a href="/gone">gpj.\u202eexe</a>')
    crawl.fail("/gone", error="\x1b[31m")
    crawl.page("/f", "<a href='#\x1b[31m'>x</a>")

    page = render_html(crawl.report())

    assert "\u202e" not in page
    assert "\x1b" not in page


def test_only_http_urls_are_links(crawl):
    crawl.page("/", '<a href="/gone">x</a>')
    crawl.fail("/gone")
    crawl.page("javascript://a.test/%0aalert(1)", took_s=9.0, archived=False)
    page = render_html(crawl.report())

    assert "alert(1)" in page
    links = [a for a in Tags(page).of("a") if a["href"][0] != "#"]

    assert {link["href"].partition("://")[0] for link in links} == {"http"}
    assert {link["rel"] for link in links} == {"noreferrer noopener nofollow"}


def test_page_loads_nothing_else(crawl):
    crawl.page("/")

    page = render_html(crawl.report())

    tags = Tags(page)
    assert not [found for _, found in tags.found if "src" in found]
    assert [link["href"] for link in tags.of("link")] == ["data:,"]
    assert "url(" not in page
    assert "@import" not in page


def test_only_a_long_list_has_a_filter(crawl):
    for n in range(MIN_FILTERED - 1):
        crawl.fail(f"/{n}")
    assert 'id="filter"' not in render_html(crawl.report())

    crawl.fail("/gone")
    assert 'id="filter" hidden' in render_html(crawl.report())


def test_policy_allows_only_the_script_of_the_page(crawl):
    crawl.page("/")

    page = render_html(crawl.report())

    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [
        meta["content"] for meta in Tags(page).of("meta") if "content" in meta
    ][:1]
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")


@pytest.mark.parametrize("char", ["'", "%F0%9F%98%80"])
def test_page_stays_small_for_any_site(crawl, char):
    def long(n):
        return f"/{n}/" + (char * 2000)[:2000]

    text = "\N{GRINNING FACE}&\"'<" * 60
    links = "".join(f'<a href="{long(n)}">{n}</a>' for n in range(300))
    for n in range(30):
        crawl.page(f"{long(n)}p", f"{n % 15}{links}", title=text, archived=n < 5)
    for n in range(300):
        crawl.fail(long(n), f"http_{400 + n % 120}", 400 + n % 120, error=text)
        crawl.fail(f"{long(n)}-", "too_large", None, error=text)
        crawl.redirect(f"{long(n)}a", f"{long(n)}b")
        crawl.redirect(f"{long(n)}b", f"{long(n)}c")
        crawl.page(f"http://{n}.test/", "x", archived=False)
    report = crawl.report()
    assert len(report.broken) == 300

    page = render_html(report)

    assert len(page.encode()) <= MAX_BYTES
    assert text_of(page).count("Bad Request") >= 1
    command = f"gencrawl report {crawl.directory.path} --format json"
    assert f"“{command}” lists more" in text_of(page)


def luminance(color):
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("kind", UrlCategory)
def test_name_is_readable_on_each_color_of_a_box(crawl, kind, scheme):
    crawl.page("/")
    page = render_html(crawl.report())

    # The checks in a browser do not look into gradients.
    box, text = (
        luminance(re.findall(rf"--{name}: (#\w+);", page)[scheme])
        for name in (f"{kind.name.lower()}-box", "text")
    )

    assert (max(box, text) + 0.05) / (min(box, text) + 0.05) >= 4.5


def test_every_broken_url_is_listed_while_it_fits(crawl):
    urls = 2000
    links = "".join(f'<a href="/section/page-{n}.html">{n}</a>' for n in range(urls))
    for n in range(10):
        crawl.page(f"/p{n}", f"{n}{links}")
    for n in range(urls):
        crawl.fail(f"/section/page-{n}.html")

    page = render_html(crawl.report())

    assert page.count("<h3>") == urls
    assert len(page.encode()) > MAX_BYTES / 2
    text = text_of(page)
    told = "It searches only what is listed here. Long lists of pages are shortened."
    assert told in text
    command = f"gencrawl report {crawl.directory.path} --format csv"
    assert f"“{command}” lists all" in text


def test_every_linking_page_is_listed_for_few_broken_urls(crawl):
    for n in range(500):
        crawl.page(f"/p{n}", f'{n}<a href="/gone">x</a>', title=f"{n}")
    crawl.fail("/gone")

    page = render_html(crawl.report())

    assert "497 more pages" in text_of(page)
    assert "/p499" in text_of(page)
    assert "shortened" not in text_of(page)


def test_shortened_list_says_what_is_missing(crawl):
    for n in range(3):
        crawl.fail(f"/{n}")

    cut = broken_list(crawl.report(), Limits(items=1))

    assert (cut.count, len(cut.items)) == (3, 1)
    assert cut.unsearched == "2 more broken URLs are not listed here."
    assert cut.more.startswith(f"{cut.unsearched}  “gencrawl report ")
