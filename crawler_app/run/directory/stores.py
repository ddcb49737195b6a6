"""Opens the frontier, archive and index of a crawl, and closes them in order."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import State
from crawler_app.base.text.escaping import printable
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.results.redirects import Redirects
from crawler_app.store.archive.gzip_members import max_record_bytes
from crawler_app.store.archive.store import Archive
from crawler_app.store.frontier import Frontier, FrontierReader
from crawler_app.store.frontier.part import PartFrontier
from crawler_app.store.frontier.sqlite import SqliteFrontier
from crawler_app.store.index.index_writer import IndexWriter

__all__ = ["Stores", "begin_recrawl", "open_stores"]


@dataclass(slots=True)
class Stores:
    """The frontier, archive and index of a crawl; None for those that are turned off."""

    frontier: Frontier
    archive: Archive | None
    index: IndexWriter | None


@contextlib.contextmanager
def open_stores(
    directory: CrawlDirectory,
    config: CrawlConfig,
    make_frontier: Callable[..., Frontier] = SqliteFrontier,
) -> Iterator[Stores]:
    """Open the stores of a crawl; the directory must be locked.

    Args:
        make_frontier: Called with the path of the frontier and ``before_commit``.

    Raises:
        ConfigError: a file in it is of another version, or of another program.
    """
    with contextlib.ExitStack() as cleanup:
        archive: Archive | None = None
        index: IndexWriter | None = None
        if config.archive:
            archive = _open_archive(directory, config)
            cleanup.callback(archive.close)
        if config.index:
            index = IndexWriter(directory.index_path)
            cleanup.callback(index.close)

        def flush() -> None:
            if archive is not None:
                archive.flush()
            if index is not None:
                index.flush()

        # Last, so that it is closed first: its last commit still flushes the other two.
        frontier = make_frontier(directory.frontier_path, before_commit=flush)
        cleanup.callback(frontier.close)
        yield Stores(frontier, archive, index)


def _open_archive(directory: CrawlDirectory, config: CrawlConfig) -> Archive:
    info = {
        "software": config.user_agent,
        "isPartOf": printable(directory.name),
        "operator": config.contact,
        "robots": "obey" if config.robots else "ignore",
    }
    return Archive(
        directory.path,
        info={name: value for name, value in info.items() if value},
        max_file_bytes=config.max_archive_file_bytes,
        max_record_bytes=max_record_bytes(config.max_body_bytes),
    )


def begin_recrawl(directory: CrawlDirectory, config: CrawlConfig) -> bool:
    """Make the last crawl the previous one, and begin with an empty frontier.

    Returns whether the last crawl had finished, that is, had no URLs left.  If it had not,
    or had fetched nothing, and there already is a previous crawl, that one is kept and the
    last one is dropped: the previous one is better to compare with.  The directory must be
    locked.  All of it is one transaction of each frontier.

    Args:
        config: Configuration of the new crawl; its stores are opened before anything is
            changed.

    Raises:
        ConfigError: as in `open_stores`.
    """
    parts = directory.parts()
    begun = [each for each in parts or [directory] if each.frontier_path.exists()]
    make_frontier = PartFrontier if parts else SqliteFrontier
    with contextlib.ExitStack() as opened:
        frontiers: list[SqliteFrontier] = []
        for each in begun:
            if parts:
                opened.enter_context(each)
            stores = opened.enter_context(open_stores(each, config, make_frontier))
            assert isinstance(stores.frontier, SqliteFrontier)
            frontiers.append(stores.frontier)
        is_finished = all(frontier.is_drained() for frontier in frontiers)
        is_better = is_finished and any(f.count(State.DONE) for f in frontiers)
        is_recrawl = any(frontier.is_recrawl for frontier in frontiers)
        if any(frontier.total() for frontier in frontiers):
            loops = _urls_of_loops(frontiers)
            for frontier in frontiers:
                frontier.begin_anew(
                    is_compared=is_better or not is_recrawl, loops=loops
                )
                loops = []  # one frontier has them for all
    return is_finished


def _urls_of_loops(frontiers: Iterable[FrontierReader]) -> list[str]:
    """Return the URLs of redirect loops, which may lead from one part to another."""
    target_by_url: dict[str, str] = {}
    for frontier in frontiers:
        target_by_url |= frontier.redirects()
    loops = Redirects(target_by_url).loop_by_key.values()
    return [url for loop in loops for url in loop]
