"""The faults of a site's owner: a site with one page for each, checked and reported once."""

from typing import NamedTuple

import pytest

from crawler_app.run.directory import CrawlDirectory
from crawler_app.show.check.check_config import CheckConfig
from crawler_app.show.check.checking import Check
from crawler_app.show.check.output import Output
from crawler_app.show.findings.kinds import FindingKind
from crawler_app.show.findings.kinds import ProblemKind as Kind
from crawler_app.show.report import gather
from gencoro.ioloop import IOLoop
from tests.helpers.site import Site

HEAD = (
    '<meta charset=utf-8><meta name=viewport content="width=device-width">'
    '<title>{0}</title><meta name=description content="About {0}">'
)
SAFE = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
}
TWIN = " ".join(f"w{n}" for n in range(150))


class Page(NamedTuple):
    """One page of the site."""

    body: str = ""
    head: str = ""
    html: str = "<!DOCTYPE html><html lang=en>"
    standard: str = HEAD
    heading: str = "<h1>{0}</h1>"
    whole: str | bytes | None = None
    headers: dict[str, str] = {}  # noqa: RUF012
    status: int = 200

    def served(self, name: str) -> bytes:
        if self.whole is not None:
            whole = self.whole
        else:
            whole = f"{self.html}{self.standard}{self.head}{self.heading}{self.body}"
            # Each page has its own words, and a reference to itself.
            whole = whole.replace("{0}", name) + " ".join(
                name + str(n) for n in range(50)
            )
        return whole.encode() if isinstance(whole, str) else whole


def alternate(**href_by_code: str) -> str:
    return "".join(
        f'<link rel=alternate hreflang="{code.replace("_", "-")}" href="{href}">'
        for code, href in href_by_code.items()
    )


def canonical(href: str) -> str:
    return f"<link rel=canonical href={href}>"


NOINDEX = "<meta name=robots content=noindex>"
LD = '<script type="application/ld+json">{}</script>'

