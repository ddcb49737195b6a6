"""What the parts of a crawl cost, compared with the libraries that do their work.

    python benchmarks/bench_floors.py [--tree DIR] [--rounds 5] [--check]

Each part handles the same pages as its floor: the least that any program has to call for
the same result, such as the parser for reading, or deflate, two hashes and one row for the
archive.  Both run in one process, alternately; the figures are medians of CPU time.
"""

import argparse
import contextlib
import hashlib
import itertools
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from backports import zstd
from crawl_site import Layout, Writer
from frontier_load import LEASE_S, Site, page_of
from isal import isal_zlib
from turbohtml import parse

from crawler_app.base.models import Fetched
from crawler_app.store.archive.captures import Captures
from crawler_app.store.archive.gzip_members import ISAL_LEVEL
from crawler_app.store.archive.recorder import Recorder
from crawler_app.store.archive.warc_files import WarcFiles
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.store.index import PageIndex
from crawler_app.store.index.columns import columns_of
from crawler_app.store.index.index_schema import HASH_BYTES, words_table
from crawler_app.store.index.texts import LEVEL
from crawler_app.web.documents.html import parse_html

# A part may cost this many times its floor.
BAR = 1.5

PAGES = 1_000
PAGE_BYTES = 26_000
GROUP = 25  # pages of one commit

HEAD = b"""\
HTTP/1.1 200 OK\r
Server: nginx/1.22.1\r
Date: Sun, 06 Nov 1994 08:49:37 GMT\r
Content-Type: text/html\r
Content-Length: %d\r
Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r
ETag: "28a1-6578"\r
\r
"""
REQUEST = b"""\
GET /a/page HTTP/1.1\r
Host: www.example.org\r
User-Agent: gencrawl (+https://www.example.org/bot)\r
Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r
Accept-Encoding: gzip, deflate, br\r
\r
"""


def bodies_of(tree):
    """Return pages of a directory, or pages made for this."""
    chosen = random.Random(1)
    if tree is None:
        writer = Writer(Layout(PAGES, PAGE_BYTES, is_web=True), 80)
        return [writer._html(page).encode() for page in range(PAGES)]
    paths = sorted(Path(tree).rglob("*.html"))
    return [path.read_bytes() for path in chosen.sample(paths, min(PAGES, len(paths)))]


def url_of(number):
    return f"http://www.example.org/section-{number // 100}/page-{number}.html"


def groups(items):
    return [items[start : start + GROUP] for start in range(0, len(items), GROUP)]


