"""The site for the crawl benchmark: a tree of pages on one or many hosts, served by nginx.

nginx is used because many sites use it, and because its CPU time is not part of any
Python process.  Fetched pages are counted in its log, and not by the competitors.
"""

import collections
import contextlib
import gzip
import itertools
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
import unittest.mock
from pathlib import Path
from typing import NamedTuple

import trustme

__all__ = ["ALONE_PATH", "Layout", "Nginx", "Site", "Visit", "path_of", "served_site"]

# The size of a chapter; links within one directory are written without a path.
PAGES_PER_DIRECTORY = 100

# The children of each page in the tree that reaches all pages: few enough that no queue is
# short for long, and enough to keep ten fetches busy from the second page on.
CHILDREN = 4

# Links to the neighbors on each side in the directory, and to the first pages of other
# directories, which are the same on all pages, like a navigation bar.
NEIGHBORS = 3
SECTIONS = 5

# A single page without links: the time for it is the start-up time.
ALONE_PATH = "/alone.html"

# No stylesheet, picture or script: wget2 would fetch them, the others would not.
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title} - The manual</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ max-width: 60em; margin: auto }} nav a {{ margin-right: 1em }}</style>
</head>
<body>
<nav class="sections">{nav}</nav>
<main id="content">
<h1>{title}</h1>
<p>What this page is about, said in a sentence with <em>an emphasis</em>.</p>
<ul class="contents">
{children}
</ul>
<p>{neighbors}</p>
{text}</main>
<footer><p>&copy; The authors. All of this was generated.</p></footer>
</body>
</html>
"""

# The text is drawn from a vocabulary with the frequencies of Zipf's law, as of a language; a
# page is made of paragraphs that occur on a few others too, so that writing it is quick.
VOCABULARY = 20_000
PARAGRAPHS = 5_000
PARAGRAPH_WORDS = 40
# A paragraph as most sites have them: a dozen tags, and four fifths of it are markup.
CARD = """\
<div class="card card-{number} col-12 col-md-6" id="s{number}" data-track="view,{number}">
<h3 class="card-title mb-2"><a class="anchor text-reset" href="#s{number}" title="{start}">
{start}</a></h3><p class="card-text text-muted">{words}. <span class="more"><em>{start}</em></span>
</p><ul class="tags list-inline"><li class="list-inline-item"><i class="icon icon-tag"></i></li>
</ul><svg class="icon" viewBox="0 0 24 24"><path d="M{number} 12h14M12 5l7 7-7 7"/></svg></div>
"""
CARD_WORDS = 8
SYLLABLES = (
    "ba",
    "de",
    "fi",
    "go",
    "lu",
    "ma",
    "ne",
    "pi",
    "ro",
    "su",
    "ta",
    "ve",
    "wi",
    "zo",
)

# Debian's settings for sending files; one worker, so that it uses one core at most;
# connections stay open for as long as the client wants.
NGINX_CONFIG = """\
daemon off;
master_process off;
worker_processes 1;
pid {run}/nginx.pid;
error_log {run}/error.log;
worker_rlimit_nofile 16384;
events {{ worker_connections 8000; }}
http {{
    types {{ text/html html; }}
    log_format answers "$status $server_addr$request_uri";
    access_log {run}/access.log answers;
    client_body_temp_path {run}/body;
    proxy_temp_path {run}/proxy;
    fastcgi_temp_path {run}/fastcgi;
    uwsgi_temp_path {run}/uwsgi;
    scgi_temp_path {run}/scgi;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    gzip_static {gzip_static};
    root {root};
    {servers}
}}
"""

# nginx writes its log line after the last byte is sent.
LOG_PATIENCE_S = 1.0
START_PATIENCE_S = 10.0


class Layout(NamedTuple):
    """What the site is like.

    Attributes:
        page_bytes: The size of a page, at least.  With small pages, the fixed cost of a page
            counts for more than the parser, which is the same library for most
            competitors; most pages of the web have 20 KB and more.
        hosts: Addresses of loopback among which the pages are dealt.
        is_absolute: Whether links name the host even if it is their own.
        is_web: Whether the pages are as most of the web has them: full of tags, and
            compressed.
        is_tls: Whether each host has a certificate, and is served over https only.
    """

    pages: int
    page_bytes: int = 2500
    hosts: int = 1
    is_absolute: bool = False
    is_web: bool = False
    is_tls: bool = False

    @property
    def scheme(self):
        return "https" if self.is_tls else "http"


def address_of(host):
    """Return the address of a host by its number.

    >>> address_of(0), address_of(300)
    ('127.0.0.1', '127.0.1.51')
    """
    return f"127.0.{host // 250}.{host % 250 + 1}"


def paragraphs(is_web):
    """Return paragraphs of a language that does not exist, the same in each run."""
    chosen = random.Random(20)
    words = list({"".join(chosen.choices(SYLLABLES, k=4)) for _ in range(VOCABULARY)})
    words.sort()  # a set has another order in each process
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    found = []
    for number in range(PARAGRAPHS):
        drawn = chosen.choices(words, cum_weights=weights, k=PARAGRAPH_WORDS)
        if is_web:
            start, said = drawn[0], " ".join(drawn[:CARD_WORDS])
            found.append(CARD.format(number=number, words=said, start=start))
        else:
            found.append(f"<p>{' '.join(drawn)}.</p>\n")
    return found


def path_of(page):
    """Return the path of a page, as in the links of all pages.

    >>> path_of(0), path_of(234)
    ('/', '/section-2/page-234.html')
    """
    if not page:
        return "/"
    return f"/section-{page // PAGES_PER_DIRECTORY}/page-{page}.html"


class Writer:
    """Writes the pages of a site.

    Args:
        port: The port of all hosts.
    """

    def __init__(self, layout, port):
        self._layout = layout
        self._port = port
        self._paragraphs = paragraphs(layout.is_web)

    def write(self, root):
        """Write the pages to a directory; return their total size in bytes."""
        size = 0
        for page in range(self._layout.pages):
            file = root / (path_of(page)[1:] or "index.html")
            file.parent.mkdir(exist_ok=True)
            size += self._write_page(file, self._html(page))
        self._write_page(root / ALONE_PATH[1:], "<!DOCTYPE html><title>Alone</title>\n")
        return size

    def _write_page(self, file, html):
        page = html.encode("ascii")
        if self._layout.is_web:
            file.touch()  # nginx looks for it before it sends the compressed one
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(page, 1))
        else:
            file.write_bytes(page)
        return len(page)

    def _html(self, page):
        """Return a page with 12 to 15 links, a third of them on every page."""
        pages = self._layout.pages
        section = page // PAGES_PER_DIRECTORY
        firsts = (i * PAGES_PER_DIRECTORY % pages for i in range(SECTIONS))
        children = (CHILDREN * page + 1 + i for i in range(CHILDREN))
        beside = range(page - NEIGHBORS, page + NEIGHBORS + 1)
        html = PAGE.format(
            title=f"Page {page} of section {section}",
            nav="".join(
                f'<a href="{self._link(page, first, path_of(first))}">Part {first}</a>'
                for first in firsts
            ),
            children="\n".join(
                f'<li><a href="{self._far_link(page, child % pages)}">'
                f"Page {child % pages}</a>"
                for child in children
            ),
            neighbors=" | ".join(
                f'<a href="{self._near_link(page, other)}">{other}</a>'
                for other in beside
                if other != page and 0 < other < pages
            ),
            text="{text}",
        )
        return html.replace(
            "{text}", self._text(page, self._layout.page_bytes - len(html))
        )

    def _text(self, page, size):
        """Return paragraphs of about a size together, chosen by the page."""
        chosen = random.Random(page)
        found = []
        while size > 0:
            found.append(chosen.choice(self._paragraphs))
            size -= len(found[-1])
        return "".join(found)

    def _link(self, page, target, relative):
        """Return a link: relative, unless the target is on another host."""
        layout = self._layout
        host = target % layout.hosts
        if host == page % layout.hosts and not layout.is_absolute:
            return relative
        return f"{layout.scheme}://{address_of(host)}:{self._port}{path_of(target)}"

    def _far_link(self, page, target):
        """Return a link as most generators write it, with a fragment."""
        up = ".." if page else "."
        return f"{self._link(page, target, up + path_of(target))}#part-{target % 9}"

    def _near_link(self, page, target):
        same = page and page // PAGES_PER_DIRECTORY == target // PAGES_PER_DIRECTORY
        path = path_of(target)
        return self._link(page, target, path.rpartition("/")[2] if same else path)


class Visit(NamedTuple):
    """The server's responses during one run.

    Attributes:
        pages: The number of distinct URLs with status 200.
        repeats: Further responses with 200 for the same URL.
        others: Responses with any other status.
    """

    pages: int
    repeats: int
    others: int


class Nginx:
    """nginx on a free port of loopback, as a context manager.

    Args:
        program: The path of nginx.
        root: The directory that it serves.
        run: An empty directory for its own files.
        layout: It listens on an address for each host.

    Attributes:
        authority: The file of the certificate authority that a client has to trust.
    """

    def __init__(self, program, root, run, layout):
        self._program = program
        self._root = root
        self._run = run
        self._layout = layout
        self._log = run / "access.log"
        self._log_offset = 0
        self.authority = run / "authority.pem"
        self.port = free_port()
        self.url = f"{layout.scheme}://{address_of(0)}:{self.port}"

    def __enter__(self):
        config = self._run / "nginx.conf"
        gzip_static = "always" if self._layout.is_web else "off"
        config.write_text(
            NGINX_CONFIG.format(
                run=self._run,
                root=self._root,
                gzip_static=gzip_static,
                servers="\n".join(self._servers()),
            )
        )
        command = [self._program, "-p", self._run, "-c", config, "-e", "stderr"]
        self._process = subprocess.Popen(command)
        try:
            self._wait_until_it_answers(self.port)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _servers(self):
        addresses = [address_of(host) for host in range(self._layout.hosts)]
        if not self._layout.is_tls:
            listens = (f"listen {address}:{self.port};" for address in addresses)
            yield f"server {{ {' '.join(listens)} }}"
            return
        root = trustme.CA()
        root.cert_pem.write_to_path(str(self.authority))
        intermediate = root.create_child_ca()  # as most authorities have
        for address in addresses:
            file = self._run / f"{address}.pem"
            certificate = intermediate.issue_cert(address)
            certificate.private_key_and_cert_chain_pem.write_to_path(str(file))
            yield (
                f"server {{ listen {address}:{self.port} ssl;"
                f" ssl_certificate {file}; ssl_certificate_key {file}; }}"
            )

    def __exit__(self, *exc_info):
        self._process.terminate()
        self._process.wait()

    def _wait_until_it_answers(self, port):
        give_up_at = time.monotonic() + START_PATIENCE_S
        while time.monotonic() < give_up_at and self._process.poll() is None:
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port)).close()
                return
            time.sleep(0.01)
        raise SystemExit(f"nginx ({self._program}) does not answer; see what it says")

    def take_visit(self, pages):
        """Return the responses since the last call.

        Waits shortly until there are ``pages`` of them, since some runs do not fetch all.
        """
        give_up_at = time.monotonic() + LOG_PATIENCE_S
        while True:
            with self._log.open() as log:
                log.seek(self._log_offset)
                lines = log.readlines()
                end = log.tell()
            urls = collections.Counter(
                line for line in lines if line.startswith("200 ")
            )
            if len(urls) >= pages or time.monotonic() > give_up_at:
                self._log_offset = end
                good = urls.total()
                return Visit(len(urls), good - len(urls), len(lines) - good)
            time.sleep(0.02)


def find_nginx():
    """Return the path of nginx, which on Debian is not in a user's PATH; or None."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Site(NamedTuple):
    """A served site: its server, its layout, and the total size of its pages."""

    nginx: Nginx
    layout: Layout
    size: int

    @property
    def pages(self):
        return self.layout.pages

    def urls(self):
        return [
            f"{self.layout.scheme}://{address_of(page % self.layout.hosts)}"
            f":{self.nginx.port}{path_of(page)}"
            for page in range(self.pages)
        ]


@contextlib.contextmanager
def served_site(layout):
    """Serve a site from a temporary directory."""
    program = find_nginx()
    if program is None:
        raise SystemExit("nginx is missing; it is Debian's package nginx-light")
    with tempfile.TemporaryDirectory() as directory:
        root, server_files = Path(directory, "site"), Path(directory, "nginx")
        root.mkdir()
        server_files.mkdir()
        nginx = Nginx(program, root, server_files, layout)
        size = Writer(layout, nginx.port).write(root)
        # OpenSSL, and so each competitor but wget2, takes it from there.
        authority = {"SSL_CERT_FILE": str(nginx.authority)} if layout.is_tls else {}
        with nginx, unittest.mock.patch.dict(os.environ, authority):
            yield Site(nginx, layout, size)
