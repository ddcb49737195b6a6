"""The crawler reads pages, links, refreshes and irregular responses as Chromium does."""

import html
import random
import socketserver
import threading
import time

import pytest
from selenium.webdriver.support.wait import WebDriverWait

from crawler_app.base.errors import UrlError
from crawler_app.base.urls import host_of, join, join_or_nothing
from crawler_app.web.documents.css import references_in_css
from crawler_app.web.documents.html import parse_html
from tests.helpers.chromium_page import requested_urls
from tests.helpers.fuzzing import examples
from tests.helpers.http.irregular import ACCEPTED, NOT_SHOWN, SHOWN
from tests.helpers.http.threaded import EndsConnections
from tests.helpers.refreshes import REFERENCE_BY_VALUE

# Assets.

STYLE = """@charset "utf-8"; @import 'import1.css'; @import url( "import2.css" ) screen;
/* url(no1.png) */ html { background: url(bg1.png) } #a { background: u\\72l(bg2.png) }
#b { content: 'url(no2.png)'; background: url('bg3\\.png') }
#c { background-image: image-set('set1.png' type('image/png') 1x) }
#d { background: url(no 3.png) } @import 'no4.css'; @namespace url(no5);
@font-face { font-family: F; src: url(font.woff2) format('woff2') } #e { font-family: F }
"""
PAGE = """<!DOCTYPE html><html><head><title><img src=no1.png></title>
<link rel='StyleSheet' href=style.css><link rel=icon href=icon.png>
<link rel=preload as=image href=preload.png><link rel=modulepreload href=module.js>
<link rel=stylesheet href=no2.css disabled><noscript><img src=no3.png></noscript>
<script src=script.js></script><script type=text/x src=no4.js></script>
<script><!-- <script> '<img src=no5.png>' </script> --></script>
<!-- <img src=no6.png> --><!--><img src=yes1.png> --!><img src=yes2.png>
<style>#f { background: url(style.png) }</style></head>
<body background=body.png><div id=a>a</div><div id=b>b</div><div id=c>c</div>
<div id=d>d</div><div id=e>e</div><div id=f>f</div>
<p style="background: url(&quot;attribute.png&quot;)">x</p>
<img src='a b.png'><img src='q.png?x=1&amp;copy=2&copy=3'><image src=image.png>
<picture><source srcset='source.png'><img></picture><img srcset='srcset.png 1x'>
<template><img src=no7.png></template><textarea><img src=no8.png></textarea>
<svg><image href=svg1.png /><image xlink:href=svg2.png /><script href=svg.js />
</svg><img alt='<img src=no9.png>' src=yes3.png><img src=first.png src=no10.png>
<video src=video.mp4 poster=poster.png></video><audio src=audio.mp3 preload=auto></audio>
<input type=image src=input.png><input src=no11.png><embed src=embed.png>
<object data=object.png></object><table background=table.png><td background=td.png>x
</table><iframe src=frame.html></iframe><iframe srcdoc='<img src=srcdoc.png>'></iframe>
<script type=module src=module2.js></script><img src=cut.png alt='"""


def test_assets_are_what_chromium_requests(chromium, site):
    site.answer("/", PAGE.encode())
    site.answer("/style.css", STYLE.encode(), headers={"Content-Type": "text/css"})
    found = [each.value for each in parse_html(PAGE.encode(), with_assets=True).assets]
    found += [each.value for each in references_in_css(STYLE)]
    wanted = {join_or_nothing(site.url, value) for value in found}

    chromium.get(site.url)
    requested = set(requested_urls(chromium)) - {site.url}
    deadline = time.monotonic() + 20
    while wanted - requested and time.monotonic() < deadline:
        requested |= set(requested_urls(chromium))

    assert requested == wanted


# Refreshes.


