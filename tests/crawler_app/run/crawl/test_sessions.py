"""Sites that put a new session ID into each link."""

import itertools
import re

import pytest

from crawler_app.base.models import State
from tests.helpers.site import Site

PAGES = 30

STYLES = {
    "Java": "/p{page};jsessionid={id:032X}.node1?view=all",
    "PHP": "/p{page}?PHPSESSID={id:026x}&view=all",
    "phpBB": "/p{page}?view=all&sid={id:032x}",
    "ASP.NET": "/(S({id:024x}))/p{page}?view=all",
}


class SessionSite(Site):
    """Answers each request with links to all pages, under IDs that are new."""

    style = ""
    redirects = False

    def __init__(self):
        self._ids = itertools.count(1)
        super().__init__()

    def link(self, page):
        return self.style.format(page=page, id=next(self._ids))

    def _write(self, handler, path):
        page = re.search(r"/p(\d+)", path)
        if self.redirects and page:
            handler.redirect(self.link(page[1]))
        elif page or path == "/":
            handler.set_header("Content-Type", "text/html")
            links = map(self.link, range(PAGES))
            handler.write("".join(f'<a href="{link}">x</a>' for link in links))
        else:
            handler.set_status(404)


@pytest.fixture
def site():
    site = SessionSite()
    yield site
    site.stop()


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_each_page_is_fetched_once(site, crawl, style):
    site.style = style

    crawl()

    assert len(site.paths) == 1 + PAGES
    assert len(set(re.findall(r"/p\d+", " ".join(site.paths)))) == PAGES


def test_redirects_to_new_sessions_end(site, crawl):
    site.style, site.redirects = STYLES["Java"], True

    crawler = crawl(max_redirects=3)

    records = list(crawler.frontier.records())
    assert len(records) == 1 + PAGES
    assert [r.outcome.reason for r in records[1:]] == ["too_many_redirects"] * PAGES
    assert len(site.paths) == 1 + PAGES * 4


def test_changing_parameters_of_other_names_are_a_trap(site, crawl):
    site.style = "/p{page};visit={id}"

    crawler = crawl(max_queries_per_path=2)

    states = [record.state for record in crawler.frontier.records()]
    assert states.count(State.DONE) == 1 + 2 * PAGES
    assert crawler.stats["skipped/too_many_queries"]


@pytest.mark.parametrize("style", ["/{id:032x}/p{page}", "/calendar/{id}/p{page}"])
def test_new_ids_in_paths_end_when_pages_repeat_each_other(site, crawl, style, caplog):
    site.style = style

    crawler = crawl(max_queries_per_path=40)

    assert 40 < len(site.paths) < 200
    assert crawler.stats["skipped/too_many_alike"]
    assert caplog.text.count("max-queries-per-path raises the limit") == 1
