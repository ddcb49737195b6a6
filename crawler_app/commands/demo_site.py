"""The demo site: a small web site on loopback, for ``gencrawl demo``.

It has about 65 pages of a fictional observatory, generated from the tables below, so that
each crawl sees the same site.  It does not depend on the crawler.

To be seen in the summary of a crawl::

    /robots.txt                 disallows /staff/, except /staff/contact.html
    /sitemap.xml                the only way to /visit/opening-hours.html
    /guide                      301 to /guide/, like every directory without its slash
    /handbook.html              301 to /guide/
    /manual.html                302 to /handbook.html: two hops to the same page
    /sky/today, tonight, now    a redirect loop
    /partner                    302 to http://elsewhere.invalid/, another host
    /guide/sketch-map.html      404, linked by every article of the guide
    /news/2022/                 410, linked by every article of the news
    /sky/webcam.html            500, always
    /catalogue/?page=1          the same page as /catalogue/

After `DemoSite.change`, a second crawl finds::

    /sky/weather.html           changed text
    /news/2023/11/power-cut     404, and no longer linked
    /news/2024/12/...           new
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.template import Template
from tornado.web import Application, HTTPError, RedirectHandler, RequestHandler

from gencoro import gen

__all__ = ["DemoSite"]

Link: TypeAlias = tuple[str, str]  # href, text

# Tornado escapes the values in double braces.
LAYOUT = Template("""\
<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<title>{{ title }} | Pinewood Observatory</title>
</head>
<body>
<nav><a href="/">Home</a> <a href="../">Up</a> <a href="/catalogue/">Catalogue</a></nav>
<h1 id="top">{{ title }}</h1>
<p>{{ text }}</p>
<ul>
{% for href, name in links %}<li><a href="{{ href }}">{{ name }}</a></li>
{% end %}</ul>
<footer><a href="#top">To the top</a></footer>
</body>
</html>
""")

# Path and text.  Each directory above a page is a page too, even without a line here.
OUTLINE = """\
/ A hill, three telescopes and a catalogue of double stars. Open whenever it is clear.
/guide/telescopes/reflectors/washing-the-mirror Never rub: dust is sand.
/guide/telescopes/reflectors/collimation One screw at a time, on a star near the zenith.
/guide/telescopes/refractors/dew A cardboard tube keeps the lens drier than a heater.
/guide/telescopes/refractors/false-color Vega's violet rim is the glass, not the star.
/guide/observing/by-eye/dark-adaptation Gained in twenty minutes, lost to one headlight.
/guide/observing/by-eye/averted-vision Look beside the galaxy in order to see it.
/guide/observing/outdoors/red-lights Lamps on the path are red & dim.
/guide/observing/outdoors/the-bog Keep to the boards <always>.
/news/2023/05/marten-in-the-dome It slept in the dew shield and was in no hurry.
/news/2023/05/new-roof It rolls off in ninety seconds, with one hand.
/news/2023/11/leonids Eleven meteors in an hour, and then fog.
/news/2023/11/power-cut No town lights for two hours: the best night of the year.
/news/2024/05/aurora Red to the zenith; the camera was overexposed.
/news/2024/05/pine-felled The north-west horizon is two degrees lower.
/news/2024/10/nova-confirmed Our note was the third in the world, by an hour.
/news/2024/10/list-complete The last star of the catalogue has its hundredth measure.
/sky/ Clouds decide; here is what we know about them.
/sky/weather Wind from the north, and no cloud.
/sky/seeing One point eight arc seconds.
/staff/ For those with a key.
/staff/rota Mondays: Ines. All other nights: Ines.
/staff/contact Ring the bell at the gate, twice.
"""

# The differences on a second visit.
CHANGED_LATER = {"/sky/weather": "Fog since noon."}
NEW_LATER = {"/news/2024/12/open-day": "Two hundred visitors, and one cloud."}
GONE_LATER = ("/news/2023/11/power-cut",)

# Extra links, besides those from a directory to its contents; /* means every article of
# a section.
LINKS: Mapping[str, Sequence[Link]] = {
    "/": (
        ("guide", "Guide for visitors"),
        ("handbook.html", "Handbook of 2009"),
        ("manual.html", "Manual of 1998"),
        ("catalogue/", "Double stars"),
        ("partner", "Our partner observatory"),
        ("mailto:dome@elsewhere.invalid", "Write to us"),
    ),
    "/guide/*": (("../../sketch-map.html", "Sketch map"),),
    "/news/*": (("/news/2022/", "Older news"),),
    "/sky/": (("webcam.html", "Webcam"), ("today", "Now")),
}

# Path -> target, and whether it is permanent (301) or temporary (302).
REDIRECTS = {
    "/handbook.html": ("/guide/", True),
    "/manual.html": ("/handbook.html", False),
    "/sky/today": ("/sky/tonight", False),
    "/sky/tonight": ("/sky/now", False),
    "/sky/now": ("/sky/today", False),
    "/partner": ("http://elsewhere.invalid/", False),
}

STATUS_BY_PATH = {"/news/2022/": 410, "/sky/webcam.html": 500}

TEXTS = {
    "/robots.txt": """\
User-agent: *
Disallow: /staff/
Allow: /staff/contact.html
Sitemap: {site}sitemap.xml
""",
    "/sitemap.xml": """\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{site}</loc></url>
