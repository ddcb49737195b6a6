"""Several hosts whose pages link to each other, and the processes of a crawl."""

import collections
import contextlib
import pathlib

import pytest

from tests.helpers.postgres import prepared_servers
from tests.helpers.scripts import is_running
from tests.helpers.site import Site

__all__ = ["prepared_servers"]


class Web:
    """Four hosts; a URL is that of a page on one of them."""

    def __init__(self, sites):
        self.sites = sites

    def url(self, number, path=""):
        return f"{self.sites[number].url}{path}"

    @property
    def requests(self):
        """The number of requests for each URL, without robots.txt."""
        return collections.Counter(
            f"{site.url}{path[1:]}"
            for site in self.sites
            for path in site.paths
            if path != "/robots.txt"
        )

    def tree(self, pages, hosts=4):
        """A tree of pages on several hosts, with redirects in it; return their URLs.

        Each page links to its four children, most of which are on other hosts.
        """
        urls = []
        for i in range(pages):
            children = [
                self.url(c % hosts, str(c))
                for c in range(4 * i + 1, 4 * i + 5)
                if c < pages
            ]
            site, path = self.sites[i % hosts], f"/{i}"
            if i % 7 == 3:
                site.redirect(path, to=self.url((i + 1) % hosts, f"r{i}"))
                urls.append(self.url(i % hosts, str(i)))
                site, path = self.sites[(i + 1) % hosts], f"/r{i}"
            site.page(path, *children)
            urls.append(f"{site.url}{path[1:]}")
        return urls


@contextlib.contextmanager
def started_web():
    sites = [Site() for _ in range(4)]
    try:
        yield Web(sites)
    finally:
        for site in sites:
            site.stop()


@pytest.fixture(scope="session")
def make_web():
    """Return a context manager that starts the hosts, for a whole module."""
    return started_web


@pytest.fixture
def web():
    with started_web() as web:
        yield web


def workers_of(pid):
    """Return the ids of the workers' processes of a crawl, which its fork server has started."""
    return [worker for server in children_of(pid) for worker in children_of(server)]


def children_of(pid):
    """Return the ids of the processes that a process has started."""
    found = []
    # Looking at every process would take most of the time of those who wait for one.
    for thread in pathlib.Path("/proc").glob(f"{pid}/task/*/children"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found += thread.read_text().split()
    return [int(child) for child in found if is_running(child)]
