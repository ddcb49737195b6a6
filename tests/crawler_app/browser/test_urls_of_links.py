"""Links lead where they lead in Chromium."""

import random

from crawler_app.base.errors import UrlError
from crawler_app.base.urls import host_of, join
from tests.helpers.fuzzing import examples

BASE = "http://a.test/docs/page?q"

# Not "|" in a path, nor "*" or a soft hyphen in a host, where Chromium differs from the
# standard.
PIECES = (
    *(
        "http:",
        "https:",
        "HTTP:",
        "ftp:",
        "javascript:",
        "//",
        "/",
        "\\",
        "..",
        ".",
        "%2e",
    ),
    *(
        "?",
        "#",
        "@",
        ":",
        ":80",
        ":443",
        ":0",
        "99999",
        "a",
        "B.test",
        "localhost",
        "xn--",
    ),
    *("127.1", "0x7f", "0177", "\uff18", "\u3002", "[::1]", "[", "]", "é", "ß", "😀"),
    *(
        " ",
        "\t",
        "\n",
        "\0",
        "\x7f",
        "\u200d",
        "%",
        "%41",
        "%c3",
        "%zz",
        *"'\"<^`{;=&+",
    ),
)

HREFS = """
const href = (reference) => new URL(reference, arguments[0]).href;
return arguments[1].map((r) => URL.canParse(r, arguments[0]) ? href(r) : "");
"""


def joined(reference):
    """Return the URL of a reference; empty if it is invalid, None if it is refused."""
    try:
        return join(BASE, reference)
    except UrlError as exc:
        return None if exc.reason == "credentials" else ""


def fetched(href):
    """Return the URL that is sent, if any."""
    url = href.partition("#")[0]
    # The standard allows no space in a host.
    is_sent = url.startswith(("http://", "https://")) and "%20" not in host_of(url)
    return url if is_sent else ""


def test_link_leads_where_it_leads_in_chromium(chromium):
    rng = random.Random(17)
    for _ in range(examples(1)):
        references = [
            "".join(rng.choices(PIECES, k=rng.randint(1, 8))) for _ in range(5000)
        ]

        hrefs = chromium.execute_script(HREFS, BASE, references)

        ours = [joined(reference) for reference in references]
        assert ours.count("") < 1000
        assert [
            (reference, href, url)
            for reference, href, url in zip(references, hrefs, ours, strict=True)
            if url not in (None, fetched(href))
        ] == []
