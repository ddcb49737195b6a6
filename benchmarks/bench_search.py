"""Full-text search over many workers: an FTS5 index of each, or a tsvector in PostgreSQL.

Real pages are dealt out to the workers.  Their indexes are written as by a crawl, and are
searched one after the other and at the same time; the table in PostgreSQL has the same texts,
weights by column, and a GIN index.  CPU time is that of this process and of the server; both
write without waiting for the disk.

    python benchmarks/bench_search.py [--pages 5000] [--workers 4] [DIRECTORY...]
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import asyncpg

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from frontier_load import cpu_of_server

from crawler_app.run.directory.union import UnionIndex
from crawler_app.store.index import PageIndex
from crawler_app.store.index.columns import columns_of
from crawler_app.web.documents.html import parse_html
from tests.helpers.postgres_server import running

TREES = ("/usr/share/doc/python3.11/html", "/usr/share/doc/openjdk-17-jre-headless/api")

# Words in many pages and in few, several, a phrase, and a beginning.
QUERIES = (
    "string",
    "method returns",
    "asynchronous iterator",
    '"event loop"',
    "socket timeout",
    "concurren*",
    "class object",
    "unicode normalization",
)
ROUNDS = 10
BATCH = 100

SCHEMA = """
CREATE TABLE page (
    id serial PRIMARY KEY, url text NOT NULL UNIQUE, title text NOT NULL,
    headings text NOT NULL, body text NOT NULL,
    words tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('simple', title), 'A')
        || setweight(to_tsvector('simple', headings), 'B')
        || to_tsvector('simple', body)) STORED);
CREATE INDEX page_words ON page USING gin (words);
"""

# As `gencrawl search` needs it: the ten best, each with a snippet, and the total.
SEARCH = """
WITH best AS (
    SELECT id, url, title, body, ts_rank_cd(words, query) AS rank,
        count(*) OVER () AS total
    FROM page, to_tsquery('simple', $1) AS query WHERE words @@ query
    ORDER BY rank DESC, id LIMIT 10)
SELECT url, title, rank, total, ts_headline('simple', body, to_tsquery('simple', $1))
FROM best
"""


def read_pages(directories, most):
    """Return the URL and the parsed text of HTML files."""
    files = [Path(each).rglob("*.html") for each in directories]
    dealt = itertools.chain.from_iterable(itertools.zip_longest(*files))
    pages = []
    for path in itertools.islice(filter(None, dealt), most):
        page = parse_html(path.read_bytes(), with_text=True)
        pages.append((path.as_uri(), page.title, page.headings, page.text))
    return pages


def write_indexes(pages, paths):
    """Write an index of each worker's pages; return the CPU time."""
    began = time.process_time()
    for number, path in enumerate(paths):
        with contextlib.closing(PageIndex(path)) as index:
            for place, (url, *texts) in enumerate(pages[number :: len(paths)], 1):
                index.put(url, columns_of(*texts), 0.0)
                if place % BATCH == 0:
                    index.flush()
    return time.process_time() - began


async def write_table(connection, pages, postmaster):
    """Fill the table; return the CPU time of this process and of the server."""
    await connection.execute(SCHEMA)
    client_s, server_s = time.process_time(), cpu_of_server(postmaster)
    insert = "INSERT INTO page (url, title, headings, body) VALUES ($1, $2, $3, $4)"
    for start in range(0, len(pages), BATCH):
        rows = [
            [text.replace("\0", "") for text in page]
            for page in pages[start : start + BATCH]
        ]
        await connection.executemany(insert, rows)
    client_s = time.process_time() - client_s
    # Else the first searches go through the list of what is not in the index yet.
    await connection.execute("VACUUM ANALYZE page")
    return client_s, cpu_of_server(postmaster) - server_s


def tsquery(query):
    """Return a query in the language of PostgreSQL."""
    if query.startswith('"'):
        return " <-> ".join(query.strip('"').split())
    return " & ".join(word.replace("*", ":*") for word in query.split())


class Sequential(UnionIndex):
    """Searches one index after the other, each as if it were the only one."""

    def search(self, query, limit=10, offset=0):
        for part in self._parts:
            part.search(query, limit, offset)


def time_of(search):
    """Return the median time of each query, and the CPU time of all."""
    medians, cpu_s = [], time.process_time()
    for query in QUERIES:
        took = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            search(query)
            took.append(time.perf_counter() - began)
        medians.append(statistics.median(took))
    return medians, (time.process_time() - cpu_s) / ROUNDS / len(QUERIES)


def show(name, medians, cpu_s):
    print(
        f"{name:28} {statistics.median(medians) * 1e3:7.1f} ms a query, "
        f"{max(medians) * 1e3:7.1f} at most, {cpu_s * 1e3:7.1f} ms of CPU"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("directories", metavar="DIRECTORY", nargs="*", default=TREES)
    options = parser.parse_args()
    pages = read_pages(options.directories, options.pages)
    chars = sum(len(text) for _, *texts in pages for text in texts)
    print(f"{len(pages)} pages, {chars / len(pages):.0f} characters each")
    with (
        tempfile.TemporaryDirectory() as directory,
        running(fsync="off") as server,
    ):
        paths = [
            Path(directory, f"{number}.sqlite") for number in range(options.workers)
        ]
        cpu_s = write_indexes(pages, paths)
        size_bytes = sum(path.stat().st_size for path in paths)
        report_writing("FTS5", len(pages), size_bytes, client=cpu_s)
        with asyncio.Runner() as runner:
            connection = runner.run(asyncpg.connect(server.url))
            client_s, server_s = runner.run(
                write_table(connection, pages, server.process.pid)
            )
            size_bytes = runner.run(
                connection.fetchval("SELECT pg_total_relation_size('page')")
            )
            report_writing(
                "tsvector", len(pages), size_bytes, client=client_s, server=server_s
            )
            search_all(paths, runner, connection, server.process.pid)
            runner.run(connection.close())


def report_writing(name, pages, size_bytes, **cpu_s_by_process):
    cpu = ", ".join(
        f"{process} {cpu_s / pages * 1e3:.2f} ms"
        for process, cpu_s in cpu_s_by_process.items()
    )
    print(f"{name:28} {cpu} of CPU a page, {size_bytes / pages / 1e3:.1f} kB a page")


def search_all(paths, runner, connection, postmaster):
    """Print what searching takes, each way."""
    opened = [PageIndex(path, read_only=True, any_thread=True) for path in paths]
    with contextlib.closing(UnionIndex(opened)) as union:
        one_by_one = Sequential(opened)
        for query in QUERIES:
            union.search(query)
        show("FTS5, one after the other", *time_of(one_by_one.search))
        show(f"FTS5, {os.cpu_count()} cores", *time_of(union.search))
    began = cpu_of_server(postmaster)
    medians, client_s = time_of(
        lambda query: runner.run(connection.fetch(SEARCH, tsquery(query)))
    )
    server_s = (cpu_of_server(postmaster) - began) / ROUNDS / len(QUERIES)
    show("tsvector", medians, client_s + server_s)


if __name__ == "__main__":
    main()
