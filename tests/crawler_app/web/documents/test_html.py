"""HTML pages: links as browsers see them, titles, charsets, robots directives."""

import pytest

from crawler_app.web.documents import html
from crawler_app.web.documents.html import MAX_TITLE_CHARS, parse_html


def links(markup):
    return parse_html(markup.encode(), "text/html; charset=utf-8").links


def test_links_are_unique_and_in_document_order():
    page = "<a href=b>1</a><map><area href=a></map><a href=b>2</a><a href=c>3</a>"

    assert links(page) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        ("<!-- > <a href=x>x</a><!-- <a href=x> -->", []),
        ("<script><!-- <script> <a href=x> </script> --></script>", []),
        ("<title><a href=x></title><style><a href=x></style><xmp><a href=x>", []),
        ("<a>x</a><a name=x>x</a><a data-href=x>x</a>", []),
        ("<link href=x><img src=x><form action=x></form>", []),
        ("<p title='<a href=x>'><!a href=x>&lt;a href=x&gt;", []),
        ("<a href=x", []),
        ("<a href=x>", ["x"]),
        ("<a href='x>y", []),
        ("<A HREF=x>X</A>", ["x"]),
        ("<a href=x href=y>", ["x"]),
        ("<a\nhref\n=\n'x'\n>", ["x"]),
        ("<a/href=x>", ["x"]),
        ("<a class=a\"b'c=d href=x <b>", ["x"]),
        ("<a = == ' href=x>", ["x"]),
        ("<a href>1</a><a href=''>2</a><a href=x>3</a>", ["", "x"]),
        ("<a href=1><a href=2><a href=3>", ["1", "2", "3"]),
        ("<table><a href=1><tr><a href=2><td><a href=3></table>", ["1", "2", "3"]),
        ("<p><b><i><a href=x></p></b></table></i></body></html>", ["x"]),
        ("</html><a href=late>", ["late"]),
        ("<a href='a&amp;b'><a href='?c&copy=1'>", ["a&b", "?c&copy=1"]),
        ("<a href='?a&b'>", ["?a&b"]),
        ("<a href='&#x61;b'>", ["ab"]),
        ("<noscript><a href=x>x</a></noscript>", ["x"]),
        ("<button><a href=x>x</a></button><div hidden><a href=y>", ["x", "y"]),
        ("<svg><a href=x></a></svg>", ["x"]),
        ("<svg><a xlink:href=x><title>t</title></a></svg><a href=y>", ["x", "y"]),
        ("<svg><a xlink:href=x href=y></a></svg><a xlink:href=z>", ["y"]),
        ("\0<a\0 href=x>\0<a hr\0ef=y>\0<a href=z\0z>", ["z\ufffdz"]),
    ],
)
def test_links_are_those_of_browsers(markup, found):
    assert links(markup) == found


def test_title_is_one_line_of_limited_length():
    title = "<title> A\n\tlong  &amp; winding " + "title " * 500 + "</title>"

    page = parse_html(title.encode())

    assert page.title.startswith("A long & winding title title")
    assert len(page.title) <= MAX_TITLE_CHARS


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<p>x", ""),
        ("<title>One</title><body><svg><title>Two</title></svg>", "One"),
        ("<svg><title>tooltip</title></svg><title>The page</title>", "The page"),
        ("<title>a\x1b]0;pwn\x07\x1b[2Jb \u202e \x9bc</title>", "a]0;pwn[2Jb  c"),
    ],
)
def test_title_is_the_first_without_control_characters(markup, title):
    assert parse_html(markup.encode()).title == title


