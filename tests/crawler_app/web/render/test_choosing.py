"""Which pages `--render auto` renders, of sites of different kinds."""

from typing import NamedTuple

import pytest

from crawler_app.web.render.choosing import RenderChoice, signs_in

WHOLE = "<a href=/>Home</a><p>A page like any other."
LONG = "It is all here. " * 20
DECORATED = WHOLE + "<div class=clear></div>"
SKELETON = "<h1>Product</h1><div class=line></div>"


class Page(NamedTuple):
    """A page, and what its scripts do."""

    body: str = WHOLE
    text: str = "A page like any other."
    gains: bool = False


def wants(choice, url, page):
    return choice.wants(url, page.body.encode(), page.text)


@pytest.fixture
def crawl():
    """Return a function that reads pages one after another, and returns what was rendered."""

    def crawl(page_by_path):
        choice, rendered, paths = RenderChoice(), [], list(page_by_path)
        while paths:
            for path in paths:
                url, page = f"http://a.test{path}", page_by_path[path]
                if wants(choice, url, page):
                    rendered.append(path)
                    choice.learn(url, has_gained=page.gains)
            paths = [url.removeprefix("http://a.test") for url in choice.take_missed()]
        return rendered

    return crawl


def pages(form, count, page):
    return {form.format(number): page for number in range(count)}


def test_one_page_in_ten_of_a_static_site_is_rendered_however_short(crawl):
    site = pages("/p{}", 4, Page(text=LONG))
    for folder in "abcdefghi":
        site |= pages(f"/{folder}/{{}}", 4, Page())

    assert len(crawl(site)) == 4


def test_what_stays_empty_in_one_page_is_no_reason_to_render_others(crawl):
    site = {}
    for folder in "abcde":
        site |= pages(f"/{folder}/{{}}", 2, Page(DECORATED))

    assert crawl(site) == ["/a/0"]


def test_what_a_long_page_shows_is_known_for_short_ones(crawl):
    site = {"/": Page(DECORATED, text=LONG)} | pages("/p{}", 9, Page(DECORATED))

    assert crawl(site) == ["/"]


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
    site = pages("/p{}", 3, Page("<p>Thanks", "Thanks"))
    site["/app"] = Page("<div id=root></div>", "", gains=True)

    assert "/app" in crawl(site)


def test_trials_that_are_left_go_to_the_largest_shape_of_which_nothing_is_known(crawl):
    shell = Page("", "", gains=True)
    site = {"/": Page(), "/app/1": shell} | pages("/small/{}", 4, Page())
    live = pages("/live/{}", 13, Page(gains=True))

    rendered = crawl(site | live | {"/app/2": shell})

    assert rendered[:3] == ["/", "/app/1", "/app/2"]
    assert set(rendered[3:-1]) == set(live)
    assert rendered[-1] == "/small/0"  # the second in vain, of twenty


def test_markup_that_differs_in_each_page_is_tried_a_few_times_only(crawl):
    site = {
        f"/{chr(97 + n)}/x": Page(f"<div class={chr(97 + n)}></div>") for n in range(20)
    }

    assert len(crawl(site)) <= 20 // 10 + 5


@pytest.mark.parametrize("gains", [True, False])
def test_pages_with_the_same_place_wait_for_what_is_found_in_the_first(gains):
    choice, page = RenderChoice(), Page(SKELETON, "Product")

    first, second = (wants(choice, f"http://a.test/{n}/1", page) for n in "ab")
    assert (first, second, choice.take_missed()) == (True, False, [])

    choice.learn("http://a.test/a/1", has_gained=gains)
    assert choice.take_missed() == ["http://a.test/b/1"] * gains


def test_page_that_failed_is_rendered_when_it_is_tried_again():
    choice, page = RenderChoice(), Page(SKELETON, "Product")

    assert wants(choice, "http://a.test/1", page)
    assert wants(choice, "http://a.test/1", page)


def test_application_page_does_not_have_the_pages_beside_it_rendered(crawl):
    site = pages("/p{}", 40, Page()) | {"/app": Page(SKELETON, gains=True)}

    assert len(crawl(site)) <= 1 + 40 // 10


@pytest.mark.parametrize("body", [b"<div ", b"<div><!-- -->", b"<a-a "])
def test_hostile_markup_is_read_in_linear_time(body):
    """A quadratic search of these takes hours."""
    whole = body * 1_000_000 + b" type=json"

    assert signs_in(whole, "Text") == []
