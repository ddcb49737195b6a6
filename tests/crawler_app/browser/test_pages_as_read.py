"""Pages as the crawler reads them, compared with Chromium: charset, base and links.

The pages are put together at random from parts that depend on each other.  Scripts are
disabled in Chromium, because the crawler has none.
"""

import contextlib
import http.server
import random
import threading

import pytest

from crawler_app.base.urls import join_or_nothing
from crawler_app.web.documents.html import parse_html
from tests.helpers.fuzzing import examples
from tests.helpers.http.threaded import EndsConnections

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

# No UTF-8.
END = b"<body>\xd0\xcf"

READ = """
const [count, done] = arguments;
async function read(number) {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-same-origin";
    frame.src = "/" + number;
    await new Promise((loaded) => {
        frame.onload = loaded;
        document.body.append(frame);
    });
    const page = frame.contentDocument;
    // The crawler takes an <a href> in MathML for a link too, as Firefox does.
    const links = [...page.querySelectorAll("a, area")]
        .filter((link) => link.matches(":any-link, [href]"))
        .map((link) => link.getAttribute("href") ?? link.getAttribute("xlink:href"));
    const found = [page.characterSet.toLowerCase(), page.baseURI, links];
    frame.remove();
    return found;
}
(async () => {
    const found = [];
    for (let number = 0; number < count; number++) found.push(await read(number));
    done(found);
})();
"""


class Server(EndsConnections, http.server.ThreadingHTTPServer):
    """Its connections do not outlive it, although Chromium keeps them."""


@contextlib.contextmanager
def served(pages):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            name = self.path[1:]
            self.send_response(200)
            # A frame whose page declares no charset has that of the outer page.
            outer = "text/html; charset=windows-1252"
            self.send_header("Content-Type", "text/html" if name else outer)
            self.end_headers()
            self.wfile.write(pages[int(name)] if name.isdecimal() else b"<body>")

        def log_message(self, *arguments):
            """Say nothing."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def random_page(seed):
    source = random.Random(seed)
    parts = source.choices(PARTS, k=source.randint(1, 12))
    return "".join(part.replace("{}", str(n)) for n, part in enumerate(parts)).encode()


@pytest.mark.parametrize("start", range(0, examples(AT_ONCE), AT_ONCE))
def test_page_is_read_as_in_chromium(chromium, start):
    pages = [random_page(start + seed) + END for seed in range(AT_ONCE)]
    with served(pages) as address:
        chromium.get(address)
        read = chromium.execute_async_script(READ, len(pages))

    different = {}
    for number, (page, (charset, base, links)) in enumerate(
        zip(pages, read, strict=True)
    ):
        found = parse_html(page, "text/html")
        url = f"{address}{number}"
        found_base = join_or_nothing(url, found.base) or url
        ours = [found.charset, found_base, found.links]
        if ours != [charset, base, list(dict.fromkeys(links))]:
            different[page] = ours, [charset, base, links]
    assert different == {}
