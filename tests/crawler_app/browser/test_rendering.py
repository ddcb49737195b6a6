"""Pages that scripts make are rendered, and every request is the crawl's own."""

import contextlib
import datetime
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest
from warcio import ArchiveIterator

from crawler_app.base.config import CrawlConfig
from crawler_app.run.crawler import Crawler
from crawler_app.web.render import browser, devtools, loading, pool, tab
from gencoro import gen
from gencoro.ioloop import IOLoop
from tests.helpers.site import Site

pytestmark = pytest.mark.skipif(
    not shutil.which("chromium"), reason="needs the program chromium"
)

SHELL = (
    b"<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>"
)
A = "<a href=/a>x</a>"
SCRIPT = {"Content-Type": "text/javascript"}
DATA = {"Content-Type": "application/json"}

# Routes by history, data by fetch: the start page links to two routes that have no file.
APP = b"""
const go = path => { history.pushState({}, "", path); draw(); };
const draw = async () => {
  const page = await (await fetch("/data" + location.pathname)).json();
  document.title = page.title;
  document.getElementById("root").innerHTML = `<h1>${page.title}</h1>` +
    page.links.map(each => `<a href="${each}" onclick="go(this.href)">x</a>`).join("");
};
draw();
"""


# Every way by which a page can make a browser connect to a service.
PRIVATE_SCRIPT = """
const at = "%(at)s", url = `http://${at}/`, quiet = () => {};
fetch(url).catch(quiet); fetch("/redirect").catch(quiet); fetch("file:///etc/passwd").catch(quiet);
fetch(url.replace("127.0.0.1", "localhost")).catch(quiet);
fetch(url.replace("127.0.0.1", "2130706433")).catch(quiet);
fetch(url.replace("127.0.0.1", "[::ffff:127.0.0.1]")).catch(quiet);
navigator.sendBeacon(url, "x"); new EventSource(url); new WebSocket(`ws://${at}/`); open(url);
try { new WebTransport(`https://${at}/`); } catch { }
import(url).catch(quiet); document.fonts.add(new FontFace("x", `url(${url})`)); new Audio(url).load();
for (const source of [`fetch("${url}")`, `importScripts("${url}")`, `new WebSocket("ws://${at}/")`])
  new Worker(URL.createObjectURL(new Blob([source])));
const frame = document.createElement("iframe"); document.body.append(frame);
for (const Peer of [window.RTCPeerConnection, frame.contentWindow.RTCPeerConnection]) try {
  const peer = new Peer({iceServers: [{urls: `stun:${at}`},
    {urls: `turn:${at}?transport=tcp`, username: "x", credential: "x"}]});
  peer.createDataChannel("x"); peer.createOffer().then(o => peer.setLocalDescription(o));
} catch { }
link.click(); document.title = "done"; setTimeout(() => { location = url }, 300);
"""
PRIVATE_BODY = """<img src=http://%(at)s/><iframe src=http://%(at)s/></iframe>
<object data=http://%(at)s/></object><embed src=http://%(at)s/><video src=http://%(at)s/></video>
<link rel=preconnect href=http://%(at)s/><link rel=prefetch href=http://%(at)s/>
<link rel=dns-prefetch href=//%(at)s><link rel=stylesheet href=http://%(at)s/>
<link rel=icon href=http://%(at)s/><link rel=manifest href=http://%(at)s/>
<style>body { background: url(http://%(at)s/) }</style><script src=http://%(at)s/></script>
<a id=link ping=http://%(at)s/ href=http://%(at)s/ download>x</a>
<script type=speculationrules>{"prerender": [{"urls": ["http://%(at)s/"], "eagerness": "immediate"}]}
</script>"""


# Requests to the own site that are refused.
OWN_SCRIPT = """
fetch("/look"); window.open("/window"); navigator.sendBeacon("/beacon", "x");
fetch("/post", {method: "POST", body: "x"}).catch(() => {});
new EventSource("/events"); new WebSocket("ws://%(at)s/socket");
try { new WebTransport("https://%(at)s/transport"); } catch { }
navigator.serviceWorker?.register("/service.js");
const peers = new RTCPeerConnection({iceServers: [{urls: "stun:%(at)s"}]});
peers.createDataChannel("x"); peers.createOffer().then(o => peers.setLocalDescription(o));
"""
OWN_BODY = """<a id=file href=/file download>x</a><script>file.click()</script>
<link rel=preconnect href=/preconnect><link rel=prefetch href=/prefetch>
<link rel=dns-prefetch href=//a.test><iframe src=file:///etc/passwd></iframe>
<script type=speculationrules>{"prefetch": [{"urls": ["/rules"], "eagerness": "immediate"}]}
</script>"""