def opened(path):
    """Return a connection with the settings of a crawl's."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    return db


class Row(NamedTuple):
    """A claimed URL."""

    id: int
    url: str


class Reading:
    """The links, the text and what a browser loads, beside the tree alone."""

    def __init__(self, bodies):
        self._bodies = bodies

    def ours(self, _directory):
        for body in self._bodies:
            parse_html(body, "text/html", with_text=True, with_assets=True)

    def floor(self, _directory):
        for body in self._bodies:
            parse(body.decode("utf-8", "replace"), scripting=True)


class Archive:
    """Records and captures, beside deflate, the two hashes of WARC, a write and a row."""

    def __init__(self, bodies):
        self._fetched = [
            Fetched(
                url, 200, {}, body, 0.1, REQUEST, HEAD % len(body), body, "192.0.2.1"
            )
            for url, body in zip(map(url_of, itertools.count()), bodies, strict=False)
        ]
        for fetched in self._fetched:
            fetched.digest()  # which the frontier has anyway

    def ours(self, directory):
        recorder = Recorder(WarcFiles(directory, {}, 2**30), Captures(directory))
        with contextlib.closing(recorder):
            for group in groups(self._fetched):
                for fetched in group:
                    recorder.take(fetched, 0.0)
                recorder.commit()

    def floor(self, directory):
        db = opened(directory / "captures")
        db.execute("CREATE TABLE capture (url PRIMARY KEY, key UNIQUE, digest, place)")
        with contextlib.closing(db), (directory / "records").open("wb") as file:
            for group in groups(self._fetched):
                db.execute("BEGIN")
                for each in group:
                    digest = hashlib.sha1(each.body).digest()
                    key = hashlib.sha256(each.body).digest()
                    place = file.tell()
                    for part in (each.raw_head + each.body, each.request_head):
                        file.write(isal_zlib.compress(part, ISAL_LEVEL, 31))
                    row = (each.url, key, digest, place)
                    db.execute("INSERT INTO capture VALUES (?, ?, ?, ?)", row)
                file.flush()
                db.execute("COMMIT")


class Index:
    """Texts and words, beside FTS5, and zstd and rows in commits of a group."""

    def __init__(self, bodies):
        pages = [parse_html(body, "text/html", with_text=True) for body in bodies]
        self._columns = [
            columns_of(page.title, page.headings, page.text) for page in pages
        ]

    def ours(self, directory):
        with contextlib.closing(PageIndex(directory / "index.sqlite")) as index:
            numbered = list(enumerate(self._columns))
            for group in groups(numbered):
                for number, columns in group:
                    index.put(url_of(number), columns, 0.0)
                index.flush(with_words=False)

    def floor(self, directory):
        db = opened(directory / "words")
        with contextlib.closing(db):
            db.execute("CREATE TABLE page (id INTEGER PRIMARY KEY, url UNIQUE)")
            db.execute("CREATE TABLE block (texts)")
            db.execute(words_table("content='',"))
            option = "INSERT INTO words (words, rank) VALUES ('hashsize', ?)"
            db.execute(option, (HASH_BYTES,))
            for group in groups(list(enumerate(self._columns))):
                db.execute("BEGIN")
                urls = [(url_of(number),) for number, _ in group]
                db.executemany("INSERT INTO page (url) VALUES (?)", urls)
                text = "".join(itertools.chain(*[columns for _, columns in group]))
                block = zstd.compress(text.encode(), LEVEL)
                db.execute("INSERT INTO block VALUES (?)", (block,))
                db.execute("COMMIT")
            db.execute("BEGIN")
            marks = ", ".join(["(?, ?, ?)"] * len(self._columns))
            values = [column for columns in self._columns for column in columns]
            db.execute(
                f"INSERT INTO words (title, headings, text) VALUES {marks}", values
            )
            db.execute("COMMIT")


class Frontier:
    """Claims, ends and new URLs, beside their rows."""

    def __init__(self, bodies):
        self._pages = len(bodies)

    def ours(self, directory):
        site = Site(0)
        frontier = SqliteFrontier(directory / "frontier.sqlite3")
        with contextlib.closing(frontier):
            frontier.add(site.seeds())
            for number in range(self._pages):
                claim = frontier.claim(float(number), LEASE_S)
                frontier.finish(claim, page_of(claim), float(number), site.links())
                if frontier.is_due(float(number)):
                    frontier.flush()

    def floor(self, directory):
        site = Site(0)
        db = opened(directory / "urls")
        with contextlib.closing(db):
            db.execute(
                "CREATE TABLE url (id INTEGER PRIMARY KEY, key UNIQUE, url, state, status,"
                " content_type, size_bytes, title, digest, ended_at)"
            )
            insert = (
                "INSERT OR IGNORE INTO url (key, url, state) VALUES (?, ?, 'queued')"
            )
            db.execute("BEGIN")
            for each in site.seeds():
                db.execute(insert, (hash(each.url), each.url))
            for group in groups(list(range(self._pages))):
                for number in group:
                    query = "SELECT id, url FROM url WHERE id = ?"
                    claim = Row(*db.execute(query, (number + 1,)).fetchone())
                    ended = page_of(claim)
                    db.execute(
                        "UPDATE url SET state = 'done', status = ?, content_type = ?,"
                        " size_bytes = ?, title = ?, digest = ?, ended_at = 0 WHERE id = ?",
                        (
                            ended.status,
                            ended.content_type,
                            ended.size_bytes,
                            ended.title,
                            ended.digest,
                            claim.id,
                        ),
                    )
                    for each in site.links():
                        db.execute(insert, (hash(each.url), each.url))
                db.execute("COMMIT")
                db.execute("BEGIN")
            db.execute("COMMIT")


PARTS = {
    "reading: links, text, assets": (Reading, "turbohtml's tree"),
    "archive": (Archive, "isal, SHA-1, SHA-256, a row"),
    "index": (Index, "FTS5, zstd, a row"),
    "frontier": (Frontier, "21 statements of SQLite"),
}


def cpu_us(run, pages):
    """Return the CPU time of a page in microseconds."""
    with tempfile.TemporaryDirectory() as directory:
        began = time.process_time()
        run(Path(directory))
        return (time.process_time() - began) / pages * 1e6


def measure(part, pages, rounds):
    """Return the medians of a part and of its floor, and of their ratio."""
    pairs = []
    for _ in range(rounds):
        pairs.append((cpu_us(part.ours, pages), cpu_us(part.floor, pages)))
    ours, floors = zip(*pairs, strict=True)
    ratio = statistics.median(our / floor for our, floor in pairs)
    return statistics.median(ours), statistics.median(floors), ratio


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tree", metavar="DIR", help="HTML files, instead of made ones"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--check", action="store_true", help=f"exit 1 if a ratio is above {BAR}"
    )
    arguments = parser.parse_args()
    bodies = bodies_of(arguments.tree)
    print(f"{len(bodies)} pages of {sum(map(len, bodies)) // len(bodies)} bytes\n")
    print("| us CPU a page | ours | floor | ratio | the floor is |")
    print("|---|---|---|---|---|")
    is_missed = False
    for title, (make, said) in PARTS.items():
        ours, floor, ratio = measure(make(bodies), len(bodies), arguments.rounds)
        print(f"| {title} | {ours:.0f} | {floor:.0f} | {ratio:.2f} | {said} |")
        is_missed |= ratio > BAR
    return 1 if arguments.check and is_missed else 0


if __name__ == "__main__":
    sys.exit(main())
