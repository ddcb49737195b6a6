"""Sitemaps of every form, broken ones, and hostile ones."""

import gzip
import re
import time
import tracemalloc
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler_app.web.documents import sitemap
from crawler_app.web.documents.sitemap import Sitemap, is_sitemap, parse_sitemap
from tests.helpers.fuzzing import examples

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"

URLSET = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/xsl" href="/main-sitemap.xsl"?>
<!-- made by hand -->
<urlset xmlns="{NAMESPACE}"
  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
  xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
  xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc>http://a.test/?b=1&amp;c=\u00e9</loc>
    <lastmod>2024-01-01</lastmod>
    <xhtml:link rel="alternate" hreflang="de" href="http://a.test/de"/>
    <image:image>
      <image:loc>http://a.test/a.png</image:loc>
    </image:image>
    <image:loc>http://a.test/b.png</image:loc>
    <video:video>
      <video:content_loc>http://a.test/a.mp4</video:content_loc>
      <loc>http://a.test/c.mp4</loc>
    </video:video>
  </url>
  <url>
    <priority>0.5</priority>
    <loc>
      <![CDATA[http://a.test/d?e&f]]>
    </loc>
  </url>
  <loc>http://a.test/no-entry</loc>
  <sitemap><loc>http://a.test/no-page</loc></sitemap>
  <url><loc> http://a.test/?b=1&#38;c=\u00e9 </loc></url>
  <url><loc></loc></url>
  <url><loc/></url>
  <url/>
</urlset>
"""
PAGES = ["http://a.test/?b=1&c=\u00e9", "http://a.test/de", "http://a.test/d?e&f"]

INDEX = f"""\
<sitemapindex xmlns="{NAMESPACE}">
  <sitemap><loc>http://a.test/1.xml.gz</loc><lastmod>2024-01-01</lastmod></sitemap>
  <sitemap><loc>http://a.test/2.xml</loc></sitemap>
  <url><loc>http://a.test/no-sitemap</loc></url>
</sitemapindex>
"""
SITEMAPS = ["http://a.test/1.xml.gz", "http://a.test/2.xml"]

TEXT = "http://a.test/1\nHTTPS://a.test/2 \r\n\n http://a.test/3\n\nhttp://a.test/1"
LINES = ["http://a.test/1", "HTTPS://a.test/2", "http://a.test/3"]

RSS = "<?xml version='1.0'?><rss><channel><item><link>http://a.test/</link></item>"
ATOM = "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='http://a.test/'/>"
HTML = "<!doctype html><html><body><urlset><url><loc>http://a.test/</loc>"


def entries(count, start=0):
    urls = [f"<url><loc>http://a.test/{i}</loc></url>" for i in range(start, count)]
    return "".join(urls)


def pages(count):
    return [f"http://a.test/{i}" for i in range(count)]


# Contents.


@pytest.mark.parametrize(
    "document",
    [
        "",
        "\n",
        "a.test/1\nftp://a.test/",
        "see http://a.test",
        HTML,
    ],
)
def test_other_documents_are_empty_sitemaps(document):
    assert parse_sitemap(document.encode()) == Sitemap(is_cut=document == HTML)


FEEDS = {
    "RSS 2.0": """<?xml version='1.0'?><rss version='2.0'
        xmlns:atom='http://www.w3.org/2005/Atom'><channel><link>http://a.test/home</link>
        <atom:link rel='self' href='http://a.test/feed'/><image><link>x</link></image>
        <item><title>A &lt;b></title><link> http://a.test/0 </link>
          <guid isPermaLink='false'>http://a.test/no-page</guid>
          <media:content><link>y</link></media:content></item>
        <item><guid>http://a.test/1</guid><atom:link href='http://a.test/no-page'/></item>
        <item><guid>tag:a.test</guid></item></channel></rss>""",
    "RSS 1.0": """<rdf:RDF xmlns="http://purl.org/rss/1.0/"
        xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <channel rdf:about="x"><link>http://a.test/home</link></channel>
        <item rdf:about="y"><link>http://a.test/0</link></item>
        <item><link>http://a.test/1</link></item></rdf:RDF>""",
    "Atom": """<a:feed xmlns:a='http://www.w3.org/2005/Atom'>
        <a:link href='http://a.test/home'/><a:link rel='self' href='http://a.test/feed'/>
        <a:entry><a:link rel='edit' href='http://a.test/edit'/>
          <a:link href='http://a.test/0'/><link href='http://a.test/no-page'/></a:entry>
        <a:entry><a:link rel='alternate' href='http://a.test/1'/></a:entry></a:feed>""",
}


@pytest.mark.parametrize("feed", FEEDS.values(), ids=FEEDS)
def test_links_of_the_entries_of_a_feed(feed):
    assert parse_sitemap(feed.encode()) == Sitemap(pages=pages(2))
    assert is_sitemap("text/html", feed.encode(), or_feed=True)
    assert not is_sitemap("", feed.encode())
    mended = feed.replace("<item>", "&<item>", 1).replace("<a:entry>", "&<a:entry>", 1)
    assert parse_sitemap(mended.encode()) == Sitemap(pages=pages(2))


# Encodings.

FORMS = [(URLSET, Sitemap(pages=PAGES)), (TEXT, Sitemap(pages=LINES))]


@pytest.mark.parametrize(
    ("codec", "declared"),
    [
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16"),
        ("utf-16-be", "utf-16"),
        ("iso-8859-1", "iso-8859-1"),
        ("windows-1252", "windows-1252"),
    ],
)
def test_encoding_is_declared_or_has_a_byte_order_mark(codec, declared):
    text = URLSET.replace("UTF-8", declared)

    assert parse_sitemap(text.encode(codec)) == Sitemap(pages=PAGES)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_mark_declares_the_encoding_of_text(encoding):
    assert parse_sitemap(TEXT.encode(encoding)) == Sitemap(pages=LINES)


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        *(("gb2312", "gb2312"), ("GBK", "gbk"), ("big5", "big5"), ("euc-kr", "euc-kr")),
        *(("Shift_JIS", "shift_jis"), ("euc-jp", "euc-jp"), ("koi8-r", "koi8-r")),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_encoding_of_several_bytes_a_character(label, codec, pack):
    name = "я" if codec == "koi8-r" else "山"
    text = URLSET.replace("\u00e9", name).encode(codec)
    declared = text.replace(b"UTF-8", label.encode())
    found = Sitemap(pages=[PAGES[0].replace("\u00e9", name), *PAGES[1:]])

    assert parse_sitemap(pack(declared)) == found
    assert is_sitemap("", pack(declared))
    # The header comes first (RFC 7303, 3); a text sitemap has nothing else.
    assert parse_sitemap(pack(text), f"text/xml; charset={label}") == found
    lines = pack(f"http://a.test/{name}".encode(codec))
    assert parse_sitemap(lines, f"text/plain; charset={label}").pages[0][-1] == name


@pytest.mark.parametrize(
    "encoding",
    ["utf-16", "utf-32", "idna", "rot13", "unicode_escape", "none", "\u00e9"],
)
def test_wrong_encoding_is_ignored(encoding):
    body = f"<?xml version='1.0' encoding='{encoding}'?><urlset>{entries(1)}</urlset>"

    found = parse_sitemap(body.encode())

    assert found == Sitemap(pages=pages(1))


@pytest.mark.parametrize("space", ["\n", " \t\r\n", "\ufeff\n"])
def test_space_before_the_document(space):
    assert parse_sitemap((space + URLSET).encode()).pages == PAGES
    assert is_sitemap("", (space + URLSET).encode())


PREFIXED = """<s:urlset{}><s:url><s:loc>http://a.test/0</s:loc></s:url>
    <url><loc>http://a.test/2</loc></url><s:url><loc>http://a.test/3</loc></s:url>
    </s:urlset>"""


@pytest.mark.parametrize(
    "body",
    [
        f"<urlset xmlns='{NAMESPACE}'>{entries(1)}</urlset>",
        f"<urlset xmlns='other'>{entries(1)}</urlset>",
        # The entries have the prefix of the root, declared or not.
        PREFIXED.format(""),
        PREFIXED.format(f" xmlns:s='{NAMESPACE}'"),
        "<urlset><url><image:image/><loc>http://a.test/0</loc></url></urlset>",
        f"<!DOCTYPE urlset SYSTEM 'http://a.test/a.dtd'><urlset>{entries(1)}</urlset>",
    ],
)
def test_elements_are_known_by_prefix_and_place(body):
    assert parse_sitemap(body.encode()) == Sitemap(pages=pages(1))


# Gzip.


@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize(
    ("text", "found"), [*FORMS, (INDEX, Sitemap(sitemaps=SITEMAPS))]
)
def test_every_form_is_read_compressed_or_not(text, found, layers):
    body = text.encode()
    for _ in range(layers):
        body = gzip.compress(body)

    assert parse_sitemap(body) == found


def test_gzip_in_parts_and_with_padding():
    text = URLSET.encode()
    body = b"".join(gzip.compress(text[i : i + 99]) for i in range(0, len(text), 99))

    assert parse_sitemap(body + b"\0" * 512) == Sitemap(pages=PAGES)


def test_truncated_gzip_is_read_to_its_end():
    body = gzip.compress(f"<urlset>{entries(10_000)}</urlset>".encode())
    assert parse_sitemap(body[:-4]).pages == pages(10_000)

    found = parse_sitemap(body[: len(body) // 2])

    assert found.is_cut
    assert 1000 < len(found.pages) < 10_000
    assert found.pages == pages(len(found.pages))


# Limits.


@pytest.mark.parametrize(("count", "is_cut"), [(2, False), (3, False), (4, True)])
@pytest.mark.parametrize("form", ["<urlset>{}</urlset>", "{}"])
def test_url_limit(count, is_cut, form):
    content = entries(count) if "urlset" in form else "\n".join(pages(count))

    found = parse_sitemap(form.format(content).encode(), max_urls=3)

    assert found == Sitemap(pages=pages(min(count, 3)), is_cut=is_cut)


def test_same_url_again_is_within_the_limit():
    body = f"<urlset>{entries(2) * 9}</urlset>"

    assert parse_sitemap(body.encode(), max_urls=2) == Sitemap(pages=pages(2))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_byte_limit_applies_after_decompression(pack):
    text = f"<urlset>{entries(100)}</urlset>".encode()
    body = pack(text)

    assert parse_sitemap(body, max_bytes=len(text)) == Sitemap(pages=pages(100))
    found = parse_sitemap(body, max_bytes=len(text) // 2)
    assert found.is_cut
    assert found.pages == pages(len(found.pages))
    assert 40 < len(found.pages) <= 50


@pytest.mark.parametrize(
    "form", ["<urlset><url><loc>{}</loc></url>{}</urlset>", "{}\n{}", "{}\r{}"]
)
def test_overlong_url_is_skipped(form):
    long = "http://a.test/".ljust(sitemap.MAX_LOC_CHARS + 1, "x")
    others = entries(1) if "urlset" in form else pages(1)[0]

    assert parse_sitemap(form.format(long, others).encode()).pages == pages(1)
    assert parse_sitemap(form.format(long[:-1], others).encode()).pages[0] == long[:-1]


def test_overlong_line_does_not_affect_the_next():
    body = f"http://a.test/{'x' * 100_000}\nhttp://a.test/0\n{'x' * 100_000}"

    assert parse_sitemap(body.encode()) == Sitemap(pages=pages(1))


@pytest.mark.parametrize(
    "content", ["x" * 1_000_000, "\n" * 1_000_000, "&lt;" * 250_000]
)
@pytest.mark.parametrize("form", ["<x>{}</x>", "<x><![CDATA[{}]]></x>"])
def test_long_text_outside_a_loc_is_ignored(form, content):
    body = f"<urlset>{form.format(content)}{entries(1)}</urlset>"

    assert parse_sitemap(body.encode()) == Sitemap(pages=pages(1))


# Broken XML.


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        *((fault, []) for fault in ("</nothing>", "&nbsp;", "<a b>", "& ", "<", "]]>")),
        *((fault, []) for fault in ("\0", "\xff", "&a;", "<!-- a -- b -->", "<a></b>")),
        ("<!-- <url><loc>x</loc></url> -->&", []),
        ("<url><loc>x?a=1&b=2&amp;c=3&#38;d</loc></url>", ["x?a=1&b=2&c=3&d"]),
        ("<url><loc><![CDATA[x?a&b]]></loc><a>&</a></url>", ["x?a&b"]),
        ("<url><loc>x</loc>", ["x"]),
        ("<url><loc>x</loc></ur></url>", ["x"]),
        ("<url><loc>x\0</loc></url>", ["x"]),
        ("<url><<loc>x</loc></url>", ["x"]),
        ("<url a><loc>x</loc></url>", ["x"]),
        ("<url a='><loc>x</loc></url>", ["x"]),
        ("<url><a><loc>x</loc></url>", ["x"]),
        ("<url<loc>x</loc></url>", ["x"]),
        # Lost entries.
        ("<url><loc>x", None),
        ("<url><loc>x</url>", None),
        ("<url><loc>x\xff</loc></url>", None),
        ("<url><loc>x<b</loc></url>", None),
        ("<url><loc>x</lco></url>", None),
        ("<ul><loc>x</loc></url>", None),
    ],
)
@pytest.mark.parametrize("distance", [0, 700, 3000])
def test_entries_after_an_error_are_found(fault, found, distance):
    before = [f"http://a.test/before/{number}" for number in range(distance)]
    head = "".join(f"<url><loc>{loc}</loc></url>" for loc in before)
    body = f"<urlset>{head}{fault}{entries(2000)}</urlset>".encode("latin-1")

    assert parse_sitemap(body) == Sitemap(
        before + (found or []) + pages(2000), is_cut=found is None
    )


def test_line_that_is_not_utf_8_is_lost():
    found = parse_sitemap(b"http://a.test/0\nhttp://a.test/\xff\nhttp://a.test/1\n")

    assert found == Sitemap(pages(2), is_cut=True)


def test_truncated_document_is_partial():
    assert parse_sitemap(f"<urlset>{entries(3)}".encode()) == Sitemap(
        pages(3), is_cut=True
    )
    assert parse_sitemap(f"<urlset>{entries(3)}</urlset>x".encode()) == Sitemap(
        pages(3)
    )


@settings(max_examples=examples(100))
@given(
    st.lists(st.tuples(st.integers(0, 3000), st.sampled_from(["&", "<", "\0", "x"])))
)
def test_damage_loses_only_the_damaged_entries(faults):
    body = bytearray(f"<urlset>{entries(100)}</urlset>".encode())
    for at, fault in faults:
        body[9 + at % (len(body) - 20)] = ord(fault)
    whole = re.findall(rb"<url><loc>(http://a\.test/[0-9]+)</loc></url>", body)

    found = parse_sitemap(bytes(body))

    assert set(map(bytes.decode, whole)) <= set(found.pages)


@given(st.binary())
def test_any_bytes_are_read(body):
    for head in (
        b"",
        b"\x1f\x8b\x08\0\0\0\0\0\0\3",
        b"<urlset>",
        b"<!DOCTYPE ",
        b"http://",
    ):
        found = parse_sitemap(head + body)

        assert not (found.pages and found.sitemaps)
        assert is_sitemap("", head + body) in (True, False)


@given(
    st.binary(max_size=8), st.integers(0, 400), st.sampled_from([URLSET, INDEX, TEXT])
)
def test_any_damaged_document_is_read(damage, at, text):
    for body in (text.encode(), text.encode("utf-16"), gzip.compress(text.encode())):
        found = parse_sitemap(body[:at] + damage + body[at + len(damage) :])

        assert len(found.pages) + len(found.sitemaps) < 20


@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=5))
def test_any_url_is_read_unchanged(locs):
    locs = [f"http://a.test/{loc}" for loc in locs if loc.isprintable()]
    escape = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
    items = "".join(f"<url><loc>{loc.translate(escape)}</loc></url>" for loc in locs)
    expected = list(dict.fromkeys(loc.strip() for loc in locs))

    assert parse_sitemap(f"<urlset>{items}</urlset>".encode()) == Sitemap(expected)
    assert parse_sitemap("\n".join(locs).encode()) == Sitemap(expected)