# The page of each fault, and what the report has to say of it.
FAULTS = {
    "empty": (Page(whole=" "), Kind.EMPTY_PAGE, ""),
    "error": (Page(standard=HEAD.replace("{0}", "404 Not Found")), Kind.ERROR_PAGE, ""),
    "php": (
        Page(
            "<br />\n<b>Warning</b>:  mysqli_connect(): Connection refused in"
            " <b>/srv/db.php</b> on line <b>3</b><br />"
        ),
        Kind.MARKUP,
        "PHP error",
    ),
    "comment": (Page("<!-- <a href=/x>"), Kind.MARKUP, "comment"),
    "script": (Page("<script>go()"), Kind.MARKUP, "<script>"),
    "title": (Page(head="<title>x"), Kind.MARKUP, "<title>"),
    "xhtml": (
        Page(
            whole='<html xmlns="http://www.w3.org/1999/xhtml"><title>x</title><br></html>',
            headers={"Content-Type": "application/xhtml+xml"},
        ),
        Kind.MARKUP,
        "well-formed",
    ),
    "sent-as-text": (
        Page(headers={"Content-Type": "text/plain"}),
        Kind.MARKUP,
        "text/plain",
    ),
    "undeclared": (
        Page("é", whole="<title>é</title>", headers={"Content-Type": "text/html"}),
        Kind.CHARSET,
        "none",
    ),
    "charsets": (
        Page(whole="<meta charset=iso-8859-1>é"),
        Kind.CHARSET,
        "windows-1252",
    ),
    "mojibake": (Page(whole="<p>déjà".encode("latin-1")), Kind.CHARSET, "not in utf-8"),
    "data": (
        Page(head=LD.format('{"a": 1,}')),
        Kind.STRUCTURED_DATA,
        "",
    ),
    "canonicals": (
        Page(head=canonical("/a") + canonical("/b")),
        Kind.CANONICAL_FAULT,
        "several",
    ),
    "late": (Page(canonical("/late")), Kind.CANONICAL_FAULT, "outside the head"),
    "both": (Page(head=NOINDEX + canonical("/both")), Kind.CANONICAL_FAULT, "noindex"),
    "moved": (Page(head=canonical("/old")), Kind.CANONICAL_FAULT, "redirects"),
    "chain": (Page(head=canonical("/other")), Kind.CANONICAL_FAULT, "another one"),
    "other": (Page(head=canonical("/good")), Kind.CANONICAL, ""),
    "hidden": (Page(head=canonical("/noindex")), Kind.CANONICAL_FAULT, "has noindex"),
    "code": (Page(head=alternate(en_UK="/code")), Kind.HREFLANG, "en-UK"),
    "language": (Page(head=alternate(english="/language")), Kind.HREFLANG, "english"),
    "one-way": (
        Page(head=alternate(en="/one-way", de="/good")),
        Kind.HREFLANG,
        "link back",
    ),
    "not-itself": (Page(head=alternate(de="/good")), Kind.HREFLANG, "itself"),
    "to-moved": (
        Page(head=alternate(en="/to-moved", de="/old")),
        Kind.HREFLANG,
        "redirect",
    ),
    "noindex": (Page(head=NOINDEX), Kind.NOINDEX, ""),
    "untitled": (
        Page(standard=HEAD.replace("{0}</title>", "</title>")),
        Kind.NO_TITLE,
        "",
    ),
    "titles": (Page(head="<title>x</title>"), Kind.SEVERAL_TITLES, ""),
    "headless": (Page(heading=""), Kind.NO_HEADING, ""),
    "headings": (Page(heading="<h1>a</h1><h1>b</h1>"), Kind.SEVERAL_HEADINGS, ""),
    "descriptions": (
        Page(head="<meta name=description content=x>"),
        Kind.SEVERAL_DESCRIPTIONS,
        "",
    ),
    "mute": (Page(html="<!DOCTYPE html><html>"), Kind.LANGUAGE, "does not say"),
    "babel": (
        Page(html="<!DOCTYPE html><html lang=english>"),
        Kind.LANGUAGE,
        "english",
    ),
    "country": (
        Page(html="<!DOCTYPE html><html lang=jp>"),
        Kind.LANGUAGE,
        "jp",
    ),
    "kingdom": (
        Page(html="<!DOCTYPE html><html lang=en-UK>"),
        Kind.LANGUAGE,
        "en-UK",
    ),
    "fixed": (
        Page(standard=HEAD.replace("device-width", "1, user-scalable=no")),
        Kind.VIEWPORT,
        "zoom",
    ),
    "desktop": (
        Page(standard=HEAD.replace("name=viewport", "")),
        Kind.VIEWPORT,
        "small",
    ),
    "nameless": (Page("<a href=/good><i></i></a>"), Kind.LINK_TEXT, ""),
    "frame": (Page("<iframe src=/good></iframe>"), Kind.FRAME_TITLE, ""),
    "blind": (Page("<img src=/i.png?1 width=1 height=1>"), Kind.NO_ALT, "/i.png?1"),
    "jumpy": (Page("<img src=/i.png?2 alt=x>"), Kind.NO_SIZE, "/i.png?2"),
    "scripted": (Page("<a href='javascript:go()'>x</a>"), Kind.SCRIPTED_LINK, ""),
    "session": (Page("<a href=/good?PHPSESSID=12ab>x</a>"), Kind.SESSION_ID, ""),
    "nofollow": (Page("<a rel=nofollow href=/good>x</a>"), Kind.NOFOLLOW, ""),
    "ids": (Page("<p id=x><p id=x>"), Kind.SAME_ID, ""),
    "quirks": (Page(html="<html lang=en>"), Kind.QUIRKS, ""),
    "open": (Page(headers={"X-Content-Type-Options": ""}), Kind.HEADER, "nosniff"),
    "cookie": (Page(headers={"Set-Cookie": "a=b; HttpOnly"}), Kind.HEADER, "SameSite"),
    "plain": (Page("word " * 3000), Kind.HEADER, "compression"),
    "twin": (Page(whole=f"{TWIN} one"), Kind.NEARLY_SAME, "/twin"),
    "alone": (Page(), Kind.ORPHAN, ""),
    "missing": (Page(), Kind.NOT_IN_SITEMAP, ""),
}
# What the sitemap lists, and what is wrong with it.
LISTED = {
    "/dead": "broken",
    "/old": "redirects",
    "/noindex": "noindex",
    "/other": "another canonical URL",
    "/private/page": "robots.txt",
}
# The page, and the kind, the reference and the reason of what a check has to say of it.
REFERENCES = {
    "type": (
        Page(head="<link rel=stylesheet href=/plain.css>"),
        FindingKind.BROKEN,
        "/plain.css",
    ),
    "place": (Page("<a href=#nowhere>x</a>"), FindingKind.FRAGMENT, "#nowhere"),
    "icon": (
        Page("<svg><use href=/icons.svg#nowhere /></svg>"),
        FindingKind.FRAGMENT,
        "/icons.svg#nowhere",
    ),
    "drive": (Page("<a href='C:\\site\\a.html'>x</a>"), FindingKind.MALFORMED, "C:\\"),
    "phone": (Page("<a href=tel:call-us>x</a>"), FindingKind.MALFORMED, "tel:call-us"),
}
GOOD = Page(
    "<svg><use href=/icons.svg#up /><use href='#by-script' /></svg><a href=tel:+49-30-1234567>x</a> <a href='#x'>x</a> <p id=x>"
    "<pre>&lt;b>Warning&lt;/b>:  x() in &lt;b>/a.php&lt;/b> on line &lt;b>3&lt;/b></pre>"
    "<p><b>Warning</b>: it is hot in <b>July</b></p>"
    "<form method=post action=/never><button formaction=/never>x</button></form>"
    "<form><button formmethod=post formaction=/never>x</button></form><a href=/twin><svg><title>T</title></svg></a>",
    head=canonical("/good")
    + alternate(en_GB="/good", x_default="/good")
    + LD.format("{}"),
)


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Check the site once; return its URL, the findings and the report."""
    site = Site()
    pages = {name: page for name, (page, *_) in (FAULTS | REFERENCES).items()}
    pages |= {"good": GOOD, "twin2": Page(whole=f"{TWIN} two"), "private/page": Page()}
    for name, page in pages.items():
        headers = {**SAFE, **page.headers}
        site.answer(f"/{name}", page.served(name), headers=headers, status=page.status)
    site.redirect("/old", "/good", 301)
    for path in ("/i.png?1", "/i.png?2"):
        site.answer(path, b"PNG", headers={"Content-Type": "image/png"})
    icons = b"<svg xmlns='http://www.w3.org/2000/svg'><symbol id='up'/></svg>"
    site.answer("/icons.svg", icons, headers={"Content-Type": "image/svg+xml"})
    site.answer("/plain.css", b"p {}", headers={"Content-Type": "text/plain"})
    unlinked = ("alone", "private/page")
    site.page(
        "/", *(f"/{name}" for name in pages if name not in unlinked), headers=SAFE
    )
    listed = [*LISTED, "/alone", "/good"]
    urls = "\n".join(site.url + path[1:] for path in listed)
    site.answer("/list.txt", urls.encode(), headers={"Content-Type": "text/plain"})
    rules = f"User-agent: *\nDisallow: /private\nSitemap: {site.url}list.txt\n"
    site.answer("/robots.txt", rules.encode(), headers={"Content-Type": "text/plain"})
    into = str(tmp_path_factory.mktemp("crawl") / "crawl")
    values = {"into": into, "external": True, "assets": "own", "index": False}
    options = CheckConfig(fail_on=tuple(FindingKind))
    check = Check([site.url], values, options, Output(lambda text: None))
    loop = IOLoop(make_current=False)
    try:
        loop.run_sync(check.run, timeout=60)
    finally:
        loop.close()
        site.stop()
    return site.url, check.findings, gather(CrawlDirectory.open(into))


def problems_of(checked, path):
    """Return the kinds and the subjects of the problems that a report has of a page."""
    url, _, report = checked
    return [
        (each.kind, each.subject)
        for each in report.problems
        if f"{url}{path}" in (*each.examples, each.subject)
        or each.kind in (Kind.NO_ALT, Kind.NO_SIZE)
    ]


@pytest.mark.parametrize("name", FAULTS)
def test_report_names_the_fault_of_a_page(checked, name):
    _, kind, words = FAULTS[name]
    # A long list is cut, and what all pages have is in it.
    if kind is Kind.NOT_IN_SITEMAP:
        assert kind in checked[2].problem_counts
        return

    assert [s for k, s in problems_of(checked, name) if k is kind and words in s]


@pytest.mark.parametrize("path", LISTED)
def test_report_names_what_a_sitemap_must_not_list(checked, path):
    found = [s for k, s in problems_of(checked, path[1:]) if k is Kind.SITEMAP]

    assert len(found) == 1
    assert LISTED[path] in found[0]


@pytest.mark.parametrize("name", REFERENCES)
def test_check_finds_the_reference(checked, name):
    _, kind, href = REFERENCES[name]

    found = [each for each in checked[1] if each.page == checked[0] + name]

    assert [each.kind for each in found if href in each.href] == [kind]


def test_good_page_has_no_fault(checked):
    url, findings, report = checked
    images = {Kind.NO_ALT, Kind.NO_SIZE}

    assert {kind for kind, _ in problems_of(checked, "good")} - images == set()
    assert [each for each in findings if each.page == f"{url}good"] == []
    wrong = [each.url for each in report.fragments]
    assert wrong == ["#nowhere", "/icons.svg#nowhere"]


def test_check_lists_each_problem_once_with_its_severity(checked):
    _, findings, report = checked

    found = [each for each in findings if each.text == "page"]

    assert len(found) == len(report.problems)
    assert {each.reason for each in found if each.kind is FindingKind.PAGE} >= {
        "canonical_fault",
        "hreflang",
        "no_title",
    }
    assert {each.reason for each in found if each.kind is FindingKind.NOTICE} >= {
        "nearly_same",
        "orphan",
        "header",
    }
