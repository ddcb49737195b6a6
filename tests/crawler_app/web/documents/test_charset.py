"""Charsets: declarations of a page, and decoding."""

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler_app.web.documents.charset import META_WITHIN_BYTES, charset_of, decode_html

RUSSIAN = "Привет, мир"
JAPANESE = "日本語のページ"


@pytest.mark.parametrize(
    ("mark", "header", "codec", "charset"),
    [
        (codecs.BOM_UTF8, "text/html; charset=windows-1251", "utf-8", "utf-8"),
        (codecs.BOM_UTF16_LE, "text/html; charset=utf-8", "utf-16-le", "utf-16le"),
        (codecs.BOM_UTF16_BE, "", "utf-16-be", "utf-16be"),
        (b"", "text/html; charset=windows-1251", "cp1251", "windows-1251"),
        (b"", "text/html; charset=klingon", "koi8-r", "koi8-r"),
        (b"", "text/html", "koi8-r", "koi8-r"),
    ],
)
def test_byte_order_mark_precedes_header_and_meta(mark, header, codec, charset):
    markup = "<meta charset=koi8-r>" + RUSSIAN

    assert decode_html(mark + markup.encode(codec), header) == (markup, charset)


def test_valid_or_declared_utf_8_is_used():
    assert decode_html(RUSSIAN.encode()) == (RUSSIAN, "utf-8")
    assert decode_html(b"caf\xe9 \x80") == ("café €", "windows-1252")
    assert decode_html(b"a\xffb", "text/html; charset=utf-8")[0] == "a\ufffdb"
    assert decode_html(b"") == ("", "utf-8")


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html; charset=windows-1251", "windows-1251"),
        ('text/html; charset="windows-1251"', "windows-1251"),
        ("text/html; charset='windows-1251'", "windows-1251"),
        ("text/html; CHARSET = Windows-1251 ; x=y", "windows-1251"),
        ("text/html;charset=cp1251;boundary=x", "windows-1251"),
        ("charset=latin1", "windows-1252"),
        ("text/html; charset=us-ascii", "windows-1252"),
        ("text/html; charset=gb2312", "gbk"),
        ("text/html; charset=Shift_JIS", "shift_jis"),
        ("text/html; charset=unicode", "utf-16le"),
        ("text/html", ""),
        ("text/html; charset=", ""),
        ("text/html; charset=klingon", ""),
        ("text/html; charset=\xff\xfe", ""),
        ("", ""),
    ],
)
def test_charset_in_the_header(content_type, charset):
    assert charset_of(b"", content_type) == charset


@pytest.mark.parametrize(
    ("markup", "charset"),
    [
        (b"<meta charset=windows-1251>", "windows-1251"),
        (b'<META CHARSET="Windows-1251" />', "windows-1251"),
        (b"<meta\n charset = 'windows-1251'>", "windows-1251"),
        (
            b'<meta http-equiv=Content-Type content="text/html; charset=koi8-r">',
            "koi8-r",
        ),
        (
            b'<meta content="text/html;charset=koi8-r" http-equiv="content-type">',
            "koi8-r",
        ),
        (b"<meta name=x content=y><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=utf-16be>", "utf-8"),
        (b"<meta charset=klingon>", ""),
        (b"<meta charset=>", ""),
        (b"<meta name=charset>", ""),
        (b"<p>charset=koi8-r</p>", ""),
        (b"<!-- <meta charset=koi8-r> -->", ""),
        (b"<!-- <meta charset=koi8-r>", ""),
        (b"<!-- x --><meta charset=koi8-r>", "koi8-r"),
        (b'<meta name=description content="charset=koi8-r">', ""),
        (b"<meta name=d content='x; charset=koi8-r'><meta charset=big5>", "big5"),
        (b"<metadata charset=koi8-r>", ""),
        (b"<meta data-charset=koi8-r>", ""),
    ],
)
def test_charset_in_a_meta(markup, charset):
    assert charset_of(b"<html><head>" + markup + b"<title>x</title>") == charset


# Seen in Chromium 156.
@pytest.mark.parametrize(
    ("markup", "charset"),
    [
        ("<!-- {} --><meta charset=koi8-r>", "koi8-r"),
        ("<link href={}><meta charset=koi8-r>", "koi8-r"),
        ("<style>{}</style><noscript><meta charset=koi8-r>", "koi8-r"),
        ("<script>'<div>'{}</script><meta charset=klingon><META CHARSET=big5>", "big5"),
        ("<meta content='<p {}>'><meta charset=koi8-r>", "koi8-r"),
        ("{}<meta http-equiv=refresh content='1;x; charset=koi8-r'>", ""),
        ("{}<meta charset=x-user-defined>", "windows-1252"),
        ("{}<!-- <meta charset=koi8-r> --><title><meta charset=koi8-r>", ""),
        ("{}<script>'<meta charset=koi8-r>'</script>", ""),
        ("<body>{}<meta charset=koi8-r>", ""),
        ("</head>{}<meta charset=koi8-r>", ""),
        ("<base>{}<p title='<meta charset=koi8-r>'>", ""),
        ("<?xml version='1.0' encoding='koi8-r'?>{}", "koi8-r"),
        ("<?xml version='1.0' encoding='koi8-r'?>{}<meta charset=big5>", "big5"),
        ("<?xml version='1.0' encoding='utf-16'?>{}", "utf-8"),
        (" <?xml version='1.0' encoding='koi8-r'?>{}", ""),
    ],
)
def test_charset_after_the_first_1024_bytes_is_found_in_the_head(markup, charset):
    for size in (META_WITHIN_BYTES, 100_000):
        assert charset_of(markup.format("x" * size).encode()) == charset