class Rendered:
    """What a crawl with ``--render`` has found on the site."""

    def __init__(self, site, run_sync, directory):
        self._site, self._run_sync, self._directory = site, run_sync, directory

    def __call__(self, *paths, own_hosts=(), **options):
        site = self._site
        seeds = tuple(site.url + path for path in paths or ("",))
        self.pages = {}

        def on_page(page):
            self.pages["/" + page.url.removeprefix(site.url)] = page

        options = {"render": "always", "into": str(self._directory)} | options
        config = CrawlConfig(seeds, retry_pause_s=0.05, **options)
        self.crawler = Crawler(config, on_page=on_page, own_hosts=own_hosts)
        self.summary = self._run_sync(self.crawler.run).summary
        self.stats = dict(self.crawler._crawl.stats)
        return self

    def links(self, path):
        return [
            "/" + link.url.removeprefix(self._site.url)
            for link in self.pages[path].links
        ]


@pytest.fixture
def rendered(site, run_sync, directory):
    return Rendered(site, run_sync, directory)


def answer_script(site, path, source):
    site.answer(path, source, headers=SCRIPT)


def answer_page(site, path, script, body=""):
    """Answer with a page whose script is in it."""
    text = f"<!doctype html><title>T</title><body>{body}<script>{script}</script>"
    site.answer(path, text.encode())


def app(site, links_by_path):
    """Make the site an application: every path has the same page."""
    answer_script(site, "/app.js", APP)
    for path, links in links_by_path.items():
        site.answer(path, SHELL)
        data = {"title": f"Page {path}", "links": links}
        site.answer(f"/data{path}", json.dumps(data).encode(), headers=DATA)


def records(directory, *kinds):
    """Return the URL and the block of each record of one of the types."""
    with (directory / "archive-00001.warc.gz").open("rb") as file:
        return [
            (record.rec_headers.get("WARC-Target-URI"), record.raw_stream.read())
            for record in ArchiveIterator(file, no_record_parse=True)
            if record.rec_type in kinds
        ]


# Four sites for one crawl with ``--render auto``, which chooses pages for each host by itself.

TEXT = "<p>It is all here. " * 40
SAMPLED = [f"/p{number}" for number in range(25)]
BLOG = [f"/blog/{letter}" for letter in "abc"]


def application(site):
    app(site, {"/": ["/a", "/b/c"], "/a": ["/"], "/b/c": ["d"], "/b/d": []})


def unchanged(site):
    """Scripts change nothing: a page that is rendered says so by what it asks for."""
    script = "fetch(`/seen?${location.pathname}`)"
    answer_page(site, "/", script, "".join(f"<a href={path}>x</a>" for path in SAMPLED))
    for path in SAMPLED:
        answer_page(site, path, script, TEXT)
        site.answer(f"/seen?{path}")
    site.answer("/seen?/")


def chain(site):
    """Only scripts link from one page to the next."""
    for path, next_path in (("/", "/p1"), ("/p1", "/p2"), ("/p2", "/p3")):
        script = f"document.body.innerHTML += '<a href={next_path}>next</a>'"
        answer_page(site, path, script, TEXT)
    site.page("/p3")


def blog(site):
    """What the first page asks for is held until the others were read without their scripts."""
    script = """fetch("/gate").then(() =>
        document.body.innerHTML += `<a href=/late${location.pathname}>x</a>`)"""
    site.page("/", *BLOG)
    site.answer("/gate")
    site.hold("/gate")
    for path in BLOG:
        answer_page(site, path, script, TEXT)
        site.page(f"/late{path}")


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """Crawl the four sites; return each with its pages, by its name, and the directory."""
    directory = tmp_path_factory.mktemp("chosen") / "crawl"
    with contextlib.ExitStack() as stack:
        found = {}
        for make in (application, unchanged, chain, blog):
            site = Site()
            stack.callback(site.stop)
            found[make.__name__] = site, {}
            make(site)

        def on_page(page):
            for site, pages in found.values():
                if page.url.startswith(site.url):
                    pages["/" + page.url.removeprefix(site.url)] = page
            site, pages = found["blog"]
            if len(pages.keys() & set(BLOG)) == 2:
                site.let_go("/gate")

        seeds = tuple(site.url for site, _ in found.values())
        options = {"render": "auto", "concurrency": 40, "into": str(directory)}
        crawler = Crawler(CrawlConfig(seeds, **options), on_page=on_page)
        with contextlib.closing(IOLoop(make_current=False)) as loop:
            loop.run_sync(crawler.run)
        yield found, directory


def test_routes_of_an_application_are_found_and_each_resource_is_fetched_once(chosen):
    (site, pages), directory = chosen[0]["application"], chosen[1]

    assert set(pages) == {"/", "/a", "/b/c", "/b/d"}
    assert pages["/b/c"].title == "Page /b/c"
    assert len(site.paths) == len(set(site.paths))
    kept = {url for url, _ in records(directory, "response", "revisit")}
    asked = {site.url + path[1:] for path in site.paths}
    assert {url for url in kept if url.startswith(site.url)} == asked