@pytest.mark.parametrize("as_header", [False, True])
def test_refreshes_lead_where_chromium_goes(chromium, site, as_header):
    wanted = {}
    values = [*REFERENCE_BY_VALUE, "2;url=/last"]
    for number, value in enumerate(values):
        path = f"/case/{number}"
        wanted[site.url + path[1:]] = REFERENCE_BY_VALUE.get(value, "/last")
        meta = f'<meta http-equiv=refresh content="{html.escape(value)}">'
        headers = {"Refresh": value} if as_header else {}
        body = b"" if as_header else meta.encode()
        # Once, because a page that refreshes to itself would be loaded for ever.
        site.answer(path, body, headers=headers, times=1)
        site.answer(path)
    frames = "".join(f"<iframe src={url}></iframe>" for url in wanted)
    site.answer("/", frames.encode())

    chromium.get(site.url)
    WebDriverWait(chromium, 60).until(lambda _: "/last" in site.paths)

    base = site.url.rstrip("/")
    found = {
        (headers["Referer"], join_or_nothing("", base + path))
        for path, headers in site.requests
        if headers.get("Referer") in wanted
    }
    reloaded = {(url, url) for url in wanted}
    assert found - reloaded == {
        (url, join_or_nothing(url, reference))
        for url, reference in wanted.items()
        if reference
    }


# URLs.

BASE = "http://a.test/docs/page?q"

# Not "|" in a path, nor "*" or a soft hyphen in a host, where Chromium differs from the
# standard.
URL_PIECES = (
    *(
        "http:",
        "https:",
        "HTTP:",
        "ftp:",
        "javascript:",
        "//",
        "/",
        "\\",
        "..",
        ".",
        "%2e",
    ),
    *(
        "?",
        "#",
        "@",
        ":",
        ":80",
        ":443",
        ":0",
        "99999",
        "a",
        "B.test",
        "localhost",
        "xn--",
    ),
    *("127.1", "0x7f", "0177", "\uff18", "\u3002", "[::1]", "[", "]", "é", "ß", "😀"),
    *(
        " ",
        "\t",
        "\n",
        "\0",
        "\x7f",
        "\u200d",
        "%",
        "%41",
        "%c3",
        "%zz",
        *"'\"<^`{;=&+",
    ),
)

HREFS = """
const href = (reference) => new URL(reference, arguments[0]).href;
return arguments[1].map((r) => URL.canParse(r, arguments[0]) ? href(r) : "");
"""


def joined(reference):
    """Return the URL of a reference; empty if it is invalid, None if it is refused."""
    try:
        return join(BASE, reference)
    except UrlError as exc:
        return None if exc.reason == "credentials" else ""


def fetched(href):
    """Return the URL of the request; empty if there is none."""
    url = href.partition("#")[0]
    # The standard allows no space in a host.
    is_sent = url.startswith(("http://", "https://")) and "%20" not in host_of(url)
    return url if is_sent else ""


def test_urls_of_links_are_those_of_chromium(chromium):
    rng = random.Random(17)
    for _ in range(examples(1)):
        references = [
            "".join(rng.choices(URL_PIECES, k=rng.randint(1, 8))) for _ in range(5000)
        ]

        hrefs = chromium.execute_script(HREFS, BASE, references)

        ours = [joined(reference) for reference in references]
        assert ours.count("") < 1000
        assert [
            (reference, href, url)
            for reference, href, url in zip(references, hrefs, ours, strict=True)
            if url not in (None, fetched(href))
        ] == []


# Charset, base and links of random pages.  Chromium runs no scripts in them.

PARTS = [
    *("<html>", "<head>", "</head>", "<body>", "<p>", "</p>", "<div>", "</div>"),
    *("<svg>", "</svg>", "<foreignObject>", "</foreignObject>", "<desc>", "</desc>"),
    *("<math><base href=/m{}/></math>", "<g>", "</g>", "<![CDATA[", "]]>"),
    *("<!--", "-->", "<script>", "</script>", "<style>", "</style>", "<title>"),
    *("</title>", "<noscript>", "</noscript>", "<template>", "</template>"),
    *("<textarea>", "</textarea>", "<table>", "<td>", "</table>", "<select>", "</a>"),
    *(
        "<a href=a{}>",
        "<a xlink:href=b{}>",
        "<a href=c{} xlink:href=d{}>",
        "<a name=e>",
    ),
    *("<svg><a xlink:href=f{}></a></svg>", "<map><area href=g{}></map>", "<img>"),
    *("<base href=/b{}/>", "<base>", "<base href='data:x'>", "<svg><base href=/s{}/>"),
    *("<meta charset=koi8-r>", "<META charset='big5'>", "<meta charset=klingon>"),
    *("<meta http-equiv=content-type content='text/html; charset=gbk'>", "text"),
    *("<meta name=description content='x; charset=gbk'>", "<link title='<p>'>"),
    f"<!-- {'x' * 1024} -->",
    f"<script>{'x' * 1024}</script>",
]

