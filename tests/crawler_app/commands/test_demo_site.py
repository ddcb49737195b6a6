"""The demo site: what it shows is there, and a walk along its links finds the rest."""

import asyncio
import logging
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.iostream import StreamClosedError
from tornado.tcpclient import TCPClient

from crawler_app.commands.demo_site import (
    CHANGED_LATER,
    GONE_LATER,
    NEW_LATER,
    DemoSite,
    _outline,
)
from crawler_app.documents.html import parse_html
from gencoro import gen
from gencoro.ioloop import IOLoop


def run_with_site(visit):
    """Run a coroutine, given a site that is being served, on a loop of its own."""

    @gen.coroutine
    def main():
        site = DemoSite()
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


def fetch(*paths):
    """Return the responses for some paths of one site, asked for one by one."""

    @gen.coroutine
    def visit(site):
        responses = []
        for path in paths:
            responses.append((yield get(site.url + path)))
        return responses

    return run_with_site(visit)


def get(url, **options):
    return AsyncHTTPClient().fetch(
        url, follow_redirects=False, raise_error=False, **options
    )


def links_of(url, response):
    return [
        urldefrag(urljoin(url, link)).url for link in parse_html(response.body).links
    ]


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
            for url, response in zip(urls, responses, strict=True):
                self.response_by_path[self.path(url)] = response
                found += self.admit(site, url, response)
            urls = list(dict.fromkeys(found))

    def admit(self, site, url, response):
        targets = links_of(url, response)
        if "Location" in response.headers:
            targets = [urljoin(url, response.headers["Location"])]
        for target in targets:
            if not target.startswith(site.url):
                self.elsewhere.add(target)
                continue
            path = self.path(target)
            self.holders_by_path.setdefault(path, set()).add(url)
            if path not in self.response_by_path:
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
        ("visit/opening-hours.html", 200, None),
    ],
)
def test_sight_answers_the_same_twice(path, code, location):
    responses = fetch(path, path)

    assert [response.code for response in responses] == [code, code]
    assert [r.headers.get("Location") for r in responses] == [location, location]


def test_robots_disallows_the_staff_and_names_the_sitemap():
    robots, sitemap = fetch("robots.txt", "sitemap.xml")

    assert robots.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"\nDisallow: /staff/\n" in robots.body
    assert b"Sitemap: http://127.0.0.1:" in robots.body
    assert b"/visit/opening-hours.html</loc>" in sitemap.body


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


def test_what_changes_is_there_before_and_what_is_new_is_not():
    outline = _outline()

    assert outline.keys() >= {*CHANGED_LATER, *GONE_LATER}
    assert not outline.keys() & NEW_LATER.keys()


def test_text_is_escaped():
    (page,) = fetch("guide/observing/outdoors/the-bog.html")

    assert b"&lt;always&gt;" in page.body


def test_walk_finds_the_pages_and_each_sight(walk):
    assert len(walk.paths(200)) == 65
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
    assert "/visit/opening-hours.html" not in walk.response_by_path
    assert walk.elsewhere == {
        "http://elsewhere.invalid/",
        "mailto:dome@elsewhere.invalid",
    }


def test_broken_links_are_held_by_several_pages(walk):
    assert len(walk.holders_by_path["/guide/sketch-map.html"]) == 8
    assert len(walk.holders_by_path["/news/2022/"]) == 8


def test_first_list_has_two_urls():
    bare, numbered, second = fetch(
        "catalogue/", "catalogue/?page=1", "catalogue/?page=2"
    )

    assert bare.body == numbered.body != second.body


def test_stop_closes_the_socket_and_the_connections(caplog):
    @gen.coroutine
    def visit(site):
        client = TCPClient()
        stream = yield client.connect("127.0.0.1", urlsplit(site.url).port)
        client.close()
        yield stream.write(b"GET / HTTP/1.1\r\nHost: pinewood\r\n\r\n")
        yield stream.read_until(b"</html>")
        yield site.stop()
        assert asyncio.all_tasks() == set()
        with pytest.raises(StreamClosedError):
            yield stream.read_until_close()
            yield stream.read_bytes(1)
        with pytest.raises(ConnectionRefusedError):
            yield get(site.url)

    run_with_site(visit)

    assert caplog.records == []


def test_life_of_a_site():
    @gen.coroutine
    def visit(site):
        with pytest.raises(RuntimeError, match=r"stop\(\) it first"):
            site.start()
        yield site.stop()
        yield site.stop()
        with pytest.raises(RuntimeError, match="start"):
            site.change()
        site.start()
        return (yield get(site.url))

    with pytest.raises(RuntimeError, match="start"):
        DemoSite().change()
    assert run_with_site(visit).code == 200


def test_tornado_logs_no_answer(caplog):
    caplog.set_level(logging.INFO)

    fetch("", "guide/sketch-map.html", "sky/webcam.html")

    assert caplog.records == []
