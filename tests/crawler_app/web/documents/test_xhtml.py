"""Pages that are XML."""

import pytest

from crawler_app.web.documents.html import parse_html
from crawler_app.web.documents.xhtml import is_xhtml

XHTML = "application/xhtml+xml; charset=utf-8"
PAGE = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head>\n'
    '<body><p>ä{}<a href="/after">x</a></p></body></html>'
)


def read(piece):
    body = PAGE.format(piece).encode()
    return parse_html(body, XHTML, with_text=True, with_assets=True, with_outline=True)


@pytest.mark.parametrize(
    ("piece", "assets", "text"),
    [
        ('<script src="s"/>', ["s"], "ä x"),
        ("<style/><textarea/><title/><noscript/><template/><canvas/>", [], "ä x"),
        ('<iframe src="f"/><video src="v"/><object data="o"/>', ["f", "v", "o"], "ä x"),
        (
            '<svg xmlns="http://www.w3.org/2000/svg"><title/><image href="i"/></svg>',
            ["i"],
            "ä x",
        ),
        ("<![CDATA[ <img src='no'> ]]>", [], "ä <img src='no'> x"),
        ("<script>//<![CDATA[\nif (a<b) {'<img src=no>'}//]]></script>", [], "ä x"),
        ("<?x <img src='no'> ?><!-- <img src='no'/> -->", [], "äx"),
        ("<IMG src='no'/>", [], "äx"),
        ("<img xmlns='other' src='no'/>", [], "äx"),
        ("<h:img xmlns:h='http://www.w3.org/1999/xhtml' src='i'/>", ["i"], "ä x"),
        ("&nbsp;&eacute;<img src='&#x61;&amp;b'/>", ["a&b"], "ä é x"),
        ("<img\n\tsrc='i'/>", ["i"], "ä x"),
        ("<noscript><img src='i'/></noscript>", ["i"], "ä x"),
        (
            "<b><template shadowrootmode='open'><img src='no'/></template></b>",
            [],
            "ä x",
        ),
        ("<?xml-stylesheet href='no'?>", [], "ä x"),
    ],
)
def test_xhtml_is_read_as_xml(piece, assets, text):
    page = read(piece)

    assert page.title == "T" and page.links == ["/after"]
    assert sorted(each.value for each in page.assets) == sorted(assets)
    assert "".join(page.text.split()) == "".join(text.split())


def test_style_sheet_may_be_named_before_the_root():
    before = (
        '<?xml version="1.0"?>\n<?xml-stylesheet type="text/css" href="s?a=1&amp;b=2"?>'
    )

    page = parse_html((before + PAGE).encode(), XHTML, with_outline=True)

    assert page.title == "T" and page.links == ["/after"]
    (loaded,) = page.outline.loaded()
    assert (loaded.value, loaded.line, loaded.column) == ("s?a=1&b=2", 2, 40)


@pytest.mark.parametrize("piece", ["", "<script src='a'/>", "é<b>\n</b>", "&eacute;"])
def test_place_is_that_in_the_source(piece):
    (mention,) = (
        each for each in read(piece).outline.mentions if each.value == "/after"
    )

    line = PAGE.format(piece).split("\n")[mention.line - 1]
    assert line[mention.column - 1 :].startswith("/after")


@pytest.mark.parametrize(
    "piece", ["<br>", "<p>", "&what;", "<a b=c/>", "\0", "<b></i>", "a & b", "<x:y/>"]
)
def test_page_that_is_not_well_formed_is_read_as_html(piece):
    assert read(piece).links == ["/after"]


@pytest.mark.parametrize(
    "definition",
    [
        "<!ENTITY a 'xxxxxxxxxx'>"
        + "".join(
            f"<!ENTITY {b} '{f'&{a};' * 50}'>"
            for a, b in zip("abcdef", "bcdefg", strict=True)
        ),
        "<!ENTITY g SYSTEM 'file:///etc/passwd'>",
        "<!ENTITY % h SYSTEM 'http://127.0.0.1:9/'> %h; <!ENTITY g ''>",
    ],
)
def test_entities_of_its_own_do_no_harm(definition):
    page = f"<!DOCTYPE html [{definition}]>{PAGE.format('&g;')}"

    found = parse_html(page.encode(), XHTML, with_text=True)

    assert found.links == ["/after"]
    assert "root:" not in found.text and len(found.text) < 100


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        (PAGE, True),
        (
            f"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'a' 'b' [<!ENTITY c '>'>]>{PAGE}",
            True,
        ),
        (f"<!-- <html> --><?style?>{PAGE}", True),
        ("<h:html lang='en' xmlns:h='http://www.w3.org/1999/xhtml'/>", True),
        ("<html/>", False),
        (f"<rss>{PAGE}</rss>", False),
        ("", False),
        ("<!--" * 1000, False),
    ],
)
def test_page_is_known_by_its_root(document, answer):
    assert is_xhtml(document.encode()) is answer