<url><loc>{site}visit/opening-hours.html</loc></url>
</urlset>
""",
}

CONSTELLATIONS = """Andromedae Aquarii Aquilae Aurigae Bootis Cassiopeiae Cygni Draconis
    Geminorum Herculis Leonis Lyrae"""
STARS = [
    f"{letter} {n}" for n in CONSTELLATIONS.split() for letter in ("Alpha", "Beta")
]
STARS_PER_LIST = 8


def _pages(url: str, outline: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files of the site at this URL, by path or by path and query."""
    text_by_path = _text_by_path(outline)
    pages = {path: _outlined(path, text_by_path) for path in text_by_path}
    pages |= _catalogue()
    pages["/catalogue/"] = pages["/catalogue/?page=1"]
    hours = _page("Opening hours", "From dusk, if it is clear.", ())
    pages["/visit/opening-hours.html"] = hours
    return pages | {
        path: text.format(site=url).encode() for path, text in TEXTS.items()
    }


def _page(title: str, text: str, links: Iterable[Link]) -> bytes:
    body: bytes = LAYOUT.generate(title=title, text=text, links=links)
    return body


def _outline() -> dict[str, str]:
    """Return the texts of OUTLINE by path."""
    return dict(line.split(" ", 1) for line in OUTLINE.splitlines())


def _later(outline: Mapping[str, str]) -> dict[str, str]:
    """Return an outline as it is on a second visit."""
    later = {**outline, **CHANGED_LATER, **NEW_LATER}
    return {path: text for path, text in later.items() if path not in GONE_LATER}


def _text_by_path(outline: Mapping[str, str]) -> Mapping[str, str]:
    """Return the texts of all pages, including directories that are not in the outline."""
    text_by_path = {}
    for path, text in outline.items():
        text_by_path[path if path.endswith("/") else f"{path}.html"] = text
        while (path := _directory_of(path)) != "/":
            text_by_path.setdefault(path, "Under this heading:")
    return text_by_path


def _outlined(path: str, text_by_path: Mapping[str, str]) -> bytes:
    """Return the page of a path; a directory links to its contents."""
    inside = [
        (other.removeprefix(path), _title(other))
        for other in text_by_path
        if _directory_of(other) == path != other
    ]
    article = f"/{path.split('/')[1]}/*"
    more = LINKS.get(path if path.endswith("/") else article, ())
    return _page(_title(path), text_by_path[path], [*inside, *more])


def _directory_of(path: str) -> str:
    """Return the directory that a page or another directory is in.

    >>> _directory_of("/sky/seeing.html"), _directory_of("/sky/"), _directory_of("/")
    ('/sky/', '/', '/')
    """
    return path.rstrip("/").rpartition("/")[0] + "/"


def _title(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2].removesuffix(".html")
    return name.replace("-", " ").capitalize() or "Welcome"


def _catalogue() -> Iterator[tuple[str, bytes]]:
    """Yield the lists of stars and the page of each star."""
    stars = [(f"pw-{n:02}.html", name) for n, name in enumerate(STARS, 1)]
    starts = range(0, len(stars), STARS_PER_LIST)
    lists = [(f"./?page={n}", f"List {n}") for n, _ in enumerate(starts, 1)]
    for n, start in enumerate(starts, 1):
        batch = stars[start : start + STARS_PER_LIST]
        body = _page(f"Double stars, list {n}", "By constellation.", batch + lists)
        yield f"/catalogue/?page={n}", body
    for n, (href, name) in enumerate(stars):
        arc_seconds = 0.4 + n * 53 % 97 / 10  # only has to look measured
        text = f'Number {n + 1}. Its companion stands {arc_seconds:.1f}" away.'
        yield f"/catalogue/{href}", _page(name, text, [lists[n // STARS_PER_LIST]])


class PageHandler(RequestHandler):
    """Answers with a page, a redirect to a directory, or an error status."""

    def get(self) -> None:
        pages: Mapping[str, bytes] = self.settings["pages"]
        path = self.request.path
        body = pages.get(self.request.uri or path) or pages.get(path)
        if body is not None:
            if path in TEXTS:
                self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(body)
        elif f"{path}/" in pages:
            self.redirect(f"{path}/", permanent=True)
        else:
            raise HTTPError(STATUS_BY_PATH.get(path, 404))


class DemoSite:
    """The demo site, on 127.0.0.1 and a free port.

    Attributes:
        url: URL of the home page; empty until `start`.
    """

    def __init__(self) -> None:
        self.url = ""
        self._server: HTTPServer | None = None
        self._application: Application | None = None

    def start(self) -> None:
        """Start serving, on the current loop.

        Raises:
            RuntimeError: the site is already being served.
        """
        if self._server is not None:
            raise RuntimeError(f"{self.url} is already being served; stop() it first")
        sockets = bind_sockets(0, "127.0.0.1")
        self.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/"
        self._application = self._make_application()
        self._server = HTTPServer(self._application)
        self._server.add_sockets(sockets)

    def change(self) -> None:
        """Change the site: one page is added, one changed and one removed.

        Raises:
            RuntimeError: the site is not being served.
        """
        if self._server is None or self._application is None:
            raise RuntimeError("the site is not being served; start() it first")
        self._application.settings["pages"] = _pages(self.url, _later(_outline()))

    @gen.coroutine
    def stop(self) -> Generator[Any, Any, None]:
        """Close the server and its connections."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()
            yield server.close_all_connections()

    def _make_application(self) -> Application:
        routes: list[Any] = [
            (path, RedirectHandler, {"url": target, "permanent": permanent})
            for path, (target, permanent) in REDIRECTS.items()
        ]
        return Application(
            [*routes, (".*", PageHandler)],
            pages=_pages(self.url, _outline()),
            # Tornado would print each 404, which the crawler reports anyway.
            log_function=lambda _handler: None,
        )
