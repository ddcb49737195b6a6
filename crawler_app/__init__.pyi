from .archive.captures import Capture
from .archive.store import Archive
from .commands.demo_site import DemoSite
from .config import CrawlConfig
from .crawl import Crawl, Failure
from .crawl.monitor import Monitor, Sample
from .crawler import Crawler, Result
from .dashboard import Dashboard
from .directory import CrawlDirectory, Kept
from .errors import (
    ArchiveError,
    ConfigError,
    CrawlerError,
    FetchError,
    FrontierError,
    HookError,
    LeaseLostError,
    ObjectStorageError,
    SearchError,
    SearchIndexError,
    StorageError,
    UrlError,
)
from .index import Hit, PageIndex, SearchResult
from .models import (
    Claim,
    CrawledPage,
    Fetched,
    Link,
    Outcome,
    State,
    UrlRecord,
)
from .reasons import RETRYABLE, Reason
from .report import Report, gather, render_html, render_markdown
from .results.comparison import Comparison
from .results.summary import Summary, summarize

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
