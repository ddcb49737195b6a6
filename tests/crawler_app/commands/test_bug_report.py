"""A bug in the crawler is logged once, mentioned at the end, and exits with 1."""

import pathlib
import re

import pytest

from crawler_app.web.documents import reader
from crawler_app.web.sandbox import worker

ASKED = (
    r"gencrawl: {} failed by a bug in gencrawl \(internal_error\); please report it, .*"
)

# Large enough to be read in the sandbox.
LARGE = b"<p>x" * 20_000


@pytest.fixture
def site_of_large_pages(site):
    """Return a site with a small page and three that are read in the sandbox."""
    site.page("/", "/1", "/2", "/3")
    for number in range(1, 4):
        site.answer(f"/{number}", LARGE + b"%d" % number)
    return site


@pytest.fixture
def poisoned(monkeypatch, tmp_path):
    """Have the processes of the sandbox send what names a class."""
    poison = r"_reply = lambda *_: b'\x80\x04cbuiltins\nlist\n)\x81.'"
    source = pathlib.Path(worker.__file__).read_text()
    last = 'if __name__ == "__main__":'
    assert last in source
    path = tmp_path / "worker.py"
    path.write_text(source.replace(last, f"{poison}\n{last}"))
    monkeypatch.setattr(worker, "__file__", str(path))


def tracebacks(caplog):
    return [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("command", ["crawl", "check"])
def test_bug_is_logged_once_and_asks_for_a_report(
    gencrawl, site_of_large_pages, poisoned, caplog, tmp_path, command
):
    into = ("--into", tmp_path / "x") if command == "crawl" else ()
    ended = gencrawl(command, site_of_large_pages.url, *into)

    assert ended.status == 1
    assert re.fullmatch(ASKED.format("3 URLs"), ended.err.splitlines()[-1])
    (logged,) = tracebacks(caplog)
    assert re.fullmatch(r"the crawler failed for http://\S+/[123]", logged.message)
    assert "a result may not contain builtins.list" in str(logged.exc_info[1])


def test_resumed_crawl_asks_again_for_a_bug_report(
    gencrawl, site_of_large_pages, poisoned, tmp_path
):
    into = tmp_path / "x"
    gencrawl("crawl", site_of_large_pages.url, "--into", into, "--max-pages", 2)

    ended = gencrawl("resume", into, "--max-pages", 2)

    assert ended.status == 1
    assert re.search(ASKED.format("1 URL"), ended.err)


def test_different_bugs_are_logged_each(
    gencrawl, site_of_large_pages, monkeypatch, caplog, tmp_path
):
    def fail(body, *args, **options):
        raise [KeyError, ValueError][body[-1] % 2](body)

    monkeypatch.setattr(reader, "SMALL_PAGE_TAGS", 10**9)
    monkeypatch.setattr(reader, "parse_html", fail)
    site_of_large_pages.page("/", "/1", "/2", "/3")

    gencrawl(
        "crawl",
        *(f"{site_of_large_pages.url}{n}" for n in "123"),
        "--into",
        tmp_path / "x",
    )

    kinds = {record.exc_info[0] for record in tracebacks(caplog)}
    assert kinds == {KeyError, ValueError} and len(tracebacks(caplog)) == 2
