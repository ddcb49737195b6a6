"""A site with faults of every kind: each is found in its place, and nothing else."""

import pytest

# In each, "§" precedes the wrong reference.  That each element and attribute is read is asked in
# test_one_truth.py, and of the reader itself: test_references.py.
GONE = [
    '<a href="§/gone">x</a>',
    "<A HREF = '§/gone'>x</A>",
    "<a href='§/gone?a=1&amp;b=2'>x</a>",
    "<a href='§ /gone '>x</a>",
    "<a href='§/gone#top'>x</a>",
    "<noscript><a href=§/gone>x</a></noscript>",
    "<img src='§/gone' srcset='/there 2x'>",
    "<img srcset='/there 1x, §/gone 2x'>",
    "<svg><use href=§/gone#x /></svg>",
    "<style>p { x: url( '§/gone' ) }</style>",
    "<style>@font-face { src: local('x'), url(§/gone) format('woff2') }</style>",
    "<style>p { x: image-set('/there' 1x, '§/gone' 2x) }</style>",
    "<p style='x: url(§/gone)'>x</p>",
    "<meta http-equiv=refresh content='60; url=§/gone'>",
    """<script type=application/ld+json>§{{"@graph": [{{"logo": "/gone"}}]}}</script>""",
]
WRONG = [
    ('<a href="§/status/410">x</a>', "broken", "http_410"),
    ('<a href="§/status/500">x</a>', "broken", "http_500"),
    ('<a href="§/status/403">x</a>', "broken", "http_403"),
    ('<a href="§/status/401">x</a>', "broken", "http_401"),
    ('<a href="§/reset">x</a>', "broken", "connection_closed"),
    ('<a href="§/to-gone">x</a>', "broken", "http_404"),
    ('<a href="§/to-to-gone">x</a>', "broken", "http_404"),
    ('<img src="§/to-gone">', "broken", "http_404"),
    ('<a href="§/loop">x</a>', "broken", "redirect_loop"),
    ('<a href="§/to-itself">x</a>', "broken", "redirect_loop"),
    ('<a href="§/no-location">x</a>', "broken", "bad_redirect"),
    ('<a href="§/to-ftp">x</a>', "broken", "bad_redirect"),
    ('<a href="§/no.pdf">x</a>', "broken", "wrong_type"),
    ('<a href="§{other}gone">x</a>', "external", "http_404"),
    ('<a href="§{other}status/500">x</a>', "external", "http_500"),
    ('<a href="§{other}to-gone">x</a>', "external", "http_404"),
    ('<img src="§{other}gone">', "external", "http_404"),
    ("<style>p {{ x: url(§{other}gone) }}</style>", "external", "http_404"),
    ('<link rel=stylesheet href="§{other}gone">', "external", "http_404"),
    ('<a href="§http://127.0.0.1:1/">x</a>', "external", "refused"),
    ('<a href="§/to-elsewhere">x</a>', "external", "http_404"),
    ('<a href="§#nowhere">x</a>', "fragments", "no_such_id"),
    ('<a href="§/there#nowhere">x</a>', "fragments", "no_such_id"),
    ('<a href="§/there#Place">x</a>', "fragments", "no_such_id"),
    ('<a href="§/there#a%20b">x</a>', "fragments", "no_such_id"),
    ('<a href="§/to-there#nowhere">x</a>', "fragments", "no_such_id"),
    ('<iframe src="§/there#nowhere"></iframe>', "fragments", "no_such_id"),
    ('<a href="§htp://a.test/">x</a>', "malformed", "malformed"),
    ('<a href="§hhtps://a.test/">x</a>', "malformed", "malformed"),
    ('<a href="§http://">x</a>', "malformed", "malformed"),
    ('<a href="§https:///">x</a>', "malformed", "malformed"),
    ('<a href="§http:/there">x</a>', "malformed", "malformed"),
    ('<a href="§http:there">x</a>', "malformed", "malformed"),
    ('<a href="§http://a.test:99999/">x</a>', "malformed", "malformed"),
    ('<a href="§http://[::1/">x</a>', "malformed", "malformed"),
    ('<a href="§http://a b/">x</a>', "malformed", "malformed"),
    ('<a href="§file:///etc/x">x</a>', "malformed", "malformed"),
    ('<a href="§/blank page">x</a>', "malformed", "malformed"),
    ('<img src="§/blank page">', "malformed", "malformed"),
    ('<a href="§/the\nre">x</a>', "malformed", "malformed"),
    ('<a href="§\\there">x</a>', "malformed", "malformed"),
    ('<a href="§www.a.test/x">x</a>', "malformed", "malformed"),
    ('<img src="§">', "malformed", "malformed"),
    ('<script src="§"></script>', "malformed", "malformed"),
    ('<a class="reference internal" href="§#/gone">x</a>', "fragments", "no_such_id"),
    ('<iframe src="§ "></iframe>', "malformed", "malformed"),
]
FAULTS = [(markup, "broken", "http_404") for markup in GONE] + WRONG

