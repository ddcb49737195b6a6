"""A second crawl of a site: only changed pages are sent, and vanished ones are reported."""

import json

import pytest

DATE = "Thu, 01 Jan 2026 00:00:00 GMT"


@pytest.fixture
def cli(cli):
    """Run a command, without asking for robots.txt unless the test is about that."""

    def run(command, *options, robots=False):
        if command == "crawl" and not robots:
            options = ("--no-robots", *options)
        return cli(command, *options)

    return run


def compared(cli):
    return json.loads(cli("status", "--json")[1])["compared"]


def page(site, path, title="", text="", links=("/a", "/b"), **answer):
    anchors = "".join(f"<a href={link}>x</a>" for link in links)
    body = f"<title>{title}</title><p>{text * 50}{anchors}".encode()
    site.answer(path, body, **answer)


def test_unchanged_page_is_not_sent_again_and_its_links_count(site, cli, captures):
    page(site, "/", headers={"Etag": '"1"'})
    page(site, "/a", text="news", times=1)
    page(site, "/a", text="other")
    page(site, "/b", text="as it was ")

    cli("crawl")
    seen = len(site.requests)
    status, text, _ = cli("crawl")

    again = dict(site.requests[seen:])
    assert status == 0
    assert again["/"]["If-None-Match"] == '"1"'
    assert set(again) == {"/", "/a", "/b"}
    assert "0 new, 1 changed, 2 unchanged, 0 vanished" in text
    # Which of two answers comes first depends on the server.
    assert {each.path: each.profile for each in captures()[3:]} == {
        "/": "server-not-modified",
        "/a": "",
        "/b": "identical-payload-digest",
    }
    assert len(captures()) == 6


@pytest.mark.parametrize(
    ("received", "sent", "options"),
    [
        ({"Etag": '"1"'}, {"If-None-Match": '"1"'}, ()),
        ({"Last-Modified": DATE}, {"If-Modified-Since": DATE}, ()),
        ({}, {}, ()),
        ({"Etag": '"1"'}, {}, ("--no-archive",)),
    ],
)
def test_validators_of_a_page_are_sent_back_unchanged(
    site, cli, received, sent, options
):
    page(site, "/", links=(), headers=received, times=1)
    page(site, "/", links=(), status=304 if sent else 200)

    cli("crawl", *options)
    cli("crawl", *options)

    conditions = {"If-None-Match", "If-Modified-Since"}
    headers = site.requests[1][1]
    assert {name: headers[name] for name in conditions & set(headers)} == sent
    found = compared(cli)
    assert found.pop("unchanged") == 1
    assert not any(found.values())
    statuses = json.loads(cli("status", "--json")[1])["statuses"]
    assert statuses == {"200": 1}  # also if that is what the archive has


def test_third_crawl_is_compared_with_the_second(site, cli):
    page(site, "/", text="kept", headers={"Etag": '"1"'}, links=())

    for _ in range(3):
        cli("crawl")

    assert [headers.get("If-None-Match") for _, headers in site.requests] == [
        None,
        '"1"',
        '"1"',
    ]
    assert compared(cli)["unchanged"] == 1
    assert "1 page found" in cli("search", "kept*")[1]


def test_new_and_vanished_pages_are_reported(site, cli):
    page(site, "/", links=("/gone", "/unlinked"), times=1)
    page(site, "/", links=("/gone", "/new"))
    page(site, "/gone", text="Gone ", times=1)
    page(site, "/gone", status=404)
    page(site, "/unlinked", text="Loose ")
    page(site, "/new", text="Fresh ")

    _, first, _ = cli("crawl")
    assert "compared" not in first
    assert compared(cli) is None
    _, text, _ = cli("crawl")

    assert "1 new, 1 changed, 0 unchanged, 2 vanished" in text
    assert f"new\n    {site.url}new\n" in text
    assert f"changed\n    {site.url}\n" in text
    assert f"vanished\n    {site.url}gone (http_404)\n" in text
    assert compared(cli) == {
        "new": [f"{site.url}new"],
        "changed": [site.url],
        "unchanged": 0,
        "vanished": [
            {"url": f"{site.url}gone", "reason": "http_404"},
            {"url": f"{site.url}unlinked", "reason": "no longer linked"},
        ],
        "unreachable": [],
        "newly_broken": [f"{site.url}gone"],
        "still_broken": [f"{site.url}a", f"{site.url}b"],
        "fixed": [],
    }
    assert "broken                   1 newly, 2 still, 0 fixed" in text
    assert cli("search", "fresh")[0] == 0
    assert cli("search", "gone")[0] == 1
    assert cli("search", "loose")[0] == 1


