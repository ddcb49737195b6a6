"""Responses that browsers accept although they are irregular, and those that are dangerous."""

import pytest

from gencoro import gen
from tests.helpers.fetching import run_with, sends
from tests.helpers.http.faulty import FaultServer, head
from tests.helpers.running_crawl import opened

PAGE = b"<title>T</title>"
HTML = b"Content-Type: text/html"
LENGTH = b"Content-Length: %d" % len(PAGE)
EMPTY = b"Content-Length: 0"
TO_ITSELF = b"Location: /"


def page(*lines, body=PAGE, **status):
    return head(*lines, **status) + body


def crawl(response):
    """Return the outcome of a crawl of one URL."""
    server = FaultServer(then=sends(response))

    @gen.coroutine
    def main():
        seed = server.url + "start"
        with opened(seed, tries=1) as crawl:
            yield crawl.run()
            return next(r.outcome for r in crawl.frontier.records() if r.url == seed)

    return run_with(server, main, "pooled")


@pytest.mark.parametrize(
    ("response", "content_type", "note"),
    [
        (page(HTML, LENGTH), "text/html", ""),
        (page(HTML, LENGTH, b"A: b", b" c"), "text/html", "folded header lines"),
        (page(HTML, LENGTH, LENGTH), "text/html", "repeated Content-Length"),
        (page(HTML, HTML, LENGTH), "text/html", "repeated Content-Type"),
        (
            page(HTML + b";charset=gbk\nA: b", HTML, LENGTH),
            "text/html;charset=gbk",
            "bare line feeds; repeated Content-Type",
        ),
        (page(LENGTH), "text/html", "no valid Content-Type"),
        (page(b"Content-Type: html", LENGTH), "text/html", "no valid Content-Type"),
        (page(body=b"plain"), "text/plain", "no valid Content-Type"),
        (
            page(b"X-Content-Type-Options: NoSniff", LENGTH),
            "text/plain",
            "no valid Content-Type",
        ),
        (page(EMPTY, body=b""), "", ""),
        (
            page(HTML, LENGTH, TO_ITSELF, status=b"300 Choose"),
            "text/html",
            "300 Multiple Choices",
        ),
        (page(HTML, LENGTH, b"X: " + b"y" * 250_000), "text/html", ""),
    ],
)
def test_irregular_page_is_read_and_noted(response, content_type, note):
    outcome = crawl(response)

    assert (outcome.state, outcome.reason) == ("done", "ok")
    assert (outcome.content_type, outcome.note) == (content_type, note)
    assert outcome.title == ("T" if content_type.startswith("text/html") else "")


@pytest.mark.parametrize("content_type", [b"application/xml", b"Text/XML;a=b", b""])
@pytest.mark.parametrize(
    ("root", "title"),
    [("html xmlns='http://www.w3.org/1999/xhtml'", "T"), ("html", ""), ("urlset", "")],
)
def test_xml_is_a_page_if_its_root_is_that_of_xhtml(content_type, root, title):
    body = f"<?xml version='1.0'?><{root}><title>T</title></{root.split()[0]}>"
    sent = body.encode()
    length = b"Content-Length: %d" % len(sent)

    outcome = crawl(page(b"Content-Type: " + content_type, length, body=sent))

    assert outcome.title == title


def test_redirect_with_equal_locations_is_followed_and_noted():
    outcome = crawl(page(TO_ITSELF, TO_ITSELF, EMPTY, body=b"", status=b"302 Found"))

    assert (outcome.reason, outcome.note) == ("redirect", "repeated Location")
    assert outcome.redirect_to.endswith("/")


@pytest.mark.parametrize(
    "response",
    [
        page(HTML, LENGTH, b"Content-Length: 3"),
        page(HTML, LENGTH, b"Transfer-Encoding: chunked"),
        page(HTML, b"Content-Length :3"),
        page(TO_ITSELF, b"Location: /b", EMPTY, body=b"", status=b"302 Found"),
    ],
)
def test_dangerous_response_fails_as_dangerous(response):
    outcome = crawl(response)

    assert (outcome.state, outcome.reason) == ("failed", "dangerous")
    assert outcome.error


def test_choice_without_a_body_is_an_error():
    outcome = crawl(page(TO_ITSELF, EMPTY, body=b"", status=b"300 Choose"))

    assert (outcome.state, outcome.reason) == ("failed", "http_300")