FINE = [
    "<p><div><a title='>' href=/gone",
    '<a href="/there">x</a> <a href="there#place">x</a> <a href="/there#pl%61ce">x</a>',
    '<a href="">x</a> <a href="#">x</a> <a href="#top">x</a> <a href="#TOP">x</a> <a>x</a>',
    '<a href="/there#old">x</a> <a href="/there#%C3%A9">x</a> <a href="/there#é">x</a>',
    '<a href="/there#:~:text=none">x</a> <a href="/there#place:~:text=none">x</a>',
    '<a href="/there#/route">x</a> <a href="/there#!route">x</a>',
    '<a href="/picture#page=2">x</a> <svg><use href="#none"/></svg>',
    '<a href="mailto:a@b?subject=a b">x</a> <a href="tel:+1 2">x</a> <a href="javascript:a b">x</a>',
    '<a href="data:text/plain,a b">x</a> <a href="slack://x">x</a> <a href="sms:1">x</a>',
    '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="> <img alt="no source">',
    "<img srcset='data:,x 1x, /there 2x' src=/there> <img srcset='/gone 2q' src=/there>",
    "<!-- <a href=/gone> --> <script>'<a href=/gone>'</script>",
    "<textarea><a href=/gone></textarea> <title><a href=/gone></title>",
    "<template><img src=/gone></template>",
    "<style>/* url(/gone) */ p { content: 'url(/gone)'; mask: url(#x) }</style>",
    "<style>p {} @import '/gone'; @namespace url(http://www.w3.org/1999/xhtml);</style>",
    "<link rel=dns-prefetch href=//none.test> <link rel=preconnect href=//none.test>",
    "<link rel=stylesheet href=/gone disabled> <script type=text/x src=/gone></script>",
    "<link rel=pingback href=/gone> <form method=post action=/gone></form> <link href=/gone>",
    '<a href="{other}there">x</a> <img src="{other}there"> <a href="{other}to-there">x</a>',
    '<a href="{other}status/403">x</a> <a href="{other}status/999">x</a>',
    '<a href="{other}no-head">x</a> <a href="{other}there#nowhere">x</a>',
    "<a title='<a href=/gone>' href=/there>x</a> <a data-href=/gone>x</a>",
    '<a href="/to-there">x</a> <a href="/to-there#place">x</a> <a href=" /there ">x</a>',
    "<a href=/there?a&amp;copy=1>x</a> <a href=/there?a&copy=1>x</a>",
    "<base href=/deep/><a href=../there>x</a> <a href=page>x</a>",
    "<iframe src=/gone srcdoc='<a href=/there>x</a>'></iframe> <object data=/there></object>",
]


@pytest.fixture
def faulty(site, other):
    """Return the pages that the faults lead to, on both sites."""
    there = "<p id=place>x</p><a name=old>x</a><p id=é>x</p>".encode()
    for each in (site, other):
        each.answer("/there", there)
        for query in ("a&copy=1",):
            each.answer(f"/there?{query}", there)
        for status in (401, 403, 410, 500, 999):
            each.answer(f"/status/{status}", status=status)
        each.redirect("/to-gone", "/gone")
        each.redirect("/to-to-gone", "/to-gone")
        each.redirect("/to-there", "/there")
    site.answer("/blank%20page", there)
    site.answer("/www.a.test/x", there)
    site.answer("/deep/page", there)
    site.answer("/picture", b"PNG", headers={"Content-Type": "image/png"})
    site.answer("/no.pdf", b"sorry", headers={"Content-Type": "application/pdf"})
    site.resets = "/reset".__eq__
    site.redirect("/loop", "/loop2")
    site.redirect("/loop2", "/loop")
    site.redirect("/to-itself", "/to-itself")
    site.answer("/no-location", status=302)
    site.redirect("/to-ftp", "ftp://a.test/")
    site.redirect("/to-elsewhere", other.url + "gone")
    return site


def pages_of(markups, site, other):
    """Serve a page for each markup, and return the place of its fault by path."""
    place_by_path = {}
    for number, markup in enumerate(markups):
        text = markup.replace("{other}", other.url)
        text = text.replace("{{", "{").replace("}}", "}")
        before, _, after = f"<!doctype html>\n<p>é</p>{text}".partition("§")
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
        path = f"/{number}"
        place_by_path[path] = (line, column)
        body = before + after
        site.answer(
            path, body.encode(), headers={"Content-Type": "text/html; charset=utf-8"}
        )
    site.page("/", *place_by_path)
    return place_by_path