def test_one_page_of_a_shape_is_rendered_if_scripts_do_not_change_it(chosen):
    site, pages = chosen[0]["unchanged"]
    seen = [path for path in site.paths if path.startswith("/seen?")]

    assert len(pages) == 26
    assert seen == ["/seen?/"]


def test_links_that_only_scripts_add_to_pages_with_text_are_found(chosen):
    _, pages = chosen[0]["chain"]

    assert set(pages) == {"/", "/p1", "/p2", "/p3"}


def test_pages_read_before_their_kind_was_known_are_rendered_later(chosen):
    _, pages = chosen[0]["blog"]

    assert {f"/late{path}" for path in BLOG} <= set(pages)


# A link to another state of the page.
OWN = ["/hash_routes"]

# By name: the script of a page, the rest of its body, and the links that Chromium has then.
DOCUMENTS = {
    "closed_shadow": (
        """customElements.define("x-menu", class extends HTMLElement {
        connectedCallback() { this.attachShadow({mode: "closed"}).innerHTML =
        "<a href=/in>in</a><slot></slot>"; }});""",
        "<x-menu><a href=/slotted>slotted</a></x-menu>",
        ["/slotted", "/in"],
    ),
    "late": (
        "setTimeout(() => document.body.innerHTML = '<a href=/late>x</a>', 400)",
        "",
        ["/late"],
    ),
    "timer": (
        "setTimeout(() => document.body.innerHTML = '<a href=/later>x</a>', 1500)",
        "",
        ["/later"],
    ),
    # It asks again until the data is ready.
    "not_ready": (
        """const ask = async () => {
          const answer = await fetch("/job");
          if (answer.status === 202) setTimeout(ask, 700);
          else document.body.innerHTML = await answer.text(); };
        ask();""",
        "",
        ["/ready"],
    ),
    "clock": ("setInterval(() => { document.title = Date.now() }, 50)", A, ["/a"]),
    # Another route is shown in the end, and links are relative to it.
    "route": (
        """history.replaceState({}, "", "/deep/er/");
        document.body.innerHTML = "<a href=x>x</a>" """,
        "",
        ["/deep/er/x"],
    ),
    # One that is paused, or goes on for ever, is not waited for.
    "animated": (
        """const [one, two] = document.querySelectorAll("p");
        const fade = (element, options) => element.animate({opacity: [0, 1]}, options);
        fade(one, {duration: 500, iterations: Infinity}); fade(one, 800).pause();
        fade(two, 1200).onfinish = () => { two.innerHTML = "<a href=/faded>x</a>" };""",
        "<p>x<p>y",
        ["/faded"],
    ),
    # Each route after a "#" is shown, also one that another links to, and the first again.
    "hash_routes": (
        """const draw = async () => {
          const route = location.hash.slice(2) || "start", main = document.createElement("main");
          if (route === "left") return location.href = "/elsewhere";
          main.innerHTML = await (await fetch(`/route-${route}`)).text();
          document.querySelector("main").replaceWith(main); };
        onhashchange = draw; draw();""",
        "<main></main>",
        ["/at-start", *OWN, *OWN, *OWN, "/at-one", *OWN, *OWN, "/at-two", *OWN],
    ),
    "data_by_header": (
        """const ask = async headers => (await fetch("/by-header", {headers})).text();
        ask({"X-Part": "1"}).then(() => ask({})).then(() => ask({"X-Part": "1"}))
          .then(() => document.body.innerHTML = "<a href=/asked>x</a>")""",
        "",
        ["/asked"],
    ),
    "base": (
        "document.head.innerHTML = '<base href=/other/>'",
        "<a href=x>x</a>",
        ["/other/x"],
    ),
    "exception": ("throw new Error('broken')", A, ["/a"]),
    "dialogs": (
        """alert(1); confirm(2); prompt(3); onbeforeunload = () => "stay";
        document.body.innerHTML = "<a href=/after>x</a>" """,
        "",
        ["/after"],
    ),
    "endless_dialogs": ("setInterval(() => alert(1), 1)", A, ["/a"]),
    # The text for browsers without scripts is not there, but scripts that speak of it are.
    "noscript": (
        "const x = '<noscript>'",
        f"<noscript><a href=/no>x</a></noscript>{A}",
        ["/a"],
    ),
    "written": ("document.write('<a href=/written>x</a>')", "", ["/written"]),
    "polling": ("setInterval(() => fetch('/poll?' + Date.now()), 200)", A, ["/a"]),
    "stopped": ("stop()", A, ["/a"]),
    "closed": ("close()", A, ["/a"]),
    "back": ("setTimeout(() => history.back(), 100)", A, ["/a"]),
    "navigation_back": (
        """const {committed} = navigation.back(); committed.catch(error => {
        document.body.innerHTML = `<a href=/${error.name}>x</a>` })""",
        A,
        ["/InvalidStateError"],
    ),
    # To the page that the tab has shown before, if there is one.
    "navigation_traverse": (
        """for (const {key} of navigation.entries()) navigation.traverseTo(key)""",
        A,
        ["/a"],
    ),
    "hostile": ("Element.prototype.attachShadow = JSON.stringify = null", A, ["/a"]),
    "import_map": (
        "",
        """<script type=importmap>{"imports": {"lib": "/lib.js"}}</script>
        <script type=module>import "lib"</script>""",
        ["/lib"],
    ),
    "blob_worker": (
        """const url = URL.createObjectURL(new Blob(["postMessage('<a href=/w>x</a>')"]));
        new Worker(url).onmessage = event => { document.body.innerHTML = event.data }""",
        "",
        ["/w"],
    ),
    "back_among_own_states": (
        """history.pushState({}, "", "?step=2"); history.back();
        onpopstate = () => { document.body.innerHTML = "<a href=/first>x</a>" }""",
        "",
        ["/first"],
    ),
    "offline_and_workers": (
        """document.body.innerHTML = `<a href=/${navigator.onLine}-${"serviceWorker" in navigator}
        -${"SharedWorker" in window}>x</a>`.replace(/\\s+-/, "-")""",
        "",
        ["/true-false-false"],
    ),
    "changed_cookie": (
        """fetch("/in").then(() => { document.cookie = "id=2"; return fetch("/changed") })
        .then(r => r.text()).then(text => document.body.innerHTML = text)""",
        "",
        ["/changed-too"],
    ),
    "sign_in": (
        """fetch("/in").then(() => fetch("/secret")).then(r => r.text())
        .then(text => { document.body.innerHTML = document.cookie.includes("id=1") && text })""",
        "",
        ["/inside"],
    ),
    # It sets a cookie, and is another page with it.
    "reloaded": (
        "document.cookie = 'seen=1'; location.reload()",
        "",
        ["/found"],
    ),
    "redirected_data": (
        "fetch('/old').then(r => r.text()).then(t => document.body.innerHTML = t)",
        "",
        ["/new"],
    ),
    "data_that_fails_once": (
        "fetch('/busy').then(r => r.text()).then(t => document.body.innerHTML = t)",
        "",
        ["/data"],
    ),
    "frames_and_workers": (
        "new Worker('/worker.js')",
        "<iframe src=/frame></iframe>",
        [],
    ),
}


