"""Crawling a site again with several processes: as with one, only what has changed is fetched."""

import contextlib
import json
import subprocess

import pytest

from crawler_app.store.archive.captures import NOT_MODIFIED, Captures
from tests.helpers.scripts import start_python
from tests.helpers.site import Answer

pytestmark = pytest.mark.usefixtures("prepared_servers")

TEXT = "<title>{0}</title><p>{0} " + "the same words again " * 20


@pytest.fixture
def changing(web):
    """A site of which each answer has a validator; return a function that changes it."""
    web.tree(12)

    def put(path, text, *links, status=200, number=0):
        anchors = "".join(f"<a href={web.url(n, p)}>x</a>" for n, p in links)
        body = (TEXT.format(text) + anchors).encode()
        headers = {"Etag": f'"{hash(body)}"'}
        web.sites[number]._answers[path] = [Answer(body, status, headers)]

    names = ("stays", "changes", "breaks", "vanishes", "moves")
    put("/0", "home", *((n % 4, name) for n, name in enumerate(names)))
    for number, name in enumerate(names):
        put(f"/{name}", name, number=number % 4)

    def change():
        links = [(0, "stays"), (1, "changes"), (2, "breaks"), (0, "moves"), (1, "new")]
        put("/0", "home", *links)
        put("/changes", "otherwise", number=1)
        put("/breaks", "gone", status=410, number=2)
        web.sites[0]._answers["/moves"] = []
        web.sites[0].redirect("/moves", web.url(1, "new"))
        put("/new", "new", number=1)

    return change


# A crawl that is killed when it is about to take each step from the last crawl to the next.
# One program for all, as importing takes longer than what is tested.
KILLED = """
import os, signal, sys
from pkgutil import resolve_name
from crawler_app.commands.main import main
from crawler_app.store.frontier.postgres import blocking_reader  # before the forks

STEPS = [
    "crawler_app.run.crawl_worker:begin_anew",
    "crawler_app.run.crawl_worker:begin",
    "crawler_app.store.frontier.postgres.crawls:_asked",
    "crawler_app.run.crawl_worker:set_limits",
    "crawler_app.run.crawler:WorkersRun",
]
for step in STEPS:
    pid = os.fork()
    if not pid:
        place, _, name = step.rpartition(":")
        kill = lambda *args, **options: os.kill(os.getpid(), signal.SIGKILL)
        setattr(resolve_name(place), name, kill)
        main(sys.argv[1:])
        os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, (step, status)
"""


def outcome_of(gencrawl, directory):
    status = gencrawl.json("status", directory, "--json")
    for change in status["compared"].values():
        if isinstance(change, list):
            change.sort(key=json.dumps)
    return status["compared"], status["pages"]


def words_of(gencrawl, directory, *words):
    found = gencrawl("search", directory, *words, "--json", "--limit", 100)
    hits = json.loads(found.out)["hits"] if found.out else []
    return sorted(hit["url"] for hit in hits)


def exported(gencrawl, directory, folder):
    """Return the files of the folder, and whether a 304 is in the index."""
    gencrawl("export", directory, "--format", "folder", "--output", folder)
    index = gencrawl("export", directory, "--format", "cdxj").out
    files = {path.relative_to(folder) for path in folder.rglob("*")}
    return files, '"304"' in index


def conditional(web, wanted):
    """Return for each request for a path in the second round whether it was conditional."""
    return [
        "If-None-Match" in headers
        for site in web.sites
        for path, headers in site.requests[site.requests_before :]
        if path == wanted
    ]


def test_several_processes_that_were_killed_find_the_changes_that_one_finds(
    web, changing, gencrawl, tmp_path, caplog
):
    for site in web.sites[:2]:
        site.otherwise = [Answer(b"No such page")]
    one, two = directories = tmp_path / "one", tmp_path / "two"
    command = ["crawl", web.url(0, "0"), "--scope", "any", "--soft-404", "--quiet"]
    by_two = [*command, "--into", two, "--processes", 2]
    gencrawl(*command, "--into", one)
    gencrawl(*by_two)
    gencrawl(*by_two, "--max-pages", 3)  # not to be compared with
    assert not caplog.text
    # Numbered otherwise, the processes ask for pages that another has archived.
    for number in range(2):
        part = two / f"part-{number}"
        part.rename(part.with_name(f"part-{number + 2}"))
    before = web.requests
    for site in web.sites:
        site.requests_before = len(site.requests)
    changing()

    killed = start_python("-c", KILLED, *by_two, stderr=subprocess.PIPE)
    printed = killed.communicate()[1]
    assert printed.count("The crawl in that directory is unfinished") == 1
    assert "Error" not in printed
    for arguments in ([*command, "--into", one], ["resume", two, "--quiet"]):
        ended = gencrawl(*arguments)
        assert ended.status == 0, ended.err

    again = web.requests - before
    made_up = [url for url in again if len(url.rpartition("/")[2]) > 30]
    assert len(made_up) == 2 * 2  # of two hosts with pages, by each crawl
    # Each crawl asks once, whichever process has the page in its archive.
    assert {again[url] for url in again.keys() - set(made_up)} == {2}
    assert conditional(web, "/stays") == [True, True]
    first, second = (outcome_of(gencrawl, each) for each in directories)
    assert second == first
    compared = second[0]
    assert compared["new"] == [web.url(1, "new")]
    assert set(compared["changed"]) == {web.url(0, "0"), web.url(1, "changes")}
    reasons = sorted(each["reason"] for each in compared["vanished"])
    assert reasons == ["http_410", "no longer linked", "redirect"]
    for words in ("same", "otherwise", "breaks"):
        assert words_of(gencrawl, one, words) == words_of(gencrawl, two, words)
    assert words_of(gencrawl, two, "vanishes") == []
    files, _ = exported(gencrawl, one, tmp_path / "files-1")
    assert exported(gencrawl, two, tmp_path / "files-2") == (files, False)
    report = gencrawl.json("report", two, "--format", "json", "--quiet")
    assert [p["count"] for p in report["problems"] if p["kind"] == "soft_404"] == [2]
    captures = [c for c in captures_of(two) if c.status == 304]
    assert {c.kind for c in captures} == {NOT_MODIFIED}
    assert all(c.refers_to is not None for c in captures)


def captures_of(directory):
    for part in directory.glob("part-*"):
        with contextlib.closing(Captures(part, read_only=True)) as captures:
            yield from captures.in_order()