def test_every_fault_is_found_in_its_place(faulty, other, check):
    places = pages_of([markup for markup, _, _ in FAULTS], faulty, other)

    status, findings = check(faulty.url)

    found = {}
    for finding in findings:
        path = "/" + finding["page"].removeprefix(faulty.url)
        place = finding["line"], finding["column"]
        found.setdefault(path, []).append((place, finding["kind"], finding["reason"]))
    wanted = {
        path: [(place, kind, reason)]
        for (path, place), (_, kind, reason) in zip(places.items(), FAULTS, strict=True)
    }
    assert len(wanted) >= 60
    assert found == wanted
    assert status == 3


def test_valid_references_are_not_reported(faulty, other, check):
    other.head_status = None
    other.answer("/no-head", b"x")
    pages_of(FINE, faulty, other)

    status, findings = check(faulty.url)

    assert [(each["href"], each["meaning"]) for each in findings] == []
    assert status == 0


def test_what_an_svg_image_refers_to_is_checked(site, check):
    drawing = (
        '<?xml-stylesheet href="/gone.css"?>\n'
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink">\n'
        '<a x:href="/gone"><text>x</text></a> <image href="/gone.png"/> <a href="/there"/>\n'
        '<a href="#nowhere"/></svg>'
    )
    site.answer("/", b"<object data=d.svg></object>")
    site.answer("/d.svg", drawing.encode(), headers={"Content-Type": "image/svg+xml"})
    site.page("/there", "/from-there")

    status, findings = check(site.url)

    found = [(each["href"], each["line"]) for each in findings]
    assert sorted(found) == [
        ("#nowhere", 4),
        ("/from-there", 1),
        ("/gone", 3),
        ("/gone.css", 1),
        ("/gone.png", 3),
    ]
    assert status == 3


@pytest.mark.parametrize("kinds", ["broken", "broken,notices"])
def test_link_that_robots_txt_forbids_is_a_notice(site, other, check, kinds):
    site.page("/", "/private/a", other.url + "private/b")
    for each in (site, other):
        each.answer("/robots.txt", b"User-agent: *\nDisallow: /private/")

    status, findings = check(site.url, "--fail-on", kinds)

    found = [(each["href"], each["severity"], each["reason"]) for each in findings]
    forbidden = ("/private/a", "notice", "robots")
    assert (forbidden in found) is ("notices" in kinds)
    assert "private/b" not in str(found)
    assert status == (3 if "notices" in kinds else 0)


PLACES = [
    ("there#place", True),
    ("there#nowhere", False),
    ("to-there#place", True),
    ("to-there#nowhere", False),
    ("there#:~:text=none", True),
    ("there#/route", True),
    ("there#L10-L20", True),
    ("readme#install", True),
    ("picture#page=2", True),
    ("large#nowhere", True),
]


@pytest.mark.parametrize("is_found_first", [True, False])
def test_external_fragments_are_checked_on_request(
    faulty, other, check, gencrawl, is_found_first
):
    other.answer("/readme", b"<h2 id=user-content-install>x</h2>")
    other.answer("/picture", b"PNG", headers={"Content-Type": "image/png"})
    other.answer("/large", b"<p>" + b"x" * 100_000)
    links = [f"{other.url}{href}" for href, _ in PLACES]
    plain = [link.partition("#")[0] for link in links]
    # Pages are requested before a link with a fragment is found, or after.
    faulty.page("/", *(links if is_found_first else plain), "/second")
    faulty.page("/second", *(plain if is_found_first else links))

    without = gencrawl("check", faulty.url)
    asked_before = len(other.requests)
    limit = ("--max-body-bytes", "50000")
    status, findings = check(faulty.url, "--external-fragments", *limit)

    assert (without.status, status) == (0, 3)
    words = "Not checked: 8 fragments on other sites (see --external-fragments); "
    assert words in without.out
    wrong = [
        link for link, (_, is_right) in zip(links, PLACES, strict=True) if not is_right
    ]
    assert sorted(each["href"] for each in findings) == sorted(wrong)
    assert {each["kind"] for each in findings} == {"fragments"}
    asked = list(zip(other.methods, other.paths, strict=True))[asked_before:]
    assert asked.count(("GET", "/there")) == 1


def when_asked(site, path, call):
    """Call something when a site is asked for a path."""
    respond = site.respond

    async def call_and_respond(handler):
        if handler.request.path == path:
            call()
        await respond(handler)

    site.respond = call_and_respond


def test_external_page_is_read_if_its_fragment_is_found_while_it_is_asked_for(
    site, other, check
):
    site.page("/", f"{other.url}there", "/second")
    site.page("/second", f"{other.url}there#nowhere", "/third")
    site.page("/third")
    other.answer("/there", b"<p>x</p>")
    other.hold("/there")
    site.hold("/second")
    when_asked(other, "/there", lambda: site.let_go("/second"))
    when_asked(site, "/third", lambda: other.let_go("/there"))

    status, findings = check(site.url, "--external-fragments")

    assert [each["kind"] for each in findings] == ["fragments"]
    assert other.methods[-2:] == ["HEAD", "GET"]
    assert status == 3
