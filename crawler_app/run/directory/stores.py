"""Opens the frontier, archive and index of a crawl, and closes them in order."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import State
from crawler_app.base.text.escaping import printable
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.results.redirects import Redirects
from crawler_app.store.archive.gzip_members import max_record_bytes
from crawler_app.store.archive.store import Archive
from crawler_app.store.database import is_created
from crawler_app.store.frontier import Frontier
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
        dedupe_against=config.dedupe_against,
    )


def begin_recrawl(directory: CrawlDirectory, config: CrawlConfig) -> bool:
    """Make the last crawl the previous one, and begin with an empty frontier.

    Returns whether the last crawl had finished, that is, had no URLs left.  If it had not,
    or had fetched nothing, and there already is a previous crawl, that one is kept and the
    last one is dropped: the previous one is better to compare with.  The directory must be
    locked.  All of it is one transaction.

    Args:
        config: Configuration of the new crawl; its stores are opened before anything is
            changed.

    Raises:
        ConfigError: as in `open_stores`.
    """
    if not is_created(directory.frontier_path):
        return True
    with open_stores(directory, config) as stores:
        frontier = stores.frontier
        assert isinstance(frontier, SqliteFrontier)
        is_finished = frontier.is_drained()
        is_better = is_finished and frontier.count(State.DONE) > 0
        if frontier.total():
            loops = Redirects(frontier.redirects()).loop_by_key.values()
            frontier.begin_anew(
                is_compared=is_better or not frontier.previous.exists,
                loops=[url for loop in loops for url in loop],
            )
    return is_finished