def test_documents_are_read_as_their_scripts_leave_them(site, rendered):
    made = "<script>document.body.innerHTML = '<a href=/found>x</a>'</script>"
    site.answer("/reloaded", f"<body>{made}".encode(), needs_cookie="seen=1")
    for name, (script, body, _) in DOCUMENTS.items():
        answer_page(site, f"/{name}", script, body)
    links = {
        "start": ("#/one", "#/left", "#!/excluded"),
        "one": ("#/two", "#/one"),
        "two": ("#/",),
    }
    for name, hashes in links.items():
        anchors = "".join(f"<a href={each}>x</a>" for each in hashes)
        text = f"<h1>At {name}</h1><a href=/at-{name}>x</a>{anchors}"
        site.answer(f"/route-{name}", text.encode())
    site.answer("/by-header", b"")
    site.answer("/poll", b"")
    site.answer("/job", status=202, times=1)
    site.answer("/job", b"<a href=/ready>x</a>")
    answer_script(site, "/lib.js", b"document.body.innerHTML = '<a href=/lib>x</a>'")
    site.answer("/in", b"", headers={"Set-Cookie": "id=1"})
    site.answer("/secret", b"<a href=/inside>x</a>", needs_cookie="id=1")
    site.answer("/changed", b"<a href=/changed-too>x</a>", needs_cookie="id=2")
    site.redirect("/old", "/newer")
    site.answer("/newer", b"<a href=/new>x</a>")
    site.answer("/busy", status=503, times=1)
    site.answer("/busy", b"<a href=/data>x</a>")
    answer_script(site, "/worker.js", b"fetch('/from-worker')")
    answer_page(site, "/frame", "fetch('/from-frame')")

    answer_page(site, "/elsewhere", "location.href = '/there'", "<p>wait")
    site.page("/there", title="There")

    found = rendered(*DOCUMENTS, "elsewhere", max_depth=0, exclude=("#!/excluded",))

    assert {name: found.links(f"/{name}") for name in DOCUMENTS} == {
        name: links for name, (_, _, links) in DOCUMENTS.items()
    }
    assert "render/cut" not in found.stats
    assert "At two" in found.pages["/hash_routes"].text
    assert "/route-/excluded" not in site.paths
    assert site.paths.count("/by-header") == 2
    assert {"/frame", "/from-worker", "/from-frame"} <= set(site.paths)
    assert found.pages["/there"].title == "There"  # a redirect: of the same depth


