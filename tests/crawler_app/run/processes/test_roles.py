"""Assets and external URLs are found and counted as by one process."""

import json

import pytest

PAGES = 12
CSS = {"Content-Type": "text/css"}
PNG = {"Content-Type": "image/png"}


@pytest.fixture(scope="module")
def rich_web(make_web):
    """Pages on two hosts, each with assets on the other host and external links."""
    with make_web() as web:
        for i in range(PAGES):
            add_page(web, i)
        yield web


def add_page(web, i):
    here, there, outside = i % 2, (i + 1) % 2, 2 + i % 2
    children = [c for c in (2 * i + 1, 2 * i + 2) if c < PAGES]
    links = [web.url(c % 2, f"page-{c}") for c in children]
    links.append(web.url(outside, f"out?{i}"))
    web.sites[here].answer(
        f"/page-{i}",
        "".join(
            [
                f"<link rel=stylesheet href={web.url(there, f'{i}.css')}>",
                f"<img src={web.url(there, f'missing-{i}.png')}>",
                *(f"<a href={link}>x</a>" for link in links),
            ]
        ).encode(),
    )
    background = f"p {{ x: url({web.url(here, f'{i}.png')}) }}"
    web.sites[there].answer(f"/{i}.css", background.encode(), headers=CSS)
    web.sites[here].redirect(f"/{i}.png", to=web.url(there, f"moved-{i}.png"))
    web.sites[there].answer(f"/moved-{i}.png", b"PNG", headers=PNG)
    if i < PAGES // 2:
        web.sites[outside].page(f"/out?{i}")


@pytest.fixture
def crawl(rich_web, gencrawl, tmp_path):
    """Return a function that crawls; it returns what was requested, and how often."""

    def crawl(processes, *options):
        before = rich_web.requests
        result = gencrawl(
            *("crawl", rich_web.url(0, "page-0"), rich_web.url(1, "page-1")),
            *("--into", tmp_path / processes, "--processes", processes, "--quiet"),
            *options,
        )
        assert result.status == 0
        return rich_web.requests - before

    return crawl


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--external", "--config", "few-queries.toml"),
        ("--max-depth", "1", "--external"),
        ("--assets", "none"),
    ],
)
def test_records_roles_and_counts_are_those_of_one_process(
    crawl, gencrawl, tmp_path, monkeypatch, options
):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("few-queries.toml").write_text("max-queries-per-path = 2")
    requests = [crawl(processes, *options) for processes in ("1", "2")]

    one, two = tmp_path / "1", tmp_path / "2"
    assert requests[1] == requests[0]
    assert (found := records(gencrawl, two)) == records(gencrawl, one)
    roles = {"link", "asset", "external"}
    if "--external" not in options:
        roles.remove("external")
    if "none" in options:
        roles.remove("asset")
    assert {record["role"] for record in found} == roles
    assert counts(gencrawl, two) == counts(gencrawl, one)


def records(gencrawl, directory):
    """Return what is exported, in the order of the URLs, without times."""
    lines = gencrawl("export", directory, "--quiet").out.splitlines()
    found = sorted(map(json.loads, lines), key=lambda values: values["url"])
    return [
        {name: values[name] for name in values if name not in ("took_s", "finished_at")}
        for values in found
    ]


def counts(gencrawl, directory):
    """Return what `report` and `status` count, and what is broken."""
    report = gencrawl.json("report", directory, "--format", "json", "--quiet")
    names = ("totals", "statuses", "checked", "pages_not_read", "depths", "not_checked")
    status = gencrawl("status", directory).out.splitlines()
    return (
        {name: report[name] for name in names},
        {each["reason"]: each["count"] for each in report["skipped"]},
        {each["url"]: sorted(map(str, each["links"])) for each in report["broken"]},
        {host["host"]: (host["urls"], host["broken"]) for host in report["hosts"]},
        report["kept"]["archive"]["captures"],
        [line for line in status if "skipped" in line or "asset" in line],
    )


@pytest.mark.parametrize("max_pages", [1, 5])
def test_last_pages_get_their_assets_from_other_processes(
    crawl, gencrawl, tmp_path, max_pages
):
    requests = crawl("2", "--max-pages", str(max_pages))

    pages = {url.rpartition("-")[2] for url in requests if "/page-" in url}
    assert len(pages) == max_pages
    for name in ("/{}.css", "/{}.png", "/moved-{}.png", "/missing-{}.png"):
        ends = tuple(name.format(page) for page in pages)
        assert sum(url.endswith(ends) for url in requests) == max_pages
    status = gencrawl.json("status", tmp_path / "2", "--json")
    assert status["done"] + status["failed"] == 5 * max_pages