@pytest.mark.parametrize(
    ("markup", "base"),
    [
        ("<base href=/x/>", "/x/"),
        ("<base target=_top><base href=1><base href=2>", "1"),
        ("<base href=' /x/ '>", " /x/ "),
        ("<base href>", ""),
        ("<base href=''><base href=x>", ""),
        ("<!-- <base href=x> -->", ""),
        ("<svg><base href=x></base></svg><base href=y>", "y"),
        ("<math><base href=x></base></math>", ""),
        ("<svg><foreignObject><base href=x></foreignObject></svg>", "x"),
        ("<template><base href=x></template>", ""),
        ("<p>x", ""),
    ],
)
def test_base_is_the_first_with_an_href(markup, base):
    assert parse_html(markup.encode()).base == base


@pytest.mark.parametrize(
    ("charset", "link", "escaped"),
    [
        # The examples in WHATWG URL, "percent-encode after encoding".
        ("shift_jis", "?\u2261", "?%81%DF"),
        ("shift_jis", "?\u8868", "?%95\\"),
        ("shift_jis", "?\u203d", "?%26%238253%3B"),
        ("utf-8", "?\u2261", "?\u2261"),
        # Other charsets, some of which have another name in Python.
        ("windows-1251", "?q=Да", "?q=%C4%E0"),
        ("windows-1251", "/Да?q=Да&x=1#Да", "/Да?q=%C4%E0&x=1#Да"),
        ("windows-1251", "/Да", "/Да"),
        ("windows-1251", "#Да?Да", "#Да?Да"),
        ("windows-1252", "?é€", "?%E9%80"),
        ("iso-8859-8-i", "?א", "?%E0"),
        ("x-mac-cyrillic", "?Д", "?%84"),
        ("windows-874", "?ก", "?%A1"),
        ("iso-2022-jp", "?日本a", "?%1B$BF|K\\%1B(Ba"),
        ("gbk", "?日", "?%C8%D5"),
        ("utf-16le", "?é", "?é"),
        # ASCII characters follow the rules of URLs.
        ("windows-1251", "?a b%41&Д", "?a b%41&%C4"),
    ],
)
def test_query_is_escaped_in_the_charset_of_the_page(charset, link, escaped):
    # As character references, so that a page in any charset can contain every link.
    reference = "".join(c if c.isascii() else f"&#{ord(c)};" for c in link)
    codec = "utf-16-le" if charset == "utf-16le" else "ascii"
    body = f'<a href="{reference.replace("& ", "&amp; ")}">'.encode(codec)

    page = parse_html(body, f"text/html; charset={charset}")

    assert page.links == [escaped.partition("#")[0]]
    assert page.charset == charset


def test_page_of_a_hundred_thousand_links():
    body = b"".join(b"<a href=/%d>x</a>" % number for number in range(100_000))

    found = parse_html(body).links

    assert len(found) == 100_000
    assert found[:2] == ["/0", "/1"] and found[-1] == "/99999"


def test_page_of_a_million_open_tags():
    assert parse_html(b"<div>" * 1_000_000 + b"<a href=x>").links == ["x"]


@pytest.mark.parametrize(
    ("markup", "nofollow"),
    [
        ("<a href=x rel=nofollow>", {"x"}),
        ("<a href=x rel='Noopener NOFOLLOW'>", {"x"}),
        ("<map><area href=x rel=nofollow></map>", {"x"}),
        ("<a href=x rel=nofollow><a href=y>", {"x"}),
        ("<a href=x rel=nofollow><a href=x rel=nofollow>", {"x"}),
        # On the page without the directive too.
        ("<a href=x rel=nofollow><a href=x>", set()),
        ("<a href=x><a href=x#top rel=nofollow>", set()),
        ("<a href=x#top rel=nofollow>", {"x"}),
        # No such directive.
        ("<a href=x>nofollow</a>", set()),
        ("<a href=x rel='ugc sponsored'>", set()),
        ("<a href=x rel=nofollowers><a href=nofollow>", set()),
        ("<link href=x rel=nofollow><a href=x>", set()),
        ("<a rel=nofollow>", set()),
    ],
)
def test_nofollow_links_are_returned(markup, nofollow):
    page = parse_html(markup.encode())

    assert page.nofollow_links == nofollow
    assert set(page.links) >= nofollow