def test_meta_across_the_limit_is_read():
    meta = b"<meta charset=iso-8859-15>"

    assert (
        charset_of(b" " * (META_WITHIN_BYTES - len(meta) + 2) + meta) == "iso-8859-15"
    )


@pytest.mark.parametrize(
    "part",
    [
        b"<meta ",
        b"<meta x=",
        b"<meta a='",
        b"<!--",
        b"<script>",
        b"<title ",
        b"</",
        b"<",
    ]
    + [b"<meta charset=x>", b"<link =", b"<?xml encoding ", b"= ", b"<meta content = "],
)
def test_charset_detection_takes_linear_time(part):
    started_at = time.process_time()
    charset_of(part * (1_000_000 // len(part)))

    assert time.process_time() - started_at < 2  # a tenth, on a machine at rest


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("windows-1251", "cp1251", RUSSIAN),
        ("koi8-r", "koi8-r", RUSSIAN),
        ("shift_jis", "shift_jis", JAPANESE),
        ("euc-jp", "euc-jp", JAPANESE),
        ("iso-2022-jp", "iso-2022-jp", JAPANESE),
        ("gb18030", "gb18030", JAPANESE),
        ("gb2312", "gb18030", "价格：€ 㐀"),
        ("iso-8859-1", "cp1252", "“café” €"),
        ("utf-16le", "utf-16-le", JAPANESE),
    ],
)
def test_page_in_a_declared_charset(label, codec, text):
    decoded, _ = decode_html(text.encode(codec), f"text/html; charset={label}")

    assert decoded == text


def test_characters_that_windows_added_to_euc_jp():
    text, name = decode_html(
        b"<p>\xad\xa1\xad\xb7\xad\xea\xfc\xe2 \xad \xa1", "text/html; charset=euc-jp"
    )

    assert (text, name) == ("<p>①Ⅲ㈱髙 \ufffd \ufffd", "euc-jp")


@given(
    st.one_of(st.binary(), st.text().map(lambda text: text.encode("utf-16"))),
    st.one_of(
        st.text(),
        st.sampled_from(
            ["utf-7", "utf-16", "hz-gb-2312", "replacement", "x-user-defined", "big5"]
        ).map("text/html; charset={}".format),
    ),
)
def test_any_bytes_are_decoded(body, content_type):
    text, charset = decode_html(body, content_type)

    assert charset
    assert text.encode("utf-8") is not None


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("shift_jis", "このページは文字コードを宣言していません。"),
        ("euc-jp", "このページは文字コードを宣言していません。"),
        ("gbk", "中文网页没有声明编码，这是一个测试页面"),
        ("big5", "這個網頁沒有宣告編碼，這是一個測試頁面"),
        ("euc-kr", "이 페이지는 문자 인코딩을 선언하지 않습니다."),
        ("windows-1251", "Эта страница не объявляет свою кодировку."),
        ("koi8-r", "Эта страница не объявляет свою кодировку."),
        ("windows-1253", "Αυτή η σελίδα δεν δηλώνει την κωδικοποίησή της."),
        (
            "windows-1254",
            "Şu sayfa kodlamasını bildirmiyor, ancak yine de okunmalıdır.",
        ),
        ("windows-1255", "דף זה אינו מצהיר על הקידוד שלו, ובכל זאת יש לקרוא אותו."),
        ("windows-1256", "هذه الصفحة لا تعلن عن ترميزها ومع ذلك يجب قراءتها"),
        ("windows-874", "หน้านี้ไม่ได้ประกาศการเข้ารหัส แต่ควรอ่านได้"),
        ("windows-1250", "Tato stránka neuvádí své kódování, přesto má být čitelná."),
        ("windows-1252", "Cette page ne déclare pas son encodage à l’école."),
    ],
)
@pytest.mark.parametrize("before", ["", "<script>var a = 1;</script>\n" * 2_000])
def test_undeclared_charset_is_detected(charset, text, before):
    codec = {"windows-874": "cp874"}.get(charset, charset)
    body = f"{before}<title>{text}</title><a href='/a'>{text}</a>".encode(codec)

    found, name = decode_html(body, "text/html")

    assert (name, text in found) == (charset, True)
    # What is declared, or valid UTF-8, is not guessed.
    declared = decode_html(body, "text/html; charset=windows-1252")[1]
    assert declared == "windows-1252"
    assert decode_html(text.encode(), "")[1] == "utf-8"
