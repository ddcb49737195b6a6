"""Crawling a site again with several processes: as with one, only what has changed is fetched."""

import json

import pytest

from tests.helpers.site import Answer

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


def test_several_processes_find_the_changes_that_one_finds(
    web, changing, gencrawl, tmp_path
):
    directories = {1: tmp_path / "one", 3: tmp_path / "three"}

    def crawl():
        for processes, directory in directories.items():
            ended = gencrawl(
                *("crawl", web.url(0, "0"), "--scope", "any", "--into", directory),
                *("--quiet", "--processes", processes),
            )
            assert ended.status == 0, ended.err

    crawl()
    # Numbered otherwise, the processes ask for pages that another has archived.
    for number in range(3):
        part = directories[3] / f"part-{number}"
        part.rename(part.with_name(f"part-{number + 3}"))
    before = web.requests
    for site in web.sites:
        site.requests_before = len(site.requests)
    changing()
    crawl()

    again = web.requests - before
    assert set(again.values()) == {2}  # each crawl asks once
    # Whichever process has the page in its archive.
    assert conditional(web, "/stays") == [True, True]
    one, three = (outcome_of(gencrawl, each) for each in directories.values())
    assert three == one
    assert three[0]["new"] == [web.url(1, "new")]
    assert set(three[0]["changed"]) == {web.url(0, "0"), web.url(1, "changes")}
    reasons = sorted(each["reason"] for each in three[0]["vanished"])
    assert reasons == ["http_410", "no longer linked", "redirect"]
    for words in ("same", "otherwise", "vanishes", "breaks"):
        first, other = (words_of(gencrawl, d, words) for d in directories.values())
        assert first == other
    assert words_of(gencrawl, directories[3], "vanishes") == []
    folders = (
        exported(gencrawl, d, tmp_path / f"files-{n}") for n, d in directories.items()
    )
    (files, _), (other_files, is_shown) = folders
    assert (other_files, is_shown) == (files, False)
    for directory in directories.values():
        archive = gencrawl.json("status", directory, "--json")["archive"]
        assert archive["revisits"] == 1, "that of /stays"


def test_unfinished_crawl_is_replaced_and_each_run_asks_for_soft_404s(
    web, gencrawl, tmp_path, caplog
):
    web.tree(16)
    for site in web.sites[:2]:
        site.otherwise = [Answer(b"No such page")]
    command = ["crawl", web.url(0, "0"), "--scope", "any", "--into", tmp_path / "x"]
    command += ["--quiet", "--processes", 2, "--soft-404"]

    gencrawl(*command)
    gencrawl(*command, "--max-pages", 3)
    assert not caplog.text
    gencrawl(*command)

    assert "The crawl in that directory is unfinished" in caplog.text
    compared = gencrawl.json("status", tmp_path / "x", "--json")["compared"]
    assert compared["new"] == compared["changed"] == compared["vanished"] == []
    report = gencrawl.json("report", tmp_path / "x", "--format", "json")
    (found,) = (each for each in report["problems"] if each["kind"] == "soft_404")
    assert found["count"] == 2
    for site in web.sites:
        assert sum(len(path) > 30 for path in site.paths) == 2
