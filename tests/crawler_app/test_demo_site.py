"""The demo site: each sight is there, and a walk along its links finds the rest."""

import asyncio
import logging
import tracemalloc
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.iostream import StreamClosedError
from tornado.tcpclient import TCPClient

from crawler_app import demo_site
from crawler_app.demo_site import DemoSite
from gencoro import gen
from gencoro.ioloop import IOLoop


def run_with_site(visit, **options):
    """Run a coroutine, given a site that is being served, on a loop of its own."""

    @gen.coroutine
    def main():
        site = DemoSite(**{"slow_s": 0.01, "large_bytes": 100_000} | options)
        site.start()
        try:
            return (yield visit(site))
        finally:
            yield site.stop()

    loop = IOLoop(make_current=False)
    try:
        return loop.run_sync(main, timeout=30)
    finally:
        loop.close()


def fetch(*paths, **options):
    """Return the responses for some paths of one site, asked for one by one."""

    @gen.coroutine
    def visit(site):
        responses = []
        for path in paths:
            responses.append((yield get(site.url + path, **options)))
        return responses

    return run_with_site(visit)


def get(url, **options):
    return AsyncHTTPClient().fetch(
        url, follow_redirects=False, raise_error=False, **options
    )


@gen.coroutine
def connect_and_ask(site, path):
    """Return a stream on which a page was asked for, and nothing was read."""
    client = TCPClient()
    stream = yield client.connect("127.0.0.1", urlsplit(site.url).port)
    client.close()
    yield stream.write(f"GET /{path} HTTP/1.1\r\nHost: pinewood\r\n\r\n".encode())
    return stream


class LinkParser(HTMLParser):
    """Collects the <a href> of one page as absolute URLs without fragments."""

    def __init__(self, url):
        super().__init__()
        self.base = url
        self.links = []

    def handle_starttag(self, tag, attrs):
        href = dict(attrs).get("href")
        if tag == "base":
            self.base = urljoin(self.base, href)
        elif tag == "a":
            self.links.append(urldefrag(urljoin(self.base, href)).url)


def links_of(url, response):
    if not response.headers.get("Content-Type", "").startswith("text/html"):
        return []
    parser = LinkParser(url)
    parser.feed(response.body.decode("latin-1"))  # hrefs are ASCII in every charset
    parser.close()
    return parser.links


class Walk:
    """What a breadth-first walk from the home page meets."""

    def __init__(self):
        self.response_by_path = {}
        self.holders_by_path = {}
        self.elsewhere = set()

    @gen.coroutine
    def __call__(self, site):
        urls = [site.url]
        while urls:
            responses = yield [get(url) for url in urls]
            found = []
            for url, response in zip(urls, responses):
                self.response_by_path[self.path(url)] = response
                found += self.admit(site, url, response)
            urls = list(dict.fromkeys(found))

    def admit(self, site, url, response):
        if response.code == 503:
            yield url
        targets = links_of(url, response)
        if "Location" in response.headers:
            targets = [urljoin(url, response.headers["Location"])]
        for target in targets:
            if not target.startswith(site.url):
                self.elsewhere.add(target)
                continue
            self.holders_by_path.setdefault(self.path(target), set()).add(url)
            if self.path(target) not in self.response_by_path:
                yield target

    @staticmethod
    def path(url):
        return urlsplit(url)._replace(scheme="", netloc="").geturl()

    def paths(self, code):
        return {p for p, r in self.response_by_path.items() if r.code == code}


@pytest.fixture(scope="module")
def walk():
    walk = Walk()
    run_with_site(walk)
    return walk


@pytest.mark.parametrize(
    ("path", "code", "location"),
    [
        ("", 200, None),
        ("guide", 301, "/guide/"),
        ("news/2024/05", 301, "/news/2024/05/"),
        ("handbook.html", 301, "/guide/"),
        ("manual.html", 302, "/handbook.html"),
        ("sky/today", 302, "/sky/tonight"),
        ("sky/tonight", 302, "/sky/now"),
        ("sky/now", 302, "/sky/today"),
        ("partner", 302, "http://elsewhere.invalid/"),
        ("guide/sketch-map.html", 404, None),
        ("news/2022/", 410, None),
        ("sky/webcam.html", 500, None),
        ("staff/rota.html", 200, None),
        ("dome/night-log.html", 200, None),
        ("draft/open-day.html", 404, None),
        ("draft/menu.html", 404, None),
        ("draft/index.html", 404, None),
    ],
)
def test_sight_answers_the_same_twice(path, code, location):
    responses = fetch(path, path)

    assert [response.code for response in responses] == [code, code]
    assert [r.headers.get("Location") for r in responses] == [location, location]


def test_weather_is_busy_once():
    first, second, third = fetch(*["sky/weather.html"] * 3)

    assert (first.code, first.headers["Retry-After"]) == (503, "1")
    assert (second.code, third.code) == (200, 200)
    assert "Retry-After" not in second.headers


