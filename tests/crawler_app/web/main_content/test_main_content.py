"""Which parts of a page are its main content."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import parse_fragment

from crawler_app.web.main_content import main_content
from crawler_app.web.main_content.blocks import page_of
from crawler_app.web.main_content.embedded import embedded_text

SENTENCE = "The bridge was closed in spring, and nobody knows when it will open again. "


def story(title):
    parts = (f"<p>{title}, {number}: {SENTENCE * 3}</p>" for number in range(5))
    return f"<h1>{title}</h1>{''.join(parts)}"


STORY, LATER = story("The bridge"), story("The tunnel")
AROUND = {
    "nav": "<nav><ul><li><a href=a>AROUND</a><li><a href=b>Sports</a></ul></nav>",
    "menu": "<div class='main-menu'><a href=a>AROUND</a> <a href=b>Sports</a></div>",
    "footer": "<footer><p>© 2026 AROUND. All rights reserved.</p></footer>",
    "cookies": "<div id=cookieConsent><p>We use cookies. AROUND <button>Yes</button></div>",
    "aside": "<aside><h2>AROUND</h2><ul><li><a href=c>More</a></ul></aside>",
    "related": "<div class=related-posts><h3>AROUND</h3><a href=f>Tunnel</a></div>",
    "sign up": "<form class=newsletter><label>AROUND</label><button>Go</button></form>",
    "hidden": "<div role=dialog style='display: none'><p>AROUND</p></div>",
}


def text_of(markup, **options):
    body, _ = main_content(markup, **options)
    return "" if body is None else " ".join(body.to_text().split())


@pytest.mark.parametrize("frame", ["{}", "<main>{}</main>", "<div class=post>{}</div>"])
def test_what_is_around_a_story_is_left_out(frame):
    above = "".join(AROUND[name] for name in ("cookies", "hidden", "menu", "nav"))
    below = "".join(AROUND[name] for name in ("related", "aside", "sign up", "footer"))
    page = f"{above}{frame.format(STORY)}{below}"

    assert text_of(page) == text_of(STORY, whole_page=True)
    assert text_of(page, whole_page=True).count("AROUND") == 8


@pytest.mark.parametrize("attribute", ["class", "id"])
@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("related-posts", "related posts"),
        ("x1_related2posts", "related posts"),
        ("écran_related", "related"),
        ("relatedPosts", "related posts"),
        ("RelatedPOSTS", "related posts"),
        ("XRELATED é posts", "posts"),
        ("correlated", ""),
    ],
)
def test_words_of_an_attribute_are_told_apart(attribute, written, words):
    of_words = "".join(f"<i class={word}>" for word in words.split())

    signs, expected = (
        page_of(parse_fragment(f"{around}<p>A")).blocks[-1].signs
        for around in (f'<div {attribute}="{written}">', f"{of_words}<div>")
    )

    assert signs == expected


def test_menu_that_is_longer_than_its_page_is_left_out():
    items = "".join(f"<li class=item><a href={n}>AROUND {n}</a>" for n in range(90))
    page = (
        "<article><h1>The bridge</h1><p>It is closed, until someone opens it.</article>"
    )

    text = text_of(f"<main><nav><ul>{items}</ul></nav>{page}</main>")

    assert text == text_of(page, whole_page=True)


@pytest.mark.parametrize(
    "part",
    [
        "<ul><li>One span</ul>",
        "<table><tr><th>Span<td>90 m<tr><th>Year<td>1911</table>",
        "<pre><code>bridge.close()</code></pre>",
        "<blockquote><p>It is safe.</blockquote>",
        "<dl><dt>Span<dd>90 m</dl>",
        "<h2>Why</h2>",
        "<details><summary>Figures</summary><p>It is 90 m long.</details>",
    ],
)
def test_parts_of_a_story_stay(part):
    page = f"{AROUND['nav']}<main>{STORY}{part}{LATER}</main>{AROUND['footer']}"

    assert text_of(page) == text_of(f"{STORY}{part}{LATER}", whole_page=True)


def test_copy_of_what_is_above_is_left_out():
    slides = (
        "<div class=slide><p>We moved the whole bank in a week, and it was fun.</div>"
    )

    assert text_of(f"{STORY}{slides * 3}").count("the whole bank") == 1


def test_titles_and_lines_of_code_may_be_repeated():
    line = "const mapDispatchToProps = (dispatch) => bindActionCreators(all, dispatch)"
    code = f"<pre><code><div>{line}</div><div>export default</div></code></pre>"
    title = "Connect: dispatching actions with the function mapDispatchToProps"
    path = f"<ul class=breadcrumbs><li><a href=/>Home</a><li>{title}</ul>"

    text = text_of(f"{path}<main><h1>{title}</h1>{LATER}{code * 2}</main>")

    assert text.startswith(title)
    assert text.count(line) == 2


def test_short_texts_may_be_repeated():
    options = "".join(f"<h2>{name}</h2><p>Type: number" for name in "abcdef")

    assert text_of(f"{STORY}{options}").count("Type: number") == 6


def test_images_stay_with_the_text_before_them():
    body, _ = main_content(
        f"<nav><a href=/><img src=logo></a></nav>{STORY}\n<figure>\n<img src=b></figure>"
    )

    assert [each.attr("src") for each in body.find_all("img")] == ["b"]


def test_empty_cells_of_a_table_stay():
    row = f"<tr>\n<th></th>\n<th>Span</th>\n<tr><td>{SENTENCE}</td>\n<td></td>"

    body, _ = main_content(f"{STORY}{AROUND['aside']}<table>{row}</table>{STORY}")

    assert len(body.find_all(["th", "td"])) == 4


@pytest.mark.parametrize("quote", ["&quot;", '\\"'])
def test_posts_that_only_a_script_shows(quote):
    post = f'{{"posts": "[{{\\"cooked\\": \\"<p>{SENTENCE}</p>\\"}}]"}}'
    if quote == "&quot;":
        page = f'<div data-preloaded="{post.replace(chr(34), quote)}"></div>'
    else:
        page = f"<script type='application/json'>{post}</script>"

    assert text_of(page) == SENTENCE.strip()


def test_noscript_is_read_if_there_is_nothing_else():
    page = f"<div id=app></div><noscript>{STORY}</noscript>"

    assert text_of(page) == text_of(STORY, whole_page=True)


@pytest.mark.parametrize("markup", ["", "<frameset><frame src=a></frameset>", "<p> "])
def test_page_without_text_has_no_main_content(markup):
    assert main_content(markup)[0] is None


def test_base_is_returned():
    assert main_content("<base href=/docs/>" + STORY)[1] == "/docs/"


@given(st.text(alphabet="<>/=\"'{}[]:,adivptrulscn jo\\", max_size=200))
def test_any_markup_is_accepted(markup):
    main_content(markup)
    embedded_text(markup)


@pytest.mark.parametrize("piece", ["<script ", "<script application/json "])
def test_scripts_without_an_end_take_little_time(piece):
    began = time.process_time()

    assert main_content(piece * (2_000_000 // len(piece)))[0] is None

    assert time.process_time() - began < 5  # not hours


def test_elements_may_be_nested_by_the_thousand():
    assert text_of("<div>" * 5000 + STORY) == text_of(STORY, whole_page=True)


@pytest.mark.parametrize("piece", ["<p>x", "<a>x", "<ul><li>x", "<table><tr><td>x"])
def test_elements_by_the_hundred_thousand_take_little_time(piece):
    began = time.process_time()

    assert text_of(STORY + piece * (2_000_000 // len(piece))).count("x")

    assert time.process_time() - began < 5  # not minutes