def test_nofollow_link_is_spelled_like_the_links():
    body = "<link rel=canonical href='?é'><a rel=nofollow href='?é#é'>".encode(
        "latin-1"
    )

    page = parse_html(body, "text/html; charset=latin1")

    assert page.links == ["?%E9"]
    assert page.nofollow_links == {"?%E9"}
    assert page.canonical == "?%E9"


@pytest.mark.parametrize(
    ("head", "robots"),
    [
        ("<meta name=robots content=noindex>", {"noindex"}),
        ("<META NAME='ROBOTS' CONTENT='NOINDEX,NOFOLLOW'>", {"noindex", "nofollow"}),
        ("<meta content=none name=robots>", {"noindex", "nofollow"}),
        ("<meta name=gencoro-crawler content=nofollow>", {"nofollow"}),
        (
            "<meta name=robots content=noindex><meta name=Gencoro-Crawler content=nofollow>",
            {"noindex", "nofollow"},
        ),
        ("<meta name=googlebot content=noindex>", set()),
        ("<meta name=robots content='index, follow'>", set()),
        ("<meta name=description content='robots, noindex'>", set()),
        ("<!-- <meta name=robots content=noindex> -->", set()),
        ("</head><body><meta name=robots content=noindex>", set()),
        ("", set()),
    ],
)
def test_robots_directives_are_read_in_the_head(head, robots):
    page = parse_html(f"<title>T</title>{head}</head><p>x".encode())

    assert page.robots == robots


def test_directive_for_an_agent_is_only_for_that_agent():
    page = b"<meta name=my-bot content=nofollow>"

    assert parse_html(page, agent="My-Bot").robots == {"nofollow"}
    assert parse_html(page).robots == set()


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_robots_directives_are_read_in_utf_16(codec):
    page = "<meta name=ROBOTS content=none><a REL=NOFOLLOW href=x>".encode(codec)

    assert parse_html(page).robots == {"noindex", "nofollow"}
    assert parse_html(page).nofollow_links == {"x"}


@pytest.mark.parametrize(
    ("markup", "canonical"),
    [
        ("<link rel=canonical href=' /x?a&amp;b '>", " /x?a&b "),
        ("<link rel=canonical href=a><link rel=canonical href=b>", "a"),
        ("<LINK HREF=a REL='x CANONICAL'>", "a"),
        ("<noscript><img src=x></noscript><link rel=canonical href=a>", "a"),
        # Where browsers put it into the head, and where not.
        ("</head><link rel=canonical href=a>", "a"),
        ("<p><link rel=canonical href=a>", ""),
        ("<body><link rel=canonical href=a>", ""),
        ("<link rel=canonical>", ""),
    ],
)
def test_canonical_is_the_first_of_the_head(markup, canonical):
    assert parse_html(markup.encode()).canonical == canonical


@pytest.mark.parametrize("limit", [MemoryError, TimeoutError])
def test_what_was_read_before_a_limit_counts(monkeypatch, limit):
    def fail(_tree, **_options):
        raise limit

    monkeypatch.setattr(html, "text_of", fail)

    page = parse_html(b"<title>T</title><a href=x>", with_text=True, with_assets=True)

    assert (page.title, page.links, page.is_partial) == ("T", ["x"], True)


def test_beginning_of_a_page_too_large_for_the_memory_is_read(monkeypatch):
    def fail(markup, *args, **options):
        if len(markup) > html.FIRST_BYTES[-1]:
            raise MemoryError
        return tree_of(markup, *args, **options)

    tree_of = html.tree_of
    monkeypatch.setattr(html, "tree_of", fail)

    page = parse_html(b"<a href=x>" + b"<p>y" * html.FIRST_BYTES[0])

    assert (page.links, page.is_partial) == (["x"], True)
