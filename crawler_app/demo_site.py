"""A small real web site on loopback, for ``python -m crawler_app demo``.

The pages of a fictional observatory, about 150 of them, and one of everything that
makes crawling harder than it looks.  All is made from the tables below, so that two
crawls see the same site.  It knows nothing of the crawler that reads it.

The sights, to recognize them in the summary of a crawl::

    /robots.txt                 disallows /staff/, but for /staff/contact.html
    /sitemap.xml                the only way to /visit/opening-hours.html
    /staff/, /staff/rota.html   linked, and not for robots
    /guide                      301 to /guide/, as each directory without its slash
    /handbook.html              301 to /guide/
    /manual.html                302 to /handbook.html: two hops to the same page
    /sky/today, tonight, now    redirect in a circle
    /partner                    302 to http://elsewhere.invalid/, another host
    /guide/sketch-map.html      404, linked by every article of the guide
    /news/2022/                 410, linked by every article of the news
    /sky/webcam.html            500, always
    /sky/weather.html           503 with Retry-After: 1 at first, then 200
    /sky/seeing.html            takes slow_s seconds
    /sky/almanac.html           gzip, asked for or not
    /data/all-sky.raw           large_bytes long, chunked, its length not announced
    /data/readme.txt            plain text: the HTML in it is no link
    /friends/ru.html            windows-1251, as only its meta tag says
    /friends/ja.html            Shift_JIS, as only its header says
    /catalogue/?page=1          the same page as /catalogue/
    /news/...                   <base href="/news/"> on every page
    /draft/...                  in comments, scripts and text only: not to be asked for
    /dome/night-log.html        200, but no page links to it: not to be found

After `DemoSite.change`, a second crawl finds::

    /sky/weather.html           another text
    /news/2023/11/power-cut     404, and no longer linked
    /news/2024/12/...           new
"""

import asyncio
import contextlib
import gzip
import itertools
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.netutil import bind_sockets
from tornado.template import Template
from tornado.web import Application, HTTPError, RedirectHandler, RequestHandler

from gencoro import gen

__all__ = ["DemoSite"]

Link: TypeAlias = tuple[str, str]  # href, text
Answer: TypeAlias = tuple[Mapping[str, str], bytes]  # headers, body

# Tornado escapes whatever stands in double braces.
LAYOUT = Template("""\
<!DOCTYPE html>
<html>
<head>
{% if page.meta %}<meta charset="{{ page.meta }}">{% end %}
<title>{{ page.title }} | Pinewood Observatory</title>
{% if page.base %}<base href="{{ page.base }}">{% end %}
</head>
<body>
<nav><a href="/">Home</a> <a href="../">Up</a> <a href="/catalogue/">Catalogue</a></nav>
<!-- Not before spring: <a href="/draft/open-day.html">Open day</a> -->
<h1 id="top">{{ page.title }}</h1>
<p>{{ page.text }}</p>
<ul>
{% for href, text in page.links %}<li><a href="{{ href }}">{{ text }}</a></li>
{% end %}</ul>
<script>const menu = '<a href="/draft/menu.html">Menu</a>';</script>
<footer><a href="#top">To the top</a></footer>
</body>
</html>
""")

# Path and text.  A directory above a page is a page too, with or without a line here.
OUTLINE = """\
/ A hill, three telescopes and ninety double stars. Open whenever it is clear.
/catalogue/ By constellation.
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
/news/2023/09/comet-at-dawn Forty visitors saw a tail three degrees long.
/news/2023/09/clock-repaired Sidereal time is right again, after nine years.
/news/2023/11/leonids Eleven meteors in an hour, and then fog.
/news/2023/11/power-cut No town lights for two hours: the best night of the year.
/news/2024/02/frost-on-the-grating The spectrograph now lives in a picnic box.
/news/2024/02/school-night Ninety children, one Moon, no broken eyepiece.
/news/2024/05/aurora Red to the zenith; the camera was overexposed.
/news/2024/05/pine-felled The north-west horizon is two degrees lower.
/news/2024/10/nova-confirmed Our note was the third in the world, by an hour.
/news/2024/10/list-complete The ninetieth star has its hundredth measure.
/sky/ Clouds decide; here is what we know about them.
/sky/weather Wind from the north, and no cloud.
/sky/seeing Measured while you wait: 1.8 arc seconds.
/data/ One long exposure, and how to read it.
/friends/ Observatories abroad, which write to us in letters of their own.
/staff/ For those with a key.
/staff/rota Mondays: Ines. All other nights: Ines.
/staff/contact Ring the bell at the gate, twice.
"""