# The pages of one crawl with all options, at which several tests look.
FULL = {
    "scrolled": (
        """let next = 0;
        const more = () => { if (next < 30) document.getElementById("list").insertAdjacentHTML(
          "beforeend", `<a style="display: block; height: 300px" href=/i${next++}>x</a>`); };
        for (let i = 0; i < 5; i++) more();
        new IntersectionObserver(found => { if (found[0].isIntersecting) {
          for (let i = 0; i < 5; i++) more(); }}).observe(document.getElementById("end"));""",
        "<div id=list></div><p id=end>end",
    ),
    # Rows that are out of sight are not in the document; some elements are used again.
    "virtual": (
        """const row = i => `<a style="position: absolute; top: ${i * 100}px" href=/r${i}>row ${i}</a>`;
        const draw = () => {
          const start = Math.floor(scrollY / 100);
          rows.innerHTML = Array.from({length: 8}, (_, i) => row(start + i)).join("");
          document.querySelector("nav a").href = `/used-${start}`; };
        onscroll = draw; draw();""",
        "<nav><a>x</a></nav><div id=rows style='position: relative; height: 2800px'></div>",
    ),
    # What scrolls is not the page.
    "boxed": (
        """let next = 0;
        const more = () => { box.insertAdjacentHTML(
          "beforeend", `<a style="display: block; height: 900px" href=/i${next++}>x</a>`); };
        box.onscroll = () => {
          if (next < 4 && box.scrollTop + box.clientHeight > box.scrollHeight - 9) more(); };
        more();""",
        "<main id=box style='position: fixed; inset: 0; overflow: auto'></main>",
    ),
    # The same in a shadow tree, with what it scrolls in a slot, and a timer before more comes.
    "boxed_in_shadow": (
        """const shadow = host => host.attachShadow({mode: "open"});
        const box = document.createElement("main"), app = shadow(document.body);
        box.style = "position: fixed; inset: 0; overflow: auto";
        box.append(document.createElement("slot"));
        app.innerHTML = "<div id=host></div>";
        shadow(app.getElementById("host")).append(box);
        let next = 0;
        const more = () => { if (next < 4) app.getElementById("host").insertAdjacentHTML(
          "beforeend", `<a style="display: block; height: 900px" href=/i${next++}>x</a>`); };
        box.onscroll = () => {
          if (box.scrollTop + box.clientHeight > box.scrollHeight - 9) setTimeout(more, 300); };
        more();""",
        "",
    ),
    "posting": (
        """fetch("/query", {method: "POST", body: "{}"}).then(r => r.text())
        .then(text => document.body.innerHTML = text)""",
        "",
    ),
    "made": (
        """document.title = "Made"; document.body.innerHTML =
        "<h1>Heading</h1>" + "<p>The text of the page. ".repeat(20)""",
        "",
    ),
}
BOUND = """<body><script>document.cookie = "own=2";
fetch("/private/x"); fetch("/left-out"); fetch("/free")</script>"""


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """Return a crawl with all options: the site, what was found, and the directory."""
    site, directory = Site(), tmp_path_factory.mktemp("full") / "crawl"
    for name, (script, body) in FULL.items():
        answer_page(site, f"/{name}", script, body)
    site.answer("/robots.txt", b"User-agent: *\nDisallow: /private/")
    site.answer("/query", b"<a href=/found>x</a>")
    given = {"Set-Cookie": "given=1; HttpOnly"}
    site.answer("/bound", BOUND.encode(), headers=given)
    options = {"scroll": True, "render_post": True, "screenshots": True}
    with contextlib.closing(IOLoop(make_current=False)) as loop:
        found = Rendered(site, loop.run_sync, directory)
        found(*FULL, "bound", max_depth=0, exclude=("/left-out",), **options)
    yield site, found, directory
    site.stop()


def test_a_list_that_grows_when_scrolled_is_loaded_to_its_end(full):
    _, found, _ = full

    assert len(found.links("/scrolled")) == 30
    assert {f"/r{number}" for number in range(28)} <= set(found.links("/virtual"))
    assert {"/used-0", "/used-7"} <= set(found.links("/virtual"))
    assert len(found.links("/boxed")) == 4
    assert len(found.links("/boxed_in_shadow")) == 4


def test_data_is_posted_if_that_is_allowed(full):
    site, found, directory = full

    assert found.links("/posting") == ["/found"]
    assert site.methods[site.paths.index("/query")] == "POST"
    assert dict(site.requests)["/query"]["Content-Length"] == "2"
    requests = records(directory, "request")
    (request,) = (each for each in requests if each[0].endswith("/query"))
    assert request[1].startswith(b"POST /query")
    assert request[1].endswith(b"\r\n\r\n{}")


