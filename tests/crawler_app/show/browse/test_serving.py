"""The server of `browse`: ranges of the archive, the search, and who may see them."""

import contextlib

import pytest
from tornado.httpclient import AsyncHTTPClient

from crawler_app import PageIndex
from crawler_app.base.errors import ConfigError
from crawler_app.show.browse.serving import Browsed, start_server
from crawler_app.show.browse.sparse_file import SparseFile
from crawler_app.show.dashboard.searcher import Searcher
from gencoro import gen

TEXT = bytes(range(256)) * 4


@pytest.fixture
def get(tmp_path, run_sync):
    """Return a function that asks a server for paths below its token."""

    def make_report():
        raise ConfigError("the disk is gone")

    index = PageIndex(tmp_path / "crawl.sqlite")
    for number in range(12):
        index.add(
            f"http://a.test/{number}?x=<&y", "<Loops>", "", "An event loop.", now=0.0
        )
    index.close()
    with (
        SparseFile() as wacz,
        contextlib.closing(Searcher([tmp_path / "crawl.sqlite"])) as searcher,
    ):
        wacz.write(TEXT)
        start, player = "http://a.test/<b>", {"ui.js": b"ui", "sw.js": b"sw"}
        browsed = Browsed("crawl", start, wacz, player, searcher, make_report)

        def get(*paths, **options):
            @gen.coroutine
            def ask():
                server, url = start_server(browsed)
                client = AsyncHTTPClient(force_instance=True)
                try:
                    return (
                        yield [
                            client.fetch(f"{url}{path}", raise_error=False, **options)
                            for path in paths
                        ]
                    )
                finally:
                    client.close()
                    server.stop()
                    yield server.close_all_connections()

            return run_sync(ask)

        yield get


@pytest.mark.parametrize(
    ("asked", "status", "body"),
    [
        (None, 200, TEXT),
        ("bytes=1-3", 206, TEXT[1:4]),
        ("bytes=-5", 206, TEXT[-5:]),
        ("bytes=1000-9999", 206, TEXT[1000:]),
        ("bytes=1024-", 416, None),
        ("bytes=5-2", 416, None),
        ("bytes=-", 416, None),
    ],
)
def test_ranges_of_the_archive(get, asked, status, body):
    (answer,) = get("crawl.wacz", headers={"Range": asked} if asked else {})

    assert answer.code == status
    if body is not None:
        assert answer.body == body
        assert answer.headers["Content-Length"] == str(len(body))


def test_pages_are_escaped_and_ask_only_this_server(get):
    page, hits, more, bad = get(
        "?url=http://a.test/%22%3E",
        "search?q=loop",
        "search?q=loop&offset=10",
        "search?q=%22",
    )

    assert b'url="http://a.test/&quot;&gt;"' in page.body
    assert b"12 pages found" in hits.body and hits.body.count(b"<li>") == 10
    assert b"&lt;Loops&gt;" in hits.body and b"<Loops>" not in hits.body
    assert b"?url=http%3A%2F%2Fa.test%2F" in hits.body
    assert more.body.count(b"<li>") == 2 and b'start="11"' in more.body
    assert bad.code == 400 and b"is not closed" in bad.body
    for answer in (page, hits, bad):
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "http" not in policy
        # A frame cannot lead the window to another server, or open one.
        assert "sandbox allow-scripts" in policy
        assert "navigation" not in policy and "popups" not in policy


def test_nothing_is_shown_without_the_token_or_under_another_name(get):
    paths = ["", "crawl.wacz", "search?q=loop", "report", "replay/ui.js"]

    assert {answer.code for answer in get(*(f"../{path}" for path in paths))} == {404}
    assert {answer.code for answer in get(*(f"../x/{path}" for path in paths))} == {404}
    renamed = get(*paths, headers={"Host": "evil.test"})
    assert {answer.code for answer in renamed} == {404}


def test_report_that_cannot_be_made_says_why(get):
    (answer,) = get("report")

    assert answer.code == 503 and b"the disk is gone" in answer.body
