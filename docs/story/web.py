"""What all stages share: requests, answers, links, and the printed result.

Pure, apart from `main`: no sockets and no waiting here, so that the file of a stage shows
only how that stage waits.
"""

import argparse
import contextlib
import re
import time
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

__all__ = [
    "MAX_REDIRECTS",
    "RECEIVE_BYTES",
    "Answer",
    "BrokenAnswer",
    "Job",
    "Site",
    "address_of",
    "main",
    "parse",
    "request_for",
]

RECEIVE_BYTES = 64 * 1024
MAX_REDIRECTS = 10
REDIRECTS = (301, 302, 303, 307, 308)

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: |\Z)")

_HTTP_URL = re.compile("(https?)://([^/?]+)(.*)", re.IGNORECASE)

_START_URL = re.compile(r"http://[a-z0-9._-]+(:[0-9]{1,5})?/.*")

# What `quote` leaves alone: delimiters, and escapes that are there already.
_SAFE = "%/:=&?~+!$,;'@()*[]"


class BrokenAnswer(ConnectionError):
    """The server has not sent a whole HTTP response."""


class Job(NamedTuple):
    """A URL to fetch, and how many redirects may still follow one another from here."""

    url: str
    redirects_left: int = MAX_REDIRECTS


class Answer(NamedTuple):
    """A response; the names of its headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Site:
    """The URLs of one site that are known, and what became of each.

    Attributes:
        start: The first job.
        lines: One line for each URL that was fetched: ``STATUS URL``.
    """

    def __init__(self, url: str) -> None:
        self.start = Job(normal(url))
        self.lines: list[str] = []
        self._seen = {self.start.url}

    def read(self, job: Job, received: bytes) -> list[Job]:
        """Note an answer; return a job for each new URL that it leads to.

        Raises:
            BrokenAnswer: this is not a whole response; nothing was noted.
        """
        answer = parse(received)
        if answer.status in REDIRECTS and "location" in answer.headers:
            return self._follow(job, answer)
        self.lines.append(f"{answer.status} {job.url}")
        if answer.status != 200:
            return []
        return [Job(url) for url in self._new(links(job.url, answer))]

    def fail(self, job: Job, error: OSError) -> None:
        """Note that there was no answer, and why."""
        self.lines.append(f"{word_for(error)} {job.url}")

    def _follow(self, job: Job, answer: Answer) -> list[Job]:
        target = join(job.url, answer.headers["location"])
        self.lines.append(f"{answer.status} {job.url}" + (target and f" -> {target}"))
        if not job.redirects_left:
            return []
        # A target that was seen is on its way already, or done: this ends every loop.
        return [Job(url, job.redirects_left - 1) for url in self._new([target])]

    def _new(self, urls: Iterable[str]) -> list[str]:
        """Return the URLs of this site that were not seen before; they count as seen now."""
        inside = dict.fromkeys(u for u in urls if origin(u) == origin(self.start.url))
        new = [url for url in inside if url not in self._seen]
        self._seen.update(new)
        return new


def word_for(error: OSError) -> str:
    """Return what stands in place of a status.

    >>> word_for(ConnectionRefusedError()), word_for(TimeoutError()), word_for(OSError())
    ('refused', 'timeout', 'broken')
    """
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    return "timeout" if isinstance(error, TimeoutError) else "broken"


def address_of(url: str) -> tuple[str, int]:
    """Return what a socket connects to.

    >>> address_of("http://127.0.0.1:8888/a"), address_of("http://localhost/")
    (('127.0.0.1', 8888), ('localhost', 80))
    """
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 80


def request_for(url: str) -> bytes:
    """Return a request that asks the server to close the connection afterwards.

    >>> request_for("http://a.test/b?c=d")
    b'GET /b?c=d HTTP/1.0\\r\\nHost: a.test\\r\\n\\r\\n'
    """
    host, path = re.fullmatch(r"http://([^/]+)(/.*)", url).groups()
    return f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode("ascii")


def parse(received: bytes) -> Answer:
    """Split a response into its parts.

    Raises:
        BrokenAnswer: it is not HTTP, or shorter than it says.

    >>> parse(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nhi")
    Answer(status=200, headers={'content-length': '2'}, body=b'hi')
    """
    head, end, body = received.partition(b"\r\n\r\n")
    status_line, *fields = head.split(b"\r\n")
    found = _STATUS_LINE.match(status_line)
    if not (found and end):
        raise BrokenAnswer(f"not an HTTP response: {received[:40]!r}")
    pairs = [field.decode("latin-1").partition(":") for field in fields]
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = headers.get("content-length", "")
    if length.isdecimal() and len(body) < int(length):
        raise BrokenAnswer(f"{len(body)} of {length} bytes have arrived")
    return Answer(int(found[1]), headers, body)


def links(url: str, answer: Answer) -> list[str]:
    """Return the targets of the links of a page; none if it is not HTML."""
    if not answer.headers.get("content-type", "").lower().startswith("text/html"):
        return []
    parser = _LinkParser()
    # What `HTMLParser` raises at markup that is no HTML, such as "<![a[".
    with contextlib.suppress(AssertionError):
        parser.feed(answer.body.decode("utf-8", "replace"))
    base = join(url, parser.base)
    return [join(base, href) for href in parser.hrefs]


class _LinkParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if href is not None and tag == "a":
            self.hrefs.append(href)
        elif href is not None and tag == "base":
            self.base = self.base or href


def join(base: str, reference: str) -> str:
    """Return an absolute URL without its fragment; empty if it is not an http(s) URL.

    >>> join("http://a.test/b/", "../c d#top"), join("http://a.test/", "http://[")
    ('http://a.test/c%20d', '')
    """
    try:
        return normal(urljoin(base, reference.strip()))
    except ValueError:  # brackets in an odd place, for example
        return ""


def normal(url: str) -> str:
    """Return a URL in the spelling in which it is fetched and printed.

    >>> normal("HTTP://A.test:80"), normal("http://a.test/caf\u00e9?#top"), normal("tel:1")
    ('http://a.test/', 'http://a.test/caf%C3%A9?', '')
    """
    found = _HTTP_URL.match(quote(url.partition("#")[0], safe=_SAFE))
    if not found:
        return ""
    scheme, host, rest = found[1].lower(), found[2].lower(), found[3]
    host = host.removesuffix(":80" if scheme == "http" else ":443")
    return f"{scheme}://{host}{'' if rest.startswith('/') else '/'}{rest}"


def origin(url: str) -> str:
    """Return the part of a URL that says which server it is on.

    >>> origin("http://a.test:81/b"), origin("")
    ('http://a.test:81', '')
    """
    return url[: url.find("/", len("https://"))]


def main(crawl: Callable[[Site, int, float], None]) -> None:
    """Crawl a site as the command line says, and print what was found."""
    parser = argparse.ArgumentParser(description="Crawl a site and list its URLs.")
    parser.add_argument("url", type=start_url, metavar="URL")
    parser.add_argument("--connections", type=count, default=10, metavar="N")
    parser.add_argument("--timeout", type=seconds, default=10.0, metavar="S")
    options = parser.parse_args()
    site = Site(options.url)
    began_at = time.perf_counter()
    crawl(site, options.connections, options.timeout)
    took_s = time.perf_counter() - began_at
    print(*sorted(site.lines), sep="\n")
    print(f"{len(site.lines)} URLs in {took_s:.2f} s")


def start_url(text: str) -> str:
    if not _START_URL.fullmatch(normal(text)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not of the form http://HOST[:PORT]/PATH; HOST is a name or an "
            "IPv4 address"
        )
    address_of(text)  # a ValueError if there is no such port
    return text


def count(text: str) -> int:
    if not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is not from 1 to 1000")
    return int(text)


def seconds(text: str) -> float:
    if not 0 < float(text) <= 86400:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds above 0")
    return float(text)
