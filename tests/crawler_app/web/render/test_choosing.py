"""Which pages `--render auto` renders, of sites of different kinds."""

from collections import Counter
from typing import NamedTuple

import pytest

from crawler_app.web.render.choosing import RenderChoice, gaps_in, has_scripts
from gencoro import gen

WHOLE = "<a href=/>Home</a><p>A page like any other."
LONG = "It is all here. " * 20
DECORATED = WHOLE + "<div class=clear></div>"
SKELETON = "<h1>Product</h1><div class=line></div>"


class Page(NamedTuple):
    """A page, and what its scripts do."""

    body: str = WHOLE
    text: str = "A page like any other."
    is_shell: bool = False
    gains: bool = False

    def learn(self, choice, candidate):
        gaps = gaps_in(self.body.encode())
        left = Counter() if self.gains else gaps
        choice.learn(candidate, has_gained=self.gains, before=gaps, after=left)


def ask(choice, url, page):
    return gen.coroutine(choice.candidate)(
        url, page.body.encode(), page.text, is_shell=page.is_shell
    )


@pytest.fixture
def crawl(run_sync):
    """Return a function that reads pages one after another, and returns what was rendered."""

    def crawl(page_by_path):
        choice, rendered, paths = RenderChoice(), [], list(page_by_path)
        while paths:
            for path in paths:
                page = page_by_path[path]
                url = f"http://a.test{path}"
                candidate = run_sync(lambda url=url, page=page: ask(choice, url, page))
                if candidate is not None:
                    rendered.append(path)
                    page.learn(choice, candidate)
            paths = [url.removeprefix("http://a.test") for url in choice.take_missed()]
        return rendered

    return crawl


def pages(form, count, page):
    return {form.format(number): page for number in range(count)}


def test_one_page_in_ten_of_a_static_site_is_rendered_however_short(crawl):
    site = pages("/p{}", 10, Page()) | pages("/blog/{}", 20, Page(text=LONG))

    assert len(crawl(site)) == 3


def test_what_stays_empty_in_one_page_is_no_reason_to_render_others(crawl):
    site = {}
    for folder in "abcde":
        site |= pages(f"/{folder}/{{}}", 2, Page(DECORATED))

    assert crawl(site) == ["/a/0"]


def test_what_a_long_page_shows_is_known_for_short_ones(crawl):
    site = {"/": Page(DECORATED, text=LONG)} | pages("/p{}", 9, Page(DECORATED))

    assert crawl(site) == ["/"]


def test_one_of_two_equal_places_that_is_filled_is_a_reason_to_render(run_sync):
    choice = RenderChoice()
    page = Page(SKELETON + SKELETON, "Product")

    @gen.coroutine
    def twice():
        first = yield ask(choice, "http://a.test/a/1", page)
        before, after = (gaps_in(each.encode()) for each in (page.body, SKELETON))
        choice.learn(first, has_gained=True, before=before, after=after)
        return (yield ask(choice, "http://a.test/b/1", page))

    assert run_sync(twice) is not None


def test_pages_with_a_place_to_fill_are_rendered_on_a_site_that_is_static_otherwise(
    crawl,
):
    site = pages("/p{}", 12, Page(DECORATED))
    products = pages("/product/{}", 5, Page(SKELETON, "Product", gains=True))

    assert set(products) < set(crawl(site | products))


@pytest.mark.parametrize(
    "text", ["Loading", "Bitte warten ...", "取得中…", "{{ name }}"]
)
def test_pages_whose_text_will_be_replaced_are_rendered(crawl, text):
    site = pages("/p{}", 9, Page()) | pages("/x/{}", 3, Page(text=text, gains=True))

    assert len(crawl(site)) == 1 + 3


def test_application_among_empty_pages_of_its_folder_is_found(crawl):
    site = pages("/p{}", 3, Page("<p>Thanks", "Thanks", is_shell=True))
    site["/app"] = Page("<div id=root></div>", "", is_shell=True, gains=True)

    assert "/app" in crawl(site)


def test_trials_that_are_left_go_to_the_largest_shape_of_which_nothing_is_known(crawl):
    shell = Page("", "", is_shell=True, gains=True)
    site = {"/": Page(), "/app/1": shell} | pages("/small/{}", 4, Page())
    live = pages("/live/{}", 13, Page(gains=True))

    rendered = crawl(site | live | {"/app/2": shell})

    assert rendered[:3] == ["/", "/app/1", "/app/2"]
    assert set(rendered[3:-1]) == set(live)
    assert rendered[-1] == "/small/3"  # the second in vain, of twenty


def test_markup_that_differs_in_each_page_is_tried_a_few_times_only(crawl):
    site = {
        f"/{chr(97 + n)}/x": Page(f"<div class={chr(97 + n)}></div>") for n in range(20)
    }

    assert len(crawl(site)) <= 20 // 10 + 5


def test_pages_with_the_same_place_wait_for_what_is_found_in_the_first(run_sync):
    choice = RenderChoice()
    page = Page(SKELETON, "Product")

    @gen.coroutine
    def both():
        first = yield ask(choice, "http://a.test/a/1", page)
        waiting = ask(choice, "http://a.test/b/1", page)
        assert not waiting.done()
        page.learn(choice, first)
        return (yield waiting)

    assert run_sync(both) is None


def test_page_that_failed_is_rendered_when_it_is_tried_again(run_sync):
    choice = RenderChoice()

    @gen.coroutine
    def twice():
        page = Page(SKELETON, "Product")
        first = yield ask(choice, "http://a.test/1", page)
        gaps = gaps_in(page.body.encode())
        choice.learn(first, has_gained=None, before=gaps, after=Counter())
        return (yield ask(choice, "http://a.test/1", page))

    assert run_sync(twice) is not None


@pytest.mark.parametrize("body", [b"<script ", b"<div ", b"<div><!-- -->", b"<a-a "])
def test_hostile_markup_is_read_in_linear_time(body):
    """A quadratic search of these takes hours."""
    whole = body * 1_000_000 + b" type=json"

    assert has_scripts(whole) == body.startswith(b"<script")
    assert not gaps_in(whole)