def test_document_and_screenshots_are_kept_and_read_again(full, gencrawl, tmp_path):
    site, found, directory = full

    url = f"{site.url}made"
    kept = [each for each in records(directory, "resource") if each[0].endswith(url)]
    names = [f"urn:{kind}:{url}" for kind in ("view", "thumbnail", "dom")]
    assert [name for name, _ in kept] == names
    sizes = []
    for _, picture in kept[:2]:  # WebP: in the extended format, each less 1
        assert picture[:4] + picture[8:16] == b"RIFFWEBPVP8X"
        width, height = (
            int.from_bytes(picture[at : at + 3], "little") for at in (24, 27)
        )
        sizes.append((width + 1, height + 1))
    assert sizes == [(1280, 720), (640, 360)]
    assert found.stats["render/pictures"] == 2 * (len(FULL) + 1)
    report = json.loads(gencrawl("report", directory, "--format", "json").out)
    counts = {each["kind"]: each["count"] for each in report["problems"]}
    assert counts["no_description"] == len(FULL) + 1
    assert counts["no_heading"] == len(FULL)
    assert counts["no_title"] == 1
    texts = tmp_path / "texts"
    gencrawl("export", directory, "--format", "markdown", "--output", texts)
    assert any("# Heading" in path.read_text() for path in texts.glob("**/*.md"))


def test_rules_and_cookies_of_the_crawl_bind_the_browser(full):
    site, found, _ = full

    asked = {"/robots.txt", "/query", "/free", "/bound", *(f"/{name}" for name in FULL)}
    assert set(site.paths) == asked
    assert found.stats["render_refused/robots"] == 1
    sent = dict(site.requests)["/free"]["Cookie"]
    assert sorted(sent.split("; ")) == ["given=1", "own=2"]


def test_a_browser_that_cannot_start_fails_its_pages(site, rendered, monkeypatch):
    monkeypatch.setattr(browser, "NAMES", ("false",))
    answer_page(site, "/", "")

    failed = rendered(tries=1).summary.failures

    assert "cannot be started" in failed[0].outcome.error


def look_at_browsers(site, path):
    """Return the network devices and flags that browsers have when a path is asked for."""
    seen = []
    respond = site.respond

    async def look(handler):
        if handler.request.uri == path:
            for pid in browsers():
                process = pathlib.Path(f"/proc/{pid}")
                lines = (process / "net/dev").read_text().splitlines()[2:]
                devices = [line.split()[:2] for line in lines]
                seen.append((devices, (process / "cmdline").read_bytes()))
        await respond(handler)

    site.respond = look
    return seen


@pytest.mark.parametrize("has_network", [False, True])
def test_nothing_reaches_the_network_in_any_other_way(
    site, rendered, monkeypatch, has_network
):
    """Neither what is refused of the own site, nor a private address by any path."""
    ways = [way for way in browser.WAYS if has_network == (way[0] != "isolated")]
    monkeypatch.setattr(browser, "WAYS", ways)
    seen = look_at_browsers(site, "/look")
    own = site.url.removeprefix("http://").rstrip("/")
    answer_page(site, "/own", OWN_SCRIPT % {"at": own}, OWN_BODY)
    with (
        socket.create_server(("127.0.0.1", 0)) as service,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own_datagrams,
    ):
        at = f"127.0.0.1:{service.getsockname()[1]}"
        datagrams.bind(service.getsockname())
        own_datagrams.bind(("127.0.0.1", int(own.rpartition(":")[2])))
        site.redirect("/redirect", f"http://{at}/redirected")
        answer_page(site, "/", PRIVATE_SCRIPT % {"at": at}, PRIVATE_BODY % {"at": at})
        for each in (service, datagrams, own_datagrams):
            each.setblocking(False)

        found = rendered(*("", "own"), max_pages=2, deny_private=True, own_hosts={own})

        with pytest.raises(BlockingIOError):
            service.accept()
        for each in (datagrams, own_datagrams):
            with pytest.raises(BlockingIOError):
                each.recv(1)
    assert found.pages["/"].title == "done"
    assert "root:" not in found.pages["/own"].fetched.body.decode()
    assert set(site.paths) == {"/robots.txt", "/", "/own", "/redirect", "/look"}
    assert seen
    for devices, flags in () if has_network else seen:
        assert devices == [["lo:", "0"]]  # which has received nothing
        assert b"--no-sandbox" not in flags


@pytest.mark.parametrize("options", [["--no-archive", "--render", "auto"], []])
def test_screenshots_of_nothing_are_refused(site, gencrawl, directory, options):
    command = ["crawl", site.url, "--into", directory, "--screenshots", *options]

    ended = gencrawl(*command)

    assert ended.status == 2
    assert "--render auto" in ended.err


