"""Pages that would take all time or memory: they cost little, and the crawl goes on."""

import asyncio
import contextlib
import gzip
import json
import random
import time

from crawler_app.config import CrawlConfig
from crawler_app.crawler import Crawler
from crawler_app.models import State

LINK = "<a href=/found>x</a>"
REOPENED = LINK + "".join(f"<p><font a{number}>" for number in range(4000))

# The loop's thread may take this much CPU time in one turn.  It is 50 ms on an idle
# machine; a busy one has colder caches.
MAX_TURN_S = 0.1


def hostile_site(site):
    """Fill a site with documents that are expensive in different ways."""
    words = random.Random(1)
    paths = "reopened deep links words han marks brackets base settled page"
    site.page("/", *(f"/{path}" for path in paths.split()))
    site.page("/page")
    site.page("/found")
    site.answer("/reopened", REOPENED.encode())
    site.answer("/deep", (LINK + "<div>" * 1_000_000).encode())
    links = "".join(f"<a href=http://b.test/{number}>x</a>" for number in range(20_000))
    site.answer("/links", links.encode())
    text = " ".join(words.randbytes(4).hex() for _ in range(100_000))
    site.answer("/words", f"<p>{text}".encode())
    han = "".join(chr(words.randrange(0x4E00, 0x9FFF)) for _ in range(300_000))
    site.answer("/han", f"<p>{han}".encode())
    site.answer("/marks", ("<p>a" + "\u0301\u0323" * 150_000).encode())
    brackets = "".join(f"<a href=/{n}{'[' * 2100}>x</a>" for n in range(300))
    site.answer("/brackets", brackets.encode())
    hrefs = "".join(f"<a href={number}>x</a>" for number in range(340))
    site.answer("/base", f"<base href=/{'[' * 7900}/>{hrefs}".encode())
    settled = "".join(f"<a href=/{n}\u4e00{'x' * 65_000}>x</a>" for n in range(100))
    site.answer("/settled", settled.encode(), headers={"X-Robots-Tag": "," * 60_000})
    rules = "".join(f"Allow: /*a*a*a{number}$\n" for number in range(25_000))
    site.answer("/robots.txt", f"User-agent: *\n{rules}Sitemap: /map".encode())
    entries = "".join(
        f"<url><loc>{site.url}page?{n}</loc></url>" for n in range(10_000)
    )
    site.answer("/map", gzip.compress(f"<urlset>{entries}</urlset>".encode()))


class Turns:
    """Measures the CPU time of the loop's thread between two turns, during a crawl."""

    longest_s = 0.0

    @contextlib.contextmanager
    def watch(self, crawl):
        watching = asyncio.ensure_future(self._watch())
        yield
        watching.cancel()

    async def _watch(self):
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            self.longest_s = max(self.longest_s, time.thread_time() - before)


def test_no_document_holds_up_the_crawl(site, run_sync, tmp_path):
    hostile_site(site)
    config = CrawlConfig(
        (site.url,), into=str(tmp_path / "crawl"), max_queries_per_path=5
    )
    turns = Turns()

    result = run_sync(Crawler(config, watch=turns.watch).run)

    assert result.summary.failed == 0
    assert {"/found", "/page", "/words", "/han", "/marks"} <= set(site.paths)
    assert turns.longest_s < MAX_TURN_S


def test_page_that_is_too_hard_is_told_and_not_met_again(site, cli):
    site.page("/", "/reopened")
    site.answer("/reopened", REOPENED.encode())
    site.page("/found")

    status = cli("crawl", "--no-robots")[0]
    requests = len(site.requests)
    again = cli("resume")

    assert (status, again[0], len(site.requests)) == (0, 0, requests)
    assert sorted(site.paths) == ["/", "/found", "/reopened"]
    records = [
        json.loads(line) for line in cli("export", "--format", "jsonl")[1].splitlines()
    ]
    reasons = {
        record["url"].removeprefix(site.url): record["reason"] for record in records
    }
    assert reasons == {"": "ok", "reopened": "too_hard", "found": "ok"}
    assert {record["state"] for record in records} == {State.DONE}
