from .base.config import CrawlConfig
from .base.errors import (
    ArchiveError,
    ConfigError,
    CrawlerError,
    FetchError,
    FrontierError,
    HookError,
    LeaseLostError,
    LoginError,
    ObjectStorageError,
    SearchError,
    SearchIndexError,
    StorageError,
    UrlError,
)
from .base.models import (
    Claim,
    CrawledPage,
    Fetched,
    Link,
    Outcome,
    State,
    UrlRecord,
)
from .base.reasons import RETRYABLE, Reason
from .commands.demo_site import DemoSite
from .run.crawl import Crawl, Failure
from .run.crawl.monitor import Monitor, Sample
from .run.crawler import Crawler, Result
from .run.directory import CrawlDirectory, CrawlSizes
from .run.results.comparison import Comparison
from .run.results.summary import Summary, summarize
from .show.dashboard import Dashboard
from .show.report import Report, gather, render_html, render_markdown
from .store.archive.captures import Capture
from .store.archive.store import Archive
from .store.index import Hit, PageIndex, SearchResult

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
    "CrawlSizes",
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
    "LeaseLostError",
    "Link",
    "LoginError",
    "Monitor",
    "ObjectStorageError",
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

__version__: str