# Hostile documents.


def dtd(*declarations):
    return f"<!DOCTYPE urlset [{''.join(declarations)}]>"


LAUGHS = dtd(
    "<!ENTITY l0 'haha'>",
    *(f"<!ENTITY l{i} '{f'&l{i - 1};' * 10}'>" for i in range(1, 10)),
)
QUADRATIC = dtd(f"<!ENTITY a '{'a' * 50_000}'>")
FILE = dtd("<!ENTITY a SYSTEM 'file:///etc/passwd'>")
DEFAULTS = dtd(f"<!ATTLIST url a CDATA '{'a' * 50_000}'>")
PARAMETER = dtd("<!ENTITY % a SYSTEM 'http://a.test/a.dtd'> %a;")

BOMBS = {
    "billion laughs": LAUGHS + "<urlset><url><loc>&l9;</loc></url></urlset>",
    "quadratic": f"{QUADRATIC}<urlset><url><loc>{'&a;' * 50_000}</loc></url></urlset>",
    "external entity": FILE + "<urlset><url><loc>&a;</loc></url></urlset>",
    "default attributes": f"{DEFAULTS}<urlset>{'<url/>' * 100_000}</urlset>",
    "external parameter entity": f"{PARAMETER}<urlset></urlset>",
}


MEBIBYTE = 1024 * 1024

