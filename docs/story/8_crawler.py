"""Stage 8: crawler_app, with what the other stages do not have switched off.

python docs/story/8_crawler.py URL [--connections N] [--timeout S]
"""

import contextlib
from collections.abc import Iterator

from web import MAX_REDIRECTS, Site, main

from crawler_app import Crawl, CrawlConfig, Crawler, Reason, State, UrlRecord
from gencoro.ioloop import IOLoop

__all__ = ["crawl"]

# Those of the URLs that were fetched; a URL may also be excluded.
STATES = (State.DONE, State.FAILED)

WORD_BY_REASON = {
    Reason.CONNECTION_REFUSED: "refused",
    Reason.TIMEOUT: "timeout",
}


def crawl(site: Site, connections: int, timeout: float) -> None:
    """Crawl with crawler_app, and note what became of each URL that was fetched."""

    @contextlib.contextmanager
    def watch(crawl: Crawl) -> Iterator[None]:
        yield
        for state in STATES:
            site.lines += map(line_of, crawl.frontier.records(state))

    config = CrawlConfig(
        seeds=(site.start.url,),
        concurrency=connections,
        per_host=connections,
        max_redirects=MAX_REDIRECTS,
        connect_timeout_s=timeout,
        request_timeout_s=timeout,
        # The other stages fetch each URL once, as fast as they can, and know no rules.
        tries=1,
        host_gap_s=0,
        robots=False,
        sitemaps=False,
    )
    IOLoop.current().run_sync(Crawler(config, watch=watch).run)


def line_of(record: UrlRecord) -> str:
    """Return the line that the other stages would print."""
    outcome = record.outcome
    assert outcome is not None, "it has been fetched"
    status = outcome.status or WORD_BY_REASON.get(outcome.reason, "broken")
    target = f" -> {outcome.redirect_to}" if outcome.redirect_to else ""
    return f"{status} {record.url}{target}"


if __name__ == "__main__":
    main(crawl)