def test_a_check_reports_what_scripts_get_wrong(site, gencrawl):
    made = "document.body.innerHTML = '<p>Made'"
    script = f"{made}; console.error('no', 'data'); fetch('/gone'); new Worker('/w.js'); null.x"
    answer_page(site, "/", script)
    answer_script(site, "/w.js", b"undefined.x")

    ended = gencrawl("check", site.url, "--render", "always", "--format", "jsonl")

    lines = map(json.loads, ended.out.splitlines())
    problems = [each for each in lines if each.get("kind") == "scripts"]
    found = {each["reason"]: each for each in problems}
    assert found["script_console"]["meaning"] == "no data"
    assert found["script_console"]["line"] == 1
    assert found["script_request"]["target"] == f"{site.url}gone"
    thrown = [each for each in problems if each["reason"] == "script_exception"]
    assert {each["target"] for each in thrown} == {site.url, f"{site.url}w.js"}
    assert all("TypeError" in each["meaning"] for each in thrown)
    assert ended.status == 3
    assert "even after its scripts have run" not in ended.out
    assert "\nNot checked: forms that are sent with POST.\n" in ended.err


@pytest.mark.parametrize("is_shared", [False, True])
def test_each_process_renders_its_pages(site, gencrawl, directory, request, is_shared):
    app(site, {"/": ["/a"], "/a": []})
    options = ["--processes", 2]
    if is_shared:
        options = ["--frontier", request.getfixturevalue("postgres_url")]

    ended = gencrawl(
        *("crawl", site.url, "--into", directory, "--render", "auto", "--quiet"),
        *options,
    )

    assert ended.status == 0, ended.err
    assert "/data/a" in site.paths
    assert not browsers()


# Pages that do not end, and browsers that do.


def descendants(pid):
    """Return the processes that a process has started, and theirs."""
    found = []
    with contextlib.suppress(OSError):  # it has ended
        for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


def browsers():
    """Return the processes of this process that are browsers."""
    found = []
    for pid in descendants(os.getpid()):
        with contextlib.suppress(FileNotFoundError):  # it has ended
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"remote-debugging-pipe" in command and b"launcher.py" not in command:
                found.append(pid)
    return found


def shorten_limits(monkeypatch, *names):
    """Give some pages less time than others, which may need theirs on a busy machine."""
    render, ask = tab.Tab.render, tab.Tab._ask
    limits = {True: (1.0, datetime.timedelta(seconds=2))}
    limits[False] = loading.LIMIT_S, devtools.COMMAND_TIMEOUT

    def limit(url):
        limit_s, timeout = limits[url.endswith(names)]
        monkeypatch.setattr(loading, "LIMIT_S", limit_s)
        monkeypatch.setattr(devtools, "COMMAND_TIMEOUT", timeout)

    def render_limited(self, fetched, **options):
        limit(fetched.url)
        return (yield from render(self, fetched, **options))

    def ask_limited(self, method, **params):
        limit(self._page.url if self._page else "")
        return ask(self, method, **params)

    monkeypatch.setattr(tab.Tab, "render", render_limited)
    monkeypatch.setattr(tab.Tab, "_ask", ask_limited)


def test_pages_that_never_end_cost_themselves_only(site, rendered, monkeypatch):
    shorten_limits(monkeypatch, "/busy", "/waiting")
    answer_page(site, "/busy", "while (true) {}")
    answer_page(site, "/waiting", "fetch('/endless')")
    site.answer("/endless", b"")
    site.hold("/endless")
    links = "<a href=/busy>x</a><a href=/waiting>x</a>"
    answer_page(site, "/", f"document.body.innerHTML = '{links}'")

    found = rendered(tries=1, request_timeout_s=10.0)

    site.let_go("/endless")
    assert found.summary.left == 0
    assert set(found.pages) == {"/", "/waiting"}
    assert found.summary.count_by_reason["failed"]["not_rendered"] == 1
    assert not browsers()


def test_a_browser_or_a_part_of_it_that_ends_costs_no_page(site, rendered, monkeypatch):
    app(site, {"/": [f"/p{n}" for n in range(2)], **{f"/p{n}": [] for n in range(2)}})
    answer, render = loading.Rendering.answer, tab.Tab.render
    killed = []

    def kill_network_and_answer(self, params, session):
        """A process for the network, which would take with it what was asked for."""
        if params["request"]["url"].endswith("/app.js"):
            for pid in descendants(os.getpid()):
                command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                if b"--utility-sub-type=network" in command:
                    os.kill(pid, signal.SIGKILL)
        answer(self, params, session)

    def render_and_kill(self, fetched, **options):
        if len(killed) < 2 and "/p" in fetched.url:
            killed.append(browsers()[-len(killed)])  # the browser, and a part of it
            os.kill(killed[-1], signal.SIGKILL)
        return (yield from render(self, fetched, **options))

    monkeypatch.setattr(loading.Rendering, "answer", kill_network_and_answer)
    monkeypatch.setattr(tab.Tab, "render", render_and_kill)
    monkeypatch.setattr(devtools, "COMMAND_TIMEOUT", datetime.timedelta(seconds=4))
    found = rendered()

    assert found.pages["/"].title == "Page /"
    assert len(killed) == 2
    assert len(found.pages) == 3
    assert not found.summary.failed


