"""A crawl in PostgreSQL that a test begins with the command line."""

import pytest

__all__ = ["PAGES", "begin", "server", "small_tree"]

PAGES = 30


@pytest.fixture
def small_tree(site):
    """A small tree of pages; the first sets a cookie."""
    for number in range(PAGES):
        below = [n for n in (2 * number + 1, 2 * number + 2) if n < PAGES]
        headers = {} if number else {"Set-Cookie": "id=7"}
        title = f"Telescope {number}"
        site.page(f"/{number}", *map(str, below), title=title, headers=headers)
    return site


@pytest.fixture
def server(gencrawl, postgres_url, tmp_path, monkeypatch):
    """The arguments that name a crawl, which does not exist before and after."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    name = ("--crawl", "docs")
    gencrawl("postgres", "drop", postgres_url, *name)
    yield postgres_url, *name
    gencrawl("postgres", "drop", postgres_url, *name)


@pytest.fixture
def begin(gencrawl, small_tree, server):
    """Begin the crawl, or take part in it again, with a worker."""

    def begin(into, *options):
        url, *name = server
        seed = ("crawl", f"{small_tree.url}0", "--frontier", url, *name)
        return gencrawl(*seed, "--into", into, "--quiet", *options)

    return begin