AT_ONCE = 100

# Not UTF-8.
END = b"<body>\xd0\xcf"

# What a function sees in each of the pages, by their numbers.
IN_FRAMES = """
const [count, done] = arguments;
(async () => {
    const found = [];
    for (let number = 0; number < count; number++) {
        const frame = document.createElement("iframe");
        frame.sandbox = "allow-same-origin";
        frame.src = "/" + number;
        await new Promise((loaded) => {
            frame.onload = loaded;
            document.body.append(frame);
        });
        found.push(look(frame.contentDocument));
        frame.remove();
    }
    done(found);
})();
"""

READ = """
function look(page) {
    // The crawler takes an <a href> in MathML for a link too, as Firefox does.
    const links = [...page.querySelectorAll("a, area")]
        .filter((link) => link.matches(":any-link, [href]"))
        .map((link) => link.getAttribute("href") ?? link.getAttribute("xlink:href"));
    return [page.characterSet.toLowerCase(), page.baseURI, links];
}
"""


def random_page(seed):
    source = random.Random(seed)
    parts = source.choices(PARTS, k=source.randint(1, 12))
    return "".join(part.replace("{}", str(n)) for n, part in enumerate(parts)).encode()


@pytest.mark.parametrize("start", range(0, examples(AT_ONCE), AT_ONCE))
def test_page_is_read_as_in_chromium(chromium, site, start):
    pages = [random_page(start + seed) + END for seed in range(AT_ONCE)]
    # A frame whose page declares no charset has that of the outer page.
    outer = {"Content-Type": "text/html; charset=windows-1252"}
    site.answer("/", b"<body>", headers=outer)
    for number, page in enumerate(pages):
        site.answer(f"/{number}", page, headers={"Content-Type": "text/html"})

    chromium.get(site.url)
    read = chromium.execute_async_script(READ + IN_FRAMES, len(pages))

    different = {}
    for number, (page, (charset, base, links)) in enumerate(
        zip(pages, read, strict=True)
    ):
        found = parse_html(page, "text/html")
        url = f"{site.url}{number}"
        found_base = join_or_nothing(url, found.base) or url
        ours = [found.charset, found_base, found.links]
        if ours != [charset, base, list(dict.fromkeys(links))]:
            different[page] = ours, [charset, base, links]
    assert different == {}


# Irregular responses.

IRREGULAR = [
    *((response, True) for response, _ in ACCEPTED.values()),
    *((response, True) for response in SHOWN.values()),
    *((response, False) for response in NOT_SHOWN.values()),
]


class IrregularHandler(socketserver.StreamRequestHandler):
    """Sends the response whose number is the path of the request."""

    def handle(self):
        line = self.rfile.readline()
        if not line:  # a connection that Chromium did not use
            return
        number = line.split()[1][1:]
        while self.rfile.readline().strip():
            pass
        if number.isdigit():
            self.wfile.write(IRREGULAR[int(number)][0])
        elif not number:
            self.wfile.write(
                b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<body>"
            )


class IrregularServer(EndsConnections, socketserver.ThreadingTCPServer):
    """Its connections do not outlive it, although Chromium keeps them."""


@pytest.fixture
def irregular_port():
    with IrregularServer(("127.0.0.1", 0), IrregularHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


# In a frame, which costs a fraction of a page; the document of an error page cannot be read.
IS_SHOWN = "const look = (page) => page?.body.innerText === 'ok';"


def test_irregular_responses_are_shown_as_listed(chromium, irregular_port):
    chromium.get(f"http://127.0.0.1:{irregular_port}/")

    found = chromium.execute_async_script(IS_SHOWN + IN_FRAMES, len(IRREGULAR))

    assert [
        (response, is_shown)
        for (response, listed), is_shown in zip(IRREGULAR, found, strict=True)
        if is_shown != listed
    ] == []
