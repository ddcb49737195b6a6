"""Crawl a site with Scrapy, as lean as its settings make it: no items, no log, no robots.

python scrapy_crawl.py URL CONCURRENCY
"""

import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from selectolax.lexbor import LexborHTMLParser

SETTINGS = {
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "COOKIES_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
}


class Links(scrapy.Spider):
    name = "links"

    def parse(self, response):
        # The parser that the others have too; Scrapy's own takes longer.
        for link in LexborHTMLParser(response.body).css("a[href]"):
            yield response.follow(link.attributes["href"] or "")


if __name__ == "__main__":
    start, concurrency = sys.argv[1], int(sys.argv[2])
    process = CrawlerProcess(
        {
            **SETTINGS,
            "CONCURRENT_REQUESTS": concurrency,
            "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        }
    )
    process.crawl(Links, start_urls=[start])
    process.start()
