"""ReplayWeb.page shows a page of a WACZ as it was on its site.

Skipped, with the reason, where the package of ReplayWeb.page is missing.
"""

import base64
import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from crawler_app.show.browse.player import player_files
from tests.helpers.replay_package import replay_package, shown_in_replay

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU"
    "5ErkJggg=="
)
PAGE = b"""<!doctype html><link rel=stylesheet href=css/a.css><h1 id=h>Home</h1>
<img id=i src=a.png><div id=d>x</div><script src=s.js></script>"""
VIEWER = """<!doctype html><script src="ui.js"></script>
<replay-web-page source="crawl.wacz" url="{url}" replayBase="./" embed="replayonly">
</replay-web-page>"""

LOOK = """
if (!page.getElementById('i').naturalWidth || !page.title) return null;
const style = (id) => page.defaultView.getComputedStyle(page.getElementById(id));
return [page.title, style('h').color, style('d').backgroundImage.includes('b.png')];
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def viewer(tmp_path):
    """Serve a folder with ReplayWeb.page; return the folder and its URL."""
    files = player_files(replay_package(), tmp_path)
    folder = tmp_path / "viewer"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    handler = functools.partial(_Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_page_looks_as_on_its_site(chromium, site, viewer, gencrawl, tmp_path):
    crawl = tmp_path / "crawl"
    css, script = {"Content-Type": "text/css"}, {"Content-Type": "text/javascript"}
    site.answer("/", PAGE)
    site.answer(
        "/css/a.css", b"@import 'b.css'; h1 { color: rgb(1, 2, 3) }", headers=css
    )
    site.answer("/css/b.css", b"#d { background: url(../b.png) }", headers=css)
    site.answer("/s.js", b"document.title = 'scripted'", headers=script)
    for path in ("/a.png", "/b.png"):
        site.answer(path, PNG, headers={"Content-Type": "image/png"})
    gencrawl("crawl", site.url, "--into", crawl, "--quiet")
    site.stop()
    folder, home = viewer
    gencrawl.into(folder / "crawl.wacz", "export", crawl, "--format", "wacz")
    (folder / "index.html").write_text(VIEWER.format(url=site.url))

    chromium.get(home)

    assert shown_in_replay(chromium, LOOK) == ["scripted", "rgb(1, 2, 3)", True]