def test_tabs_and_browsers_are_replaced_before_they_grow(site, rendered, monkeypatch):
    monkeypatch.setattr(pool, "PAGES_PER_TAB", 2)
    monkeypatch.setattr(pool, "MAX_BROWSER_BYTES", 1)
    app(site, {"/": [f"/p{n}" for n in range(3)], **{f"/p{n}": [] for n in range(3)}})
    started = []
    start = pool.start_browser
    monkeypatch.setattr(
        pool, "start_browser", lambda *given: started.append(given[1]) or start(*given)
    )

    found = rendered(concurrency=1)

    assert len(found.pages) == 4
    # The way that has worked is not given up for a less safe one.
    assert len(started) > 1
    assert started[0] is None
    assert started[-1] in browser.WAYS


def test_a_page_that_failed_has_a_browser_to_itself_the_next_time(
    site, rendered, monkeypatch
):
    names = [f"/p{n}" for n in range(9)]
    app(site, {"/": names, **{name: [] for name in names}})
    render = tab.Tab.render
    under_way, beside_by_try = [], []

    def render_or_fail(self, fetched, **options):
        if is_failing := fetched.url.endswith("/p0"):
            beside_by_try.append(set(under_way))
        under_way.append(fetched.url)
        try:
            if is_failing and len(beside_by_try) == 1:
                yield gen.sleep(0.3)
                raise devtools.RenderError("held up")
            rendering = yield from render(self, fetched, **options)
            if is_failing:
                beside_by_try.append(set(under_way) - {fetched.url})
            return rendering
        finally:
            under_way.remove(fetched.url)

    monkeypatch.setattr(tab.Tab, "render", render_or_fail)
    found = rendered()

    assert len(found.pages) == 10
    _, before, after = beside_by_try
    assert not before | after


def test_no_browser_outlives_a_crawl_that_is_killed_and_resumed(
    site, gencrawl, directory
):
    script = "fetch('/wait').then(() => document.body.innerHTML = '<a href=/a>x</a>')"
    answer_page(site, "/", script)
    site.page("/a")
    site.answer("/wait", b"")
    site.hold("/wait")
    command = [sys.executable, "-m", "crawler_app", "crawl", site.url, "--quiet"]
    command += ["--into", directory, "--render", "auto"]
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        # So long that the path of a socket in it would be too long.
        temporary = pathlib.Path(f"{folder}/".ljust(90, "x"))
        temporary.mkdir()
        crawl = subprocess.Popen(command, env=os.environ | {"TMPDIR": str(temporary)})
        while "/wait" not in site.paths:
            assert crawl.poll() is None
            time.sleep(0.05)
        processes = descendants(crawl.pid)
        assert os.listdir(temporary)  # of the browser

        crawl.kill()
        crawl.wait()

        deadline = time.monotonic() + 30
        while any(os.path.exists(f"/proc/{pid}") for pid in processes):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert not os.listdir(temporary)
    site.let_go("/wait")
    assert gencrawl("resume", directory, "--quiet").status == 0
    assert site.paths[-1] == "/a"
    assert not browsers()


def test_start_page_that_stays_empty_makes_a_check_incomplete(site, gencrawl):
    answer_page(site, "/", "")

    ended = gencrawl("check", site.url, "--render", "auto")

    assert ended.status == 1
    assert "even after its scripts have run" in ended.out


def test_events_of_a_session_that_has_ended_are_dropped():
    connection, heard = devtools.DevTools(), []
    connection.listen("frame", lambda method, *_: heard.append(method))
    change = {"method": "Page.changed", "sessionId": "frame", "params": {}}
    ended = {"method": "Target.detachedFromTarget", "params": {"sessionId": "frame"}}

    for event in (change, ended, change):
        connection.data_received(json.dumps(event).encode() + b"\0")

    assert heard == ["Page.changed"]


def test_without_chromium_an_error_says_how_to_install_it(
    site, gencrawl, directory, monkeypatch
):
    monkeypatch.setattr(browser, "NAMES", ())

    ended = gencrawl("crawl", site.url, "--into", directory, "--render", "auto")

    assert ended.status == 2
    assert "apt install chromium" in ended.err
    assert not directory.exists()