def test_robots_disallows_the_staff():
    (robots,) = fetch("robots.txt")

    assert robots.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"\nDisallow: /staff/\n" in robots.body


def test_robots_names_a_sitemap_with_a_page_that_nothing_links_to(walk):
    robots, sitemap, page = fetch(
        "robots.txt", "sitemap.xml", "visit/opening-hours.html"
    )

    assert b"Sitemap: http://127.0.0.1:" in robots.body
    assert b"/visit/opening-hours.html</loc>" in sitemap.body
    assert page.code == 200
    assert "/visit/opening-hours.html" not in walk.response_by_path


def test_page_that_is_unchanged_need_not_be_sent_again():
    @gen.coroutine
    def visit(site):
        first = yield get(site.url + "guide/")
        conditions = {"If-None-Match": first.headers["Etag"]}
        return (yield get(site.url + "guide/", headers=conditions))

    assert run_with_site(visit).code == 304


def test_change_brings_a_page_takes_a_page_and_alters_a_page(walk):
    later = Walk()

    @gen.coroutine
    def visit(site):
        site.change()
        yield later(site)

    run_with_site(visit)

    before, after = walk.paths(200), later.paths(200)
    assert after - before == {"/news/2024/12/", "/news/2024/12/open-day.html"}
    assert before - after == {"/news/2023/11/power-cut.html"}
    weather = [w.response_by_path["/sky/weather.html"].body for w in (walk, later)]
    assert b"Fog" not in weather[0]
    assert b"Fog" in weather[1]


def test_change_of_a_site_that_is_not_served_is_refused():
    with pytest.raises(RuntimeError, match="start"):
        DemoSite().change()


def test_change_after_the_end_is_refused():
    @gen.coroutine
    def visit(site):
        yield site.stop()
        with pytest.raises(RuntimeError, match="start"):
            site.change()

    run_with_site(visit)


@pytest.mark.parametrize("table", ["CHANGED_LATER", "GONE_LATER", "NEW_LATER"])
def test_change_of_a_page_that_is_not_there_is_an_error(monkeypatch, table):
    odd = {"CHANGED_LATER": {"/sky/none": "x"}, "GONE_LATER": ("/sky/none",)}
    monkeypatch.setattr(demo_site, table, odd.get(table, {"/sky/seeing": "x"}))

    @gen.coroutine
    def visit(site):
        with pytest.raises(ValueError, match="the outline must have"):
            site.change()
        yield gen.moment

    run_with_site(visit)


def test_text_file_is_not_html():
    (readme,) = fetch("data/readme.txt")

    assert readme.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"<a href='/draft/" in readme.body


def test_russian_page_tells_its_charset_in_its_meta_tag_only():
    (page,) = fetch("friends/ru.html")

    assert page.headers["Content-Type"] == "text/html"
    assert b'<meta charset="windows-1251">' in page.body
    assert '<h1 id="top">Сосновка</h1>' in page.body.decode("windows-1251")


def test_japanese_page_tells_its_charset_in_its_header_only():
    (page,) = fetch("friends/ja.html")

    assert page.headers["Content-Type"] == "text/html; charset=Shift_JIS"
    assert b"charset" not in page.body
    assert '<h1 id="top">松原' in page.body.decode("shift_jis")


def test_almanac_is_gzip_even_if_not_asked_for():
    (raw,) = fetch("sky/almanac.html", decompress_response=False)
    (page,) = fetch("sky/almanac.html")

    assert raw.headers["Content-Encoding"] == "gzip"
    assert raw.body.startswith(b"\x1f\x8b")
    assert b"<!DOCTYPE html>" in page.body


def test_slow_page_takes_its_time_and_holds_up_nobody():
    ended = []

    @gen.coroutine
    def visit(site):
        responses = yield {path: get(site.url + path) for path in paths}
        ended.extend(sorted(paths, key=lambda path: responses[path].request_time))
        return responses

    paths = ["sky/seeing.html", ""]
    responses = run_with_site(visit, slow_s=0.2)

    assert ended == ["", "sky/seeing.html"]
    assert responses["sky/seeing.html"].code == 200
    assert responses["sky/seeing.html"].request_time >= 0.19


def test_large_file_is_chunked_and_as_long_as_was_said():
    sizes, header_lines = [], []

    def visit(site):
        return get(
            f"{site.url}data/all-sky.raw",
            streaming_callback=lambda chunk: sizes.append(len(chunk)),
            header_callback=header_lines.append,
        )

    run_with_site(visit, large_bytes=1_000_001)

    assert sum(sizes) == 1_000_001
    assert "Transfer-Encoding: chunked\r\n" in header_lines
    assert not any(line.startswith("Content-Length") for line in header_lines)