# What is different at a second visit.
CHANGED_LATER = {"/sky/weather": "Fog since noon."}
NEW_LATER = {"/news/2024/12/open-day": "Two hundred visitors, and one cloud."}
GONE_LATER = ("/news/2023/11/power-cut",)

# Links beyond those from a directory to what is in it; /* is each article of a section.
LINKS: Mapping[str, Sequence[Link]] = {
    "/": (
        ("guide", "Guide for visitors"),
        ("handbook.html", "Handbook of 2009"),
        ("manual.html", "Manual of 1998"),
        ("guide/../news/#top", "What is new"),
        ("{site}catalogue/#top", "Double stars"),
        ("./staff/contact.html", "Contact"),
        ("partner", "Our partner observatory"),
        ("mailto:dome@elsewhere.invalid", "Write to us"),
        ("javascript:print()", "Print this page"),
        ("data:text/plain,Clear%20skies", "A greeting"),
    ),
    "/guide/*": (("../../sketch-map.html", "Sketch map"), ("../../", "All the guide")),
    "/news/*": (("2022/", "Older news"), ("./", "All news")),
    "/sky/": (("webcam.html", "Webcam"), ("almanac.html", "Almanac"), ("today", "Now")),
    "/data/": (("all-sky.raw", "All-sky frame"), ("readme.txt", "Read me")),
    "/friends/": (("ru.html", "Sosnovka"), ("ja.html", "Matsubara")),
}

# Path -> target, and whether it is for ever (301) or for now (302).
REDIRECTS = {
    "/handbook.html": ("/guide/", True),
    "/manual.html": ("/handbook.html", False),
    "/sky/today": ("/sky/tonight", False),
    "/sky/tonight": ("/sky/now", False),
    "/sky/now": ("/sky/today", False),
    "/partner": ("http://elsewhere.invalid/", False),
}

# Path -> status of the first answer, and of all that follow.
STATUSES = {
    "/news/2022/": (410, 410),
    "/sky/webcam.html": (500, 500),
    "/sky/weather.html": (503, 200),
}

ROBOTS = """\
User-agent: *
Disallow: /staff/
Allow: /staff/contact.html
Sitemap: {site}sitemap.xml
"""
SITEMAP = """\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{site}</loc></url>
<url><loc>{site}visit/opening-hours.html</loc></url>
</urlset>
"""
TEXTS = {
    "/robots.txt": ROBOTS,
    "/sitemap.xml": SITEMAP,
    "/data/readme.txt": "16 bits a pixel. See <a href='/draft/index.html'>there</a>.\n",
}

CONSTELLATIONS = """Andromedae Aquarii Aquilae Aurigae Bootis Cassiopeiae Cygni Draconis
    Geminorum Herculis Leonis Lyrae Orionis Pegasi Virginis"""
LETTERS = "Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta"
STARS = [f"{letter} {name}" for name in CONSTELLATIONS.split() for letter in LETTERS]
STARS_PER_LIST = 15

# What the all-sky camera sees: 64 KiB, sent as often as it takes.
RAW_SKY = bytes(range(256)) * 256


@dataclass(frozen=True)
class Page:
    """One HTML page; ``meta`` and ``header`` are its charset, as told there or not."""

    title: str
    text: str
    links: Sequence[Link] = ()
    base: str = ""
    meta: str = "utf-8"
    header: str = "utf-8"
    gzipped: bool = False

    def answer(self) -> Answer:
        charset = f"; charset={self.header}" if self.header else ""
        headers = {"Content-Type": f"text/html{charset}"}
        body = LAYOUT.generate(page=self).decode().encode(self.meta or self.header)
        if not self.gzipped:
            return headers, body
        return {**headers, "Content-Encoding": "gzip"}, gzip.compress(body)


# What the outline cannot tell: charsets, encodings, and a page that nobody links to.
SINGLE_PAGES = {
    "/friends/ru.html": Page(
        "Сосновка", "Ясных ночей!", meta="windows-1251", header=""
    ),
    "/friends/ja.html": Page("松原", "星がよく見えます。", meta="", header="Shift_JIS"),
    "/sky/almanac.html": Page("Almanac", "Full Moon on the 17th.", gzipped=True),
    "/dome/night-log.html": Page("Night log", "03:10, cloud. Nobody reads this."),
    "/visit/opening-hours.html": Page("Opening hours", "From dusk, if it is clear."),
}