# Functions, because every process of the tests imports this, and few make them.
HUGE = {
    "spaces": lambda: b"<urlset>" + b" " * 16 * MEBIBYTE,
    "a tag": lambda: b"<urlset a='" + b"a" * 16 * MEBIBYTE,
    "a comment": lambda: b"<urlset><!--" + b"a" * 16 * MEBIBYTE,
    "a loc": lambda: b"<urlset><url><loc>" + b"a" * 16 * MEBIBYTE,
    "levels": lambda: b"<urlset>" + b"<a>" * 5 * MEBIBYTE,
    "elements": lambda: b"<urlset>" + b"<a/>" * (MEBIBYTE // 2),
    "lines": lambda: b"http://a.test/\n" + b"\n" * 4 * MEBIBYTE,
    "errors": lambda: b"<urlset>" + b"<url><" * MEBIBYTE,
    "ampersands": lambda: b"<urlset>&" + b"&" * 16 * MEBIBYTE,
    "ampersands and tags": lambda: b"<urlset>" + b"&<a>" * (MEBIBYTE // 2),
    "unclosed entries": lambda: b"<urlset>" + b"<url>" * 2 * MEBIBYTE,
    "data after an error": lambda: b"<urlset>&<url>" + b"<![CDATA[" * MEBIBYTE,
    "comments after an error": lambda: b"<urlset>&<url>" + b"<!--" * MEBIBYTE,
    "no entry after an error": lambda: b"<urlset>&" + b"<a " * 2 * MEBIBYTE,
    "Shift_JIS": lambda: (
        b"<?xml version='1.0' encoding='sjis'?><urlset>" + b"\x81" * 9 * MEBIBYTE
    ),
    "no line": lambda: b"http://a.test/" + b"a" * 50 * MEBIBYTE,
}


# What is read to its end.
LEFT = {"lines": ["http://a.test/"]}


def packed(text):
    return gzip.compress(text.encode())


GZIP_BOMBS = {
    "bomb": lambda: gzip.compress(b"<urlset>" + b" " * 80 * MEBIBYTE, 1),
    "bomb in a bomb": lambda: gzip.compress(gzip.compress(b" " * 80 * MEBIBYTE, 1), 1),
    "empty parts": lambda: gzip.compress(b"") * 500_000,
    "packed empty parts": lambda: gzip.compress(gzip.compress(b"") * 500_000),
    "file name": lambda: b"\x1f\x8b\x08\x08\0\0\0\0\0\3" + b"a" * 10 * MEBIBYTE,
}
HARMFUL = HUGE | GZIP_BOMBS
HARMFUL |= {name: BOMBS[name].encode for name in BOMBS}
HARMFUL |= {f"{name}, packed": partial(packed, BOMBS[name]) for name in BOMBS}


@pytest.mark.parametrize("name", HARMFUL)
def test_hostile_document_takes_little_memory_and_time(name):
    document = HARMFUL[name]()
    tracemalloc.start()
    started_at = time.process_time()
    try:
        found = parse_sitemap(document)
        took_s = time.process_time() - started_at
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert found == Sitemap(LEFT.get(name, []), is_cut=name not in LEFT)
    is_refused_at_once = name.removesuffix(", packed") in BOMBS
    assert peak_bytes < (2_000_000 if is_refused_at_once else 3_000_000)
    # A second or so, on a machine that does nothing else.
    assert took_s < (0.5 if is_refused_at_once else 5)


# Recognition.


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("text", [URLSET, INDEX, URLSET.replace("<url", "<s:url")])
@pytest.mark.parametrize("content_type", ["", "text/html", "application/octet-stream"])
def test_is_a_sitemap(content_type, text, encoding, pack):
    body = text.replace("UTF-8", encoding.removesuffix("-sig")).encode(encoding)

    assert is_sitemap(content_type, pack(body))


def test_long_document_is_a_sitemap():
    body = f"<urlset>{entries(50_000)}</urlset>".encode()

    assert is_sitemap("application/xml", body)
    assert is_sitemap("application/gzip", gzip.compress(body))


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT,
        RSS,
        ATOM,
        HTML,
        "<urlsets/>",
        "<html><urlset>",
        "<svg><!--<urlset>-->",
        "<!--<urlset>--><html>",
        "<urlset",
        BOMBS["billion laughs"],
        "\x89PNG",
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_other_document_is_not_a_sitemap(text, pack):
    assert not is_sitemap("application/xml", pack(text.encode()))


def test_picture_is_not_a_sitemap():
    assert not is_sitemap("Image/SVG+xml", b"<urlset>")
