"""Pages made to exhaust time or memory: they cost little, and the crawl continues."""

import contextlib
import gzip
import json
import random
import time

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import State
from crawler_app.run.crawler import Crawler
from crawler_app.run.directory import CrawlDirectory
from crawler_app.store.index.columns import MAX_WORDS
from tests.helpers.turns import turns_below

LINK = "<a href=/found>x</a>"
REOPENED = LINK + "".join(f"<p><font a{number}>" for number in range(4000))

# The loop's thread may take this much CPU time in one turn.  It is 50 ms on an idle
# machine; a busy one has colder caches.
MAX_TURN_S = 0.1

# Without turns, each of the steps would take two or three times as long.
LINKS = 40_000


def in_turns(crawl):
    return turns_below(MAX_TURN_S)


def hostile_site(site):
    """Fill a site with documents that are expensive in different ways."""
    words = random.Random(1)
    paths = "reopened links words han marks brackets base settled page"
    site.page("/", *(f"/{path}" for path in paths.split()))
    site.page("/page")
    site.page("/found")
    site.answer("/reopened", REOPENED.encode())
    links = "".join(f"<a href=//b.test/{n}?x>{n}</a>" for n in range(LINKS))
    site.answer("/links", links.encode())
    for path, first, last in (("/words", 0x80, 0xD7FF), ("/han", 0x4E00, 0x9FFF)):
        text = "".join(map(chr, words.choices(range(first, last), k=300_000)))
        site.answer(path, f"<p>{text}".encode())
    site.answer("/marks", ("<p>a" + "\u0301\u0323" * 150_000).encode())
    brackets = "".join(f"<a href=/{n}{'[' * 2100}>x</a>" for n in range(300))
    site.answer("/brackets", brackets.encode())
    hrefs = "".join(f"<a href={number}>x</a>" for number in range(340))
    site.answer("/base", f"<base href=/{'[' * 7900}/>{hrefs}".encode())
    settled = "".join(f"<a href=/{n}\u4e00{'x' * 65_000}>x</a>" for n in range(100))
    site.answer("/settled", settled.encode(), headers={"X-Robots-Tag": "," * 60_000})
    rules = "".join(f"Allow: /*a*a*a{number}$\n" for number in range(25_000))
    maps = "".join(f"Sitemap: /{'%c3' * 2600}{n}\n" for n in range(400))
    robots = f"User-agent: *\n{rules}Sitemap: /map\n{maps}"
    site.answer("/robots.txt", robots.encode())
    entries = "".join(
        f"<url><loc>{site.url}page?{n}</loc></url>" for n in range(20_000)
    )
    site.answer("/map", gzip.compress(f"<urlset>{entries}</urlset>".encode()))


def test_no_document_blocks_the_crawl(site, run_sync, tmp_path):
    hostile_site(site)
    config = CrawlConfig(
        (site.url,), into=str(tmp_path / "crawl"), max_queries_per_path=5
    )
    shown = []

    crawler = Crawler(
        config, watch=in_turns, on_page=lambda page: None, on_link=shown.append
    )
    assert run_sync(crawler.run).summary.failed == 0

    assert {"/found", "/page", "/words", "/han", "/marks"} <= set(site.paths)
    assert len(shown) > LINKS


def test_indexing_many_words_does_not_block_the_crawl(site, run_sync, tmp_path):
    pages = [f"/{number}" for number in range(6)]
    site.page("/", *pages)
    chosen = random.Random(2)
    for path in pages * 2:
        words = chosen.randbytes(4 * MAX_WORDS).hex(" ", 4)
        site.answer(path, f"<p>{words}".encode(), times=1)
    config = CrawlConfig((site.url,), into=str(tmp_path / "crawl"), robots=False)

    for _ in range(2):  # the second time, every word of the index is replaced
        # Adding the words of one page takes 12 ms, and those of five are merged.
        crawler = Crawler(config, watch=lambda crawl: turns_below(0.015))
        assert run_sync(crawler.run).summary.failed == 0


def test_slow_on_link_blocks_the_loop_for_one_link_at_a_time(site, run_sync):
    site.page("/", *map(str, range(40)))
    config = CrawlConfig((site.url,), robots=False, max_pages=1)

    def work(link):
        end = time.thread_time() + 0.005
        while time.thread_time() < end:
            pass

    run_sync(Crawler(config, watch=in_turns, on_link=work).run)


def test_refused_urls_of_one_page_take_little_space(site, run_sync, tmp_path):
    start = f"{site.url}{'b' * 7900}/"
    links = "".join(f"<a href={start}{number}>x</a>" for number in range(500))
    site.answer("/", links.encode())
    config = CrawlConfig((site.url,), into=str(tmp_path / "crawl"), robots=False)

    for _ in range(2):  # a second crawl finds the same
        summary = run_sync(Crawler(config).run).summary
        assert summary.count_by_reason[State.EXCLUDED] == {"url_too_long": 500}

    with contextlib.closing(CrawlDirectory.open(tmp_path / "crawl").frontier()) as all_:
        urls = {record.url for record in all_.records()} - {site.url}
    assert len(urls) == 500
    assert all(url.startswith(f"{start[:500]}…") for url in urls)
    assert sum(map(len, urls)) < 275_000


def test_page_over_the_limits_is_reported_and_not_retried(site, cli):
    site.page("/", "/many")
    mails = "".join(f"<a href=mailto:{n}@a.test>x</a>" for n in range(100_001))
    site.answer("/many", f"{LINK}{mails}".encode())
    site.page("/found")

    status = cli("crawl", "--no-robots")[0]
    requests = len(site.requests)
    again = cli("resume")

    assert (status, again[0], len(site.requests)) == (0, 0, requests)
    assert sorted(site.paths) == ["/", "/found", "/many"]
    records = [
        json.loads(line) for line in cli("export", "--format", "jsonl")[1].splitlines()
    ]
    reasons = {
        record["url"].removeprefix(site.url): record["reason"] for record in records
    }
    assert reasons == {"": "ok", "many": "too_hard", "found": "ok"}
    assert {record["state"] for record in records} == {State.DONE}