def _answers(url: str, outline: Mapping[str, str]) -> Mapping[str, Answer]:
    """Return what the site with this URL answers, by path, or by path and query."""
    text_by_path = _text_by_path(outline)
    pages = {path: _outlined(path, text_by_path, url) for path in text_by_path}
    pages |= SINGLE_PAGES
    pages |= _catalogue()
    pages["/catalogue/"] = pages["/catalogue/?page=1"]
    texts = {path: _text_answer(path, text, url) for path, text in TEXTS.items()}
    return {**texts, **{path: page.answer() for path, page in pages.items()}}


def _text_answer(path: str, text: str, url: str) -> Answer:
    kind = "application/xml" if path.endswith(".xml") else "text/plain; charset=utf-8"
    return {"Content-Type": kind}, text.format(site=url).encode()


def _outline() -> dict[str, str]:
    """Return the texts of OUTLINE by path."""
    lines = (line.split(" ", 1) for line in OUTLINE.splitlines())
    return {path: text for path, text in lines}


def _later(outline: Mapping[str, str]) -> dict[str, str]:
    """Return an outline as it is at a second visit.

    Raises:
        ValueError: it does not have what is to change, or has what is to be new.
    """
    missing = (CHANGED_LATER.keys() | set(GONE_LATER)) - outline.keys()
    if missing or NEW_LATER.keys() & outline.keys():
        raise ValueError(
            f"the outline must have {sorted(CHANGED_LATER)} and {sorted(GONE_LATER)}, "
            f"and not {sorted(NEW_LATER)}"
        )
    later = {**outline, **CHANGED_LATER, **NEW_LATER}
    return {path: text for path, text in later.items() if path not in GONE_LATER}


def _text_by_path(outline: Mapping[str, str]) -> Mapping[str, str]:
    """Return the texts of all pages: an outline's, and of directories not in it."""
    text_by_path = {}
    for path, text in outline.items():
        text_by_path[path if path.endswith("/") else f"{path}.html"] = text
        while (path := _directory_of(path)) != "/":
            text_by_path.setdefault(path, "Under this heading:")
    return text_by_path


def _outlined(path: str, text_by_path: Mapping[str, str], url: str) -> Page:
    """Return the page of one line; that of a directory links to all that is in it."""
    section = f"/{path.split('/')[1]}/"
    base = section if section == "/news/" else ""
    inside = [
        (other.removeprefix(base or path), _title(other))
        for other in text_by_path
        if _directory_of(other) == path != other
    ]
    more = LINKS.get(path if path.endswith("/") else f"{section}*", ())
    links = inside + [(href.format(site=url), name) for href, name in more]
    return Page(_title(path), text_by_path[path], links, base)


def _directory_of(path: str) -> str:
    """Return the directory that a page or another directory is in.

    >>> _directory_of("/sky/seeing.html"), _directory_of("/sky/"), _directory_of("/")
    ('/sky/', '/', '/')
    """
    return path.rstrip("/").rpartition("/")[0] + "/"


def _title(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2].removesuffix(".html")
    return name.replace("-", " ").capitalize() or "Welcome"


