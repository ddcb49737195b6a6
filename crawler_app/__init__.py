"""crawler_app: a web crawler written in generator coroutines on gencoro.

What is imported from here is public, and so is `crawler_app.httpclient`; every other module
is inside and may change.  ``python -m crawler_app --help`` shows what the crawler does;
`crawler_app.crawl` reads top to bottom as the path of one URL.

>>> from crawler_app import CrawlConfig, Crawler
>>> config = CrawlConfig(seeds=("http://a.test/",), max_pages=10)
>>> Crawler(config, on_page=print).config.max_pages
10
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler_app.archive.captures import Capture
    from crawler_app.archive.store import Archive
    from crawler_app.config import CrawlConfig
    from crawler_app.crawl import Crawl, Failure
    from crawler_app.crawler import Crawler, Result
    from crawler_app.dashboard import Dashboard
    from crawler_app.demo_site import DemoSite
    from crawler_app.directory import CrawlDirectory, Kept
    from crawler_app.errors import (
        ArchiveError,
        ConfigError,
        CrawlerError,
        FetchError,
        FrontierError,
        HookError,
        LeaseLostError,
        SearchError,
        SearchIndexError,
        StorageError,
        UrlError,
    )
    from crawler_app.index import Hit, PageIndex, SearchResult
    from crawler_app.models import (
        Claim,
        CrawledPage,
        Fetched,
        Link,
        Outcome,
        State,
        UrlRecord,
    )
    from crawler_app.monitor import Monitor, Sample
    from crawler_app.reasons import RETRYABLE, Reason
    from crawler_app.report import Report, gather, render_html, render_markdown
    from crawler_app.results.comparison import Comparison
    from crawler_app.results.summary import Summary, summarize

__all__ = [
    "RETRYABLE",
    "Archive",
    "ArchiveError",
    "Capture",
    "Claim",
    "Comparison",
    "ConfigError",
    "Crawl",
    "CrawlConfig",
    "CrawlDirectory",
    "CrawledPage",
    "Crawler",
    "CrawlerError",
    "Dashboard",
    "DemoSite",
    "Failure",
    "FetchError",
    "Fetched",
    "FrontierError",
    "Hit",
    "HookError",
    "Kept",
    "LeaseLostError",
    "Link",
    "Monitor",
    "Outcome",
    "PageIndex",
    "Reason",
    "Report",
    "Result",
    "Sample",
    "SearchError",
    "SearchIndexError",
    "SearchResult",
    "State",
    "StorageError",
    "Summary",
    "UrlError",
    "UrlRecord",
    "gather",
    "render_html",
    "render_markdown",
    "summarize",
]

__version__ = "0.1.0"

_NAMES_BY_HOME = {
    "archive.captures": "Capture",
    "archive.store": "Archive",
    "config": "CrawlConfig",
    "crawl": "Crawl Failure",
    "crawler": "Crawler Result",
    "dashboard": "Dashboard",
    "demo_site": "DemoSite",
    "directory": "CrawlDirectory Kept",
    "errors": "ArchiveError ConfigError CrawlerError FetchError FrontierError HookError"
    " LeaseLostError SearchError SearchIndexError StorageError UrlError",
    "index": "Hit PageIndex SearchResult",
    "models": "Claim CrawledPage Fetched Link Outcome State UrlRecord",
    "monitor": "Monitor Sample",
    "reasons": "RETRYABLE Reason",
    "report": "Report gather render_html render_markdown",
    "results.comparison": "Comparison",
    "results.summary": "Summary summarize",
}
_HOME_BY_NAME = {
    name: home for home, names in _NAMES_BY_HOME.items() for name in names.split()
}

# Not for type checkers, which would accept any name then.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # On demand: the HTTP client and the command line load only what they use.
        if name not in _HOME_BY_NAME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOME_BY_NAME[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
