"""Makes the parts of a crawl and connects them."""

import time
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tornado.util import import_object

from crawler_app.base.config import NEVER, CrawlConfig
from crawler_app.base.config.login_recipe import LoginRecipe
from crawler_app.base.errors import ConfigError
from crawler_app.run.crawl.admission import Admission
from crawler_app.run.crawl.context import RunContext
from crawler_app.run.crawl.external_cache import ExternalCache
from crawler_app.run.crawl.external_checks import ExternalChecker
from crawler_app.run.crawl.fetching import Fetching
from crawler_app.run.crawl.hooks import Hooks
from crawler_app.run.crawl.host_state import HostStates
from crawler_app.run.crawl.interpreting import Interpreter
from crawler_app.run.crawl.observer import (
    NO_HOST_OBSERVER,
    CrawlObserver,
    HostObserver,
)
from crawler_app.run.crawl.outages import Outages
from crawler_app.run.crawl.permission import Permission
from crawler_app.run.crawl.redirecting import RedirectReader
from crawler_app.run.crawl.session import Session
from crawler_app.run.crawl.soft_404 import Soft404Detector
from crawler_app.run.crawl.waits import Waits
from crawler_app.run.crawl.wall_checks import WallChecker
from crawler_app.store.archive.reading import ArchiveReader
from crawler_app.store.archive.store import Archive
from crawler_app.store.frontier import Frontier
from crawler_app.store.index.index_writer import IndexWriter
from crawler_app.web.documents.reader import Reader
from crawler_app.web.fetcher import Fetcher, check_fetcher

if TYPE_CHECKING:
    from crawler_app.run.crawl.rendering import PageRenderer

__all__ = ["CrawlParts", "check_parts", "wire"]

# By name: a crawl that renders nothing imports nothing for it.
CHROMIUM_PATH = "crawler_app.web.render.browser.chromium_path"
RENDERER = "crawler_app.run.crawl.rendering.PageRenderer"


@dataclass(frozen=True, slots=True)
class CrawlParts:
    """The parts of one run; each is described in its module.

    Attributes:
        archive: None for no archive.
        index: None for no index.
        observer: None for none.
        renderer: None if pages are not rendered.
    """

    context: RunContext
    fetcher: Fetcher
    archive: Archive | None
    index: IndexWriter | None
    hooks: Hooks
    observer: CrawlObserver | None
    admission: Admission
    permission: Permission
    fetching: Fetching
    reader: Reader
    interpreter: Interpreter
    renderer: "PageRenderer | None"
    external_checker: ExternalChecker
    walls: WallChecker
    waits: Waits
    soft_404: Soft404Detector


def check_parts(config: CrawlConfig) -> None:
    """Raise the errors of parts that cannot be made, before anything is begun.

    Raises:
        ConfigError: the client, the browser or a file cannot be used, or options conflict.
    """
    check_fetcher(config)
    if config.login_file:
        LoginRecipe.read(config.login_file)
    if config.render != NEVER:
        import_object(CHROMIUM_PATH)()
    if config.screenshots and (config.render == NEVER or not config.archive):
        raise ConfigError(
            "screenshots are those of rendered pages, and kept in the archive: add "
            "`--render auto` or `--render always`, and leave out `--no-archive`"
        )


def wire(
    config: CrawlConfig,
    frontier: Frontier,
    fetcher: Fetcher,
    *,
    stats: Counter[str] | None = None,
    clock: Callable[[], float] = time.time,
    archive: Archive | None = None,
    index: IndexWriter | None = None,
    is_recrawl: bool = False,
    archived: Container[str] = (),
    others: Sequence[ArchiveReader] = (),
    hooks: Hooks | None = None,
    external_cache: ExternalCache | None = None,
    observer: CrawlObserver | None = None,
    host_observer: HostObserver = NO_HOST_OBSERVER,
) -> CrawlParts:
    """Return the parts of a run, connected.

    Args:
        config: What to crawl.
        frontier: Holds every URL.  The caller closes it, and the fetcher, the archive and
            the index too.
        fetcher: Makes the HTTP exchanges.
        stats: Counts what this run does.
        clock: Returns the current time in seconds since the epoch.
        archive: Stores every exchange; None for no archive.
        index: Stores the words of every page; None for no index.
        is_recrawl: Whether to fetch only what has changed since it was archived.
        archived: URLs whose responses are read from the archive instead of fetched (in a
            recrawl they are asked for conditionally).
        others: The archives of other processes, for a recrawl.
        hooks: The user's callbacks.
        external_cache: Which external URLs existed in earlier runs.
        observer: Notified of each document and each finished URL; None for none.
        host_observer: Notified of what the run learns about hosts.
    """
    stats = Counter() if stats is None else stats
    hooks = Hooks() if hooks is None else hooks
    hosts = HostStates(config, host_observer)
    outages = Outages(config, frontier, stats, host_observer)
    context = RunContext(config, frontier, hosts, outages, stats, clock, host_observer)
    admission = Admission(config, frontier, stats, observer)
    fetching = Fetching(
        context,
        fetcher,
        archive,
        is_recrawl=is_recrawl,
        archived=archived,
        others=others,
    )
    if config.login_file:
        recipe = LoginRecipe.read(config.login_file)
        fetching.session = Session(context, fetcher, recipe, fetching.exchange)
    permission = Permission(context, admission, hooks, fetching.fetch)
    renderer = None
    if config.render != NEVER:
        renderer = import_object(RENDERER)(context, fetching, permission, observer)
    redirects = RedirectReader(context, admission, fetching.cookies_for)
    # One for pages and for external URLs, which share the processes that it starts.
    reader = Reader()
    kept = ExternalCache() if external_cache is None else external_cache
    return CrawlParts(
        context=context,
        fetcher=fetcher,
        archive=archive,
        index=index,
        hooks=hooks,
        observer=observer,
        admission=admission,
        permission=permission,
        fetching=fetching,
        reader=reader,
        interpreter=Interpreter(
            context,
            admission,
            redirects,
            reader,
            index,
            keeps_page=hooks.want_pages,
            observer=observer,
            renderer=renderer,
        ),
        renderer=renderer,
        external_checker=ExternalChecker(
            context, fetching, redirects, kept, reader, observer
        ),
        walls=WallChecker(fetching),
        waits=Waits(config.max_external_wait_s),
        soft_404=Soft404Detector(
            context, partial(fetching.fetch, is_archived=False), permission.is_allowed
        ),
    )