def test_temporarily_failing_page_stays_in_the_index(site, cli):
    page(site, "/", text="home ", links=("/a",), times=1)
    page(site, "/", status=503, headers={"Retry-After": "0"}, times=3)
    page(site, "/", text="home ", links=("/a",))
    page(site, "/a", text="below ", links=())

    cli("crawl")
    _, text, _ = cli("crawl")
    found = [cli("search", word)[0] for word in ("home", "below")]
    cli("crawl")

    assert "0 vanished, 1 unreachable" in " ".join(text.split())
    assert found == [0, 0]
    assert compared(cli)["unchanged"] == 2


def test_site_that_forbids_everything_later_stays_in_the_index(site, cli):
    page(site, "/", text="home ", links=("/a",))
    page(site, "/a", text="below ", links=())
    cli("crawl")
    text = b"User-agent: *\nDisallow: /"
    site.answer("/robots.txt", text, headers={"Content-Type": "text/plain"})

    status, *_ = cli("crawl", robots=True)

    assert status == 1
    assert cli("search", "below")[0] == 0
    assert cli("search", "home")[0] == 0


def test_page_that_is_a_file_now_is_taken_out_of_the_index(site, cli):
    page(site, "/", links=("/a",))
    page(site, "/a", text="words ", links=(), times=1)
    site.answer("/a", b"%PDF", headers={"Content-Type": "application/pdf"})

    cli("crawl")
    _, text, _ = cli("crawl")

    assert cli("search", "words")[0] == 1
    assert "index                1   pages" in text
    assert json.loads(cli("status", "--json")[1])["indexed_pages"] == 1


def test_page_with_another_spelling_is_in_the_index_once(site, cli):
    page(site, "/", links=("/x//a",), times=1)
    page(site, "/", links=("/x/a",))
    page(site, "/x//a", text="words ", links=())
    page(site, "/x/a", text="words ", links=())

    cli("crawl")
    cli("crawl")

    assert "1 page found" in cli("search", "words")[1]


def test_recrawl_that_cannot_begin_changes_nothing(site, cli, directory):
    page(site, "/", links=())
    cli("crawl")
    directory.joinpath("crawl.sqlite").write_bytes(b"no database" * 1000)

    status, *_ = cli("crawl")

    assert status == 2
    assert '"state": "done"' in cli("export")[1]


def test_page_whose_capture_is_damaged_is_fetched_whole(site, cli, directory):
    page(site, "/", text="whole ", links=("/a",), headers={"Etag": '"1"'})
    page(site, "/a", links=())
    cli("crawl")
    (warc,) = directory.glob("*.warc.gz")
    data = bytearray(warc.read_bytes())
    home_at = data.index(b"\x1f\x8b", 2)  # after the description of the file
    data[home_at + 100 : home_at + 120] = bytes(20)
    warc.write_bytes(data)

    status, *_ = cli("crawl")

    assert status == 0
    conditions = [h.get("If-None-Match") for path, h in site.requests if path == "/"]
    assert conditions == [None, '"1"', None]
    assert compared(cli)["unchanged"] == 2
    assert cli("search", "whole")[0] == 0


def test_crawl_that_is_resumed_still_asks_for_changes_only(site, cli):
    page(site, "/", links=("/a",), headers={"Etag": '"1"'})
    page(site, "/a", headers={"Etag": '"2"'}, links=())
    cli("crawl")
    cli("crawl", "--max-pages", 1)

    cli("resume", "--max-pages", 9, "--quiet")

    path, headers = site.requests[-1]
    assert (path, headers["If-None-Match"]) == ("/a", '"2"')


def test_crawl_with_other_options_of_what_to_crawl_says_so(site, cli, caplog):
    page(site, "/", links=())
    cli("crawl", "--assets", "any", "--exclude", "/x", "--concurrency", 3)

    cli("crawl", "--exclude", "/x")

    (message,) = [each.getMessage() for each in caplog.records]
    assert message.endswith("not take over: assets (any, now not given).")


def test_crawl_over_an_unfinished_one_warns_and_uses_its_options(site, cli, caplog):
    page(site, "/", links=("/a",))
    page(site, "/a", links=())
    cli("crawl", "--max-pages", 1)

    status, text, _ = cli("crawl")

    assert status == 0
    assert "is unfinished" in caplog.text
    assert "the previous crawl had not finished" in " ".join(text.split())
    assert "/a" in site.paths