def _catalogue() -> Iterator[tuple[str, Page]]:
    """Yield the lists of stars and the page of each star."""
    stars = [(f"pw-{n:02}.html", name) for n, name in enumerate(STARS, 1)]
    starts = range(0, len(stars), STARS_PER_LIST)
    lists = [(f"./?page={n}", f"List {n}") for n, _ in enumerate(starts, 1)]
    for n, start in enumerate(starts, 1):
        batch = stars[start : start + STARS_PER_LIST]
        page = Page(f"Double stars, list {n}", "By constellation.", batch + lists)
        yield f"/catalogue/?page={n}", page
    for n, (href, name) in enumerate(stars):
        arc_seconds = 0.4 + n * 53 % 97 / 10  # only has to look measured
        text = f'Number {n + 1}. Its companion stands {arc_seconds:.1f}" away.'
        neighbors = stars[max(0, n - 1) : n] + stars[n + 1 : n + 2]
        links = [*neighbors, lists[n // STARS_PER_LIST]]
        yield f"/catalogue/{href}", Page(name, text, links)


class PageHandler(RequestHandler):
    """Answers with what is at this path, or says where it is, or that it is not."""

    def get(self) -> "gen.Future[None] | None":
        answers: Mapping[str, Answer] = self.settings["answers"]
        path = self.request.path
        answer = answers.get(self.request.uri or path) or answers.get(path)
        if answer is not None:
            headers, body = answer
            for name, value in headers.items():
                self.set_header(name, value)
            self.finish(body)
        elif f"{path}/" in answers:
            self.redirect(f"{path}/", permanent=True)
        else:
            raise HTTPError(404)
        return None


class SlowHandler(PageHandler):
    def initialize(self, slow_s: float) -> None:
        self.nap = gen.sleep(slow_s)

    @gen.coroutine
    def get(self) -> Generator[Any, Any, None]:
        # A reader who hangs up ends the nap, not this coroutine.
        with contextlib.suppress(asyncio.CancelledError):
            yield self.nap
        super().get()

    def on_connection_close(self) -> None:
        self.nap.cancel()


class FailingHandler(PageHandler):
    """Answers with one status after the other; 200 stands for the page."""

    def initialize(self, statuses: Iterator[int]) -> None:
        self.statuses = statuses

    def get(self) -> None:
        status = next(self.statuses)
        if status == 200:
            super().get()
            return
        self.set_status(status)
        if status == 503:
            self.set_header("Retry-After", "1")
        self.write_error(status)


class LargeHandler(RequestHandler):
    def initialize(self, large_bytes: int) -> None:
        self.large_bytes = large_bytes

    @gen.coroutine
    def get(self) -> Generator[Any, Any, None]:
        self.set_header("Content-Type", "application/octet-stream")
        # A crawler with a size limit hangs up in the middle.
        with contextlib.suppress(StreamClosedError):
            for left in range(self.large_bytes, 0, -len(RAW_SKY)):
                self.write(RAW_SKY[:left])
                # Done when the socket has taken it: one chunk is in memory, no more.
                yield self.flush()


class DemoSite:
    """The site, on 127.0.0.1.

    Args:
        port: 0 takes any that is free.
        slow_s: Seconds that the slow page takes.
        large_bytes: Size of the large file.

    Attributes:
        url: Of the home page; empty until `start`.

    >>> from tornado.httpclient import AsyncHTTPClient
    >>> from gencoro.ioloop import IOLoop
    >>> @gen.coroutine
    ... def main():
    ...     site = DemoSite()
    ...     site.start()
    ...     response = yield AsyncHTTPClient().fetch(f"{site.url}robots.txt")
    ...     yield site.stop()
    ...     return response.body.splitlines()[1]
    >>> loop = IOLoop(make_current=False)
    >>> loop.run_sync(main)
    b'Disallow: /staff/'
    >>> loop.close()
    """

    def __init__(
        self, port: int = 0, *, slow_s: float = 1.0, large_bytes: int = 20 * 1024 * 1024
    ) -> None:
        self.url = ""
        self._port = port
        self._slow_s = slow_s
        self._large_bytes = large_bytes
        self._server: HTTPServer | None = None
        self._application: Application | None = None

    def start(self) -> None:
        """Serve from now on, on the current loop.

        Raises:
            OSError: the port is taken.
            RuntimeError: the site is being served already.
        """
        if self._server is not None:
            raise RuntimeError(f"{self.url} is being served already; stop() it first")
        sockets = bind_sockets(self._port, "127.0.0.1")
        self.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/"
        self._application = self._make_application()
        self._server = HTTPServer(self._application)
        self._server.add_sockets(sockets)

    def change(self) -> None:
        """Let some time go by: one page is new, one is another, one is gone.

        Raises:
            RuntimeError: the site is not being served.
        """
        if self._server is None or self._application is None:
            raise RuntimeError("the site is not being served; start() it first")
        answers = _answers(self.url, _later(_outline()))
        self._application.settings["answers"] = answers

    @gen.coroutine
    def stop(self) -> Generator[Any, Any, None]:
        """Close the server and its connections, also those that wait for an answer."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()
            yield server.close_all_connections()

    def _make_application(self) -> Application:
        routes: list[Any] = [
            ("/data/all-sky.raw", LargeHandler, {"large_bytes": self._large_bytes}),
            ("/sky/seeing.html", SlowHandler, {"slow_s": self._slow_s}),
        ]
        for path, (first, later) in STATUSES.items():
            statuses = itertools.chain([first], itertools.repeat(later))
            routes.append((path, FailingHandler, {"statuses": statuses}))
        for path, (target, permanent) in REDIRECTS.items():
            options = {"url": target, "permanent": permanent}
            routes.append((path, RedirectHandler, options))
        return Application(
            [*routes, (".*", PageHandler)],
            answers=_answers(self.url, _outline()),
            # Tornado's prints each 404; whoever crawls this site reports them anyway.
            log_function=lambda _handler: None,
        )