def test_large_file_waits_for_a_reader_who_does_not_read():
    @gen.coroutine
    def visit(site):
        stream = yield connect_and_ask(site, "data/all-sky.raw")
        yield stream.read_until(b"\r\n\r\n")
        for _ in range(1000):  # a chunk in each turn would be 64 MB
            yield gen.moment
        stream.close()

    tracemalloc.start()
    try:
        run_with_site(visit, large_bytes=10**9)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak_bytes < 8_000_000


@pytest.mark.parametrize("path", ["data/all-sky.raw", "sky/seeing.html"])
def test_reader_who_hangs_up_in_the_middle_harms_nothing(path, caplog):
    @gen.coroutine
    def visit(site):
        stream = yield connect_and_ask(site, path)
        if path == "data/all-sky.raw":
            yield stream.read_until(b"\r\n\r\n")
        stream.close()
        return (yield get(site.url))

    response = run_with_site(visit, large_bytes=10**9, slow_s=60)

    assert response.code == 200
    assert caplog.records == []


def test_text_is_escaped():
    (page,) = fetch("guide/observing/outdoors/the-bog.html")

    assert b"&lt;always&gt;" in page.body


def test_walk_finds_about_150_pages(walk):
    pages = [
        path
        for path in walk.paths(200)
        if walk.response_by_path[path].headers["Content-Type"].startswith("text/html")
    ]

    assert 140 <= len(pages) <= 170
    assert len([path for path in pages if "/pw-" in path]) == 90


def test_walk_meets_each_sight(walk):
    assert walk.paths(301) == {"/guide", "/handbook.html"}
    assert walk.paths(302) == {
        "/manual.html",
        "/partner",
        "/sky/now",
        "/sky/today",
        "/sky/tonight",
    }
    assert walk.paths(404) == {"/guide/sketch-map.html"}
    assert walk.paths(410) == {"/news/2022/"}
    assert walk.paths(500) == {"/sky/webcam.html"}
    assert walk.paths(503) == set()  # asked again, as it wished
    assert {
        "/catalogue/?page=1",
        "/data/all-sky.raw",
        "/data/readme.txt",
        "/friends/ja.html",
        "/friends/ru.html",
        "/sky/almanac.html",
        "/sky/seeing.html",
        "/sky/weather.html",
        "/staff/contact.html",
        "/staff/rota.html",
    } <= walk.paths(200)


def test_broken_links_are_held_by_several_pages(walk):
    assert len(walk.holders_by_path["/guide/sketch-map.html"]) > 5
    assert len(walk.holders_by_path["/news/2022/"]) > 5


def test_walk_does_not_find_what_is_not_linked(walk):
    assert "/dome/night-log.html" not in walk.response_by_path
    assert not any(path.startswith("/draft/") for path in walk.response_by_path)


def test_links_that_leave_the_site(walk):
    assert walk.elsewhere == {
        "data:text/plain,Clear%20skies",
        "http://elsewhere.invalid/",
        "javascript:print()",
        "mailto:dome@elsewhere.invalid",
    }


def test_news_are_relative_to_their_base():
    (page,) = fetch("news/2023/11/leonids.html")

    assert b'<base href="/news/">' in page.body
    assert b'<a href="2022/">' in page.body


def test_first_list_has_two_urls():
    bare, numbered, second = fetch(
        "catalogue/", "catalogue/?page=1", "catalogue/?page=2"
    )

    assert bare.body == numbered.body != second.body


def test_two_sites_are_alike(walk):
    second = Walk()

    run_with_site(second)

    assert second.response_by_path.keys() == walk.response_by_path.keys()


@pytest.mark.parametrize("path", ["data/all-sky.raw", "sky/seeing.html"])
def test_stop_closes_the_socket_and_ends_what_is_under_way(path, caplog):
    @gen.coroutine
    def visit(site):
        stream = yield connect_and_ask(site, path)
        yield get(site.url)  # by now the first request is being answered
        yield site.stop()
        assert asyncio.all_tasks() == set()
        with pytest.raises(StreamClosedError):
            yield stream.read_until_close()
            yield stream.read_bytes(1)
        with pytest.raises(ConnectionRefusedError):
            yield get(site.url)

    run_with_site(visit, large_bytes=10**9, slow_s=60)

    assert caplog.records == []


def test_stopped_site_can_start_again_and_stop_twice():
    @gen.coroutine
    def visit(site):
        yield site.stop()
        yield site.stop()
        site.start()
        return (yield get(site.url))

    assert run_with_site(visit).code == 200


def test_start_of_a_served_site_is_refused():
    @gen.coroutine
    def visit(site):
        yield gen.moment
        with pytest.raises(RuntimeError, match=r"stop\(\) it first"):
            site.start()

    run_with_site(visit)


def test_tornado_logs_no_answer(caplog):
    caplog.set_level(logging.INFO)

    fetch("", "guide/sketch-map.html", "sky/webcam.html")

    assert caplog.records == []
