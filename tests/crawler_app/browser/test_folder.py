"""A folder that was exported looks in Chromium as the pages do on their site."""

import base64
import hashlib

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU"
    "5ErkJggg=="
)
CSS = b"@import 'b.css'; h1 { font: 40px serif; color: red }"
INTEGRITY = f"sha256-{base64.b64encode(hashlib.sha256(CSS).digest()).decode()}"
HOME = f"""<!doctype html><base href=/docs/>
<link rel=stylesheet href=../s/a.css?v=1 integrity="{INTEGRITY}" crossorigin>
<body style="background: url(/i.png)"><h1>Home</h1>
<img srcset="/i.png 1x, /i.png 2x" width=90 height=90><script src=/s.js></script>
<a href=/latin>x</a>"""
LATIN = "<!doctype html><link rel=stylesheet href=/s/a.css?v=1><h1>\u00fc \u00e9"


def test_folder_looks_like_the_site(chromium, site, gencrawl, tmp_path):
    files = {
        "/": (HOME.encode(), "text/html"),
        "/latin": (LATIN.encode("latin-1"), "text/html; charset=latin-1"),
        "/s/a.css?v=1": (CSS, "text/css"),
        "/s/b.css": (
            b"h1 { border: 9px solid; background: url(../i.png) }",
            "text/css",
        ),
        "/s.js": (b"document.querySelector('h1').append('!')", "text/javascript"),
        "/i.png": (PNG, "image/png"),
    }
    for path, (body, kind) in files.items():
        site.answer(path, body, headers={"Content-Type": kind})
    crawl, folder = tmp_path / "crawl", tmp_path / "folder"
    assert gencrawl("crawl", site.url, "--into", crawl, "-q").status == 0
    command = ("export", crawl, "--format", "folder", "--output", folder)
    assert gencrawl(*command).status == 0

    def look(url):
        chromium.get(url)
        return chromium.get_screenshot_as_base64()

    for path, name in (("", "index.html"), ("latin", "latin.html")):
        assert look(f"{site.url}{path}") == look(f"{(folder / name).as_uri()}")
    plain = tmp_path / "plain.html"
    plain.write_text("<!doctype html><h1>Home!")
    assert look(plain.as_uri()) != look((folder / "index.html").as_uri())
