"""Sniffing, with the tests of the standard.

The rows and the combinations are those of web-platform-tests (``mimesniff/``, commit
78ebae5, 3-Clause BSD License), without the many brands of MP4 that all mean the same.
"""

import itertools

import pytest

from crawler_app.web.documents.sniffing import sniffed_type

BINARY = "application/octet-stream"
RIFF = "52 49 46 46 00 00 00 00"

# unknown-mime-types.json
ROWS = [
    ("image/x-icon", "00 00 01 00"),
    ("image/x-icon", "00 00 02 00"),
    ("image/bmp", "42 4D"),
    ("image/gif", "47 49 46 38 37 61"),
    ("image/gif", "47 49 46 38 39 61"),
    ("image/webp", f"{RIFF} 57 45 42 50 56 50"),
    (BINARY, f"{RIFF} 57 45 42 50"),
    ("image/png", "89 50 4E 47 0D 0A 1A 0A"),
    ("image/jpeg", "FF D8 FF"),
    ("text/plain", "2E 73 6E 64"),
    ("audio/aiff", "46 4F 52 4D 00 00 00 00 41 49 46 46"),
    ("audio/mpeg", "49 44 33"),
    ("application/ogg", "4F 67 67 53 00"),
    ("text/plain", "4F 67 67 53"),
    ("audio/midi", "4D 54 68 64 00 00 00 06"),
    ("video/avi", f"{RIFF} 41 56 49 20"),
    ("audio/wave", f"{RIFF} 57 41 56 45"),
    # video/mp4 and video/webm: not recognized, as the module says.
    (BINARY, "00 00 00 10 66 74 79 70 6D 70 34 00 00 00 00 00"),
    (BINARY, "1A 45 DF A3 81 42 82 84 77 65 62 6D"),
    ("application/x-gzip", "1F 8B 08"),
    ("application/zip", "50 4B 03 04"),
    ("application/x-rar-compressed", "52 61 72 21 1A 07 00"),
    ("text/plain", "2E 52 4D 46"),
    (BINARY, "30 26 B2 75 8E 66 CF 11 A6 D9 00 AA 00 62 CE 6C"),
    (BINARY, "4D 4D 00 2A"),
    (BINARY, "49 49 2A 00"),
    ("text/plain", "49 20 49"),
    ("text/plain", "49 49 2A"),
    ("text/plain", "D7 CD C6 9A"),
    (BINARY, "4A 47 03 0E 00"),
    ("text/plain", "FF 0A"),
    (BINARY, "00 00 00 0C 4A 58 4C 20 0D 0A 87 0A"),
    ("text/plain", "66 4C 61 43"),
    ("text/plain", "23 45 58 54 4D 33 55"),
    (BINARY, "00 00 00 10 66 74 79 70 61 76 63 00 00 00 00 00"),
]


@pytest.mark.parametrize(("mime", "content"), ROWS)
def test_body_is_recognized_as_the_standard_says(mime, content):
    assert sniffed_type(bytes.fromhex(content)) == mime


def test_each_byte_is_binary_or_text():
    binary = {*range(9), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)}

    found = {byte for byte in range(256) if sniffed_type(bytes([byte])) == BINARY}

    assert found == binary


TAGS = (
    "!DOCTYPE HTML,HTML,HEAD,SCRIPT,IFRAME,H1,DIV,FONT,TABLE,A,STYLE,TITLE,B,BODY,BR,P"
)
BLANKS = ["", "\t\n\x0c\r ", "\t" * 5, "\n" * 5, "\x0c" * 5, "\r" * 5, " " * 5]
# generate-scriptable-mime-type-tests.py; what is behind the start that is text alone.
STARTS = [
    *((f"<{tag}", end, "text/html") for tag in TAGS.split(",") for end in " >"),
    ("<!-", "-", "text/html"),
    ("<?xm", "l", "text/xml"),
]


@pytest.mark.parametrize(("start", "end", "mime"), STARTS)
def test_markup_is_recognized_by_its_first_tag(start, end, mime):
    for blank, spell in itertools.product(BLANKS, [str, str.lower]):
        text = (blank + spell(start)).encode()
        whole = text + end.encode()

        assert sniffed_type(text) == sniffed_type(text + b"x") == "text/plain"
        assert sniffed_type(whole) == mime
        assert sniffed_type(whole, is_scriptable=False) == "text/plain"


@pytest.mark.parametrize(
    ("body", "mime"),
    [
        (b"%PDF-", "application/pdf"),
        (b" %PDF-", "text/plain"),
        (b"<?XML", "text/plain"),
        (b"%!PS-Adobe-", "application/postscript"),
        (b"\xef\xbb\xbf\x00", "text/plain"),
        (b"\xfe\xff\x00\x00", "text/plain"),
        (b"\xff\xfe\x00\x00", "text/plain"),
        # Beyond the resource header.
        (b" " * 1445 + b"<p>", "text/plain"),
        (b" " * 1445 + b"\x00", "text/plain"),
    ],
)
def test_other_rules(body, mime):
    assert sniffed_type(body) == mime
