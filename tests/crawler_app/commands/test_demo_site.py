"""The demo site has typical problems, and a crawl finds them."""

import asyncio
import json
from urllib.parse import urlsplit

import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.iostream import StreamClosedError
from tornado.tcpclient import TCPClient

from crawler_app.commands.demo_site import DemoSite
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


def get(url):
    return AsyncHTTPClient().fetch(url, follow_redirects=False, raise_error=False)


def test_robots_disallows_the_staff_and_names_the_sitemap():
    robots, sitemap, staff = fetch("robots.txt", "sitemap.xml", "staff/rota.html")

    assert robots.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"\nDisallow: /staff/\n" in robots.body
    assert b"Sitemap: http://127.0.0.1:" in robots.body
    assert b"/visit/opening-hours.html</loc>" in sitemap.body
    assert staff.code == 200


def test_demo_crawls_the_site_twice(gencrawl, directory):
    done = gencrawl("demo", "--into", directory)

    assert done.status == 0
    assert "loops: 1" in done.out
    report = gencrawl.json("report", directory, "--format", "json")
    (site,) = report["seeds"]
    status = gencrawl.json("status", directory, "--json")
    assert (status["pages"], status["files"], status["left"]) == (64, 1, 0)
    assert status["reasons"]["skipped"] == {"robots": 1, "out_of_scope": 1}
    expected = {"200": 65, "301": 2, "302": 5, "404": 1, "410": 1, "500": 1}
    assert status["statuses"] == expected
    links = {each["url"]: len(each["links"]) for each in report["broken"]}
    assert links == {
        f"{site}guide/sketch-map.html": 8,
        f"{site}news/2022/": 8,
        f"{site}sky/webcam.html": 1,
        f"{site}sky/today": 1,
    }
    (chain,) = report["redirects"]["chains"]
    paths = ["manual.html", "handbook.html", "guide/"]
    assert chain["urls"] == [site + path for path in paths]
    compared = report["compared"]
    assert compared["unchanged"] == 60
    new = ["news/2024/12/", "news/2024/12/open-day.html"]
    assert compared["new"] == [site + path for path in new]
    assert f"{site}sky/weather.html" in compared["changed"]
    (vanished,) = compared["vanished"]
    assert vanished["url"] == f"{site}news/2023/11/power-cut.html"
    records = map(json.loads, gencrawl("export", directory).out.splitlines())
    via_by_url = {record["url"]: record["via"] for record in records}
    assert via_by_url[f"{site}visit/opening-hours.html"] == f"{site}sitemap.xml"


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
