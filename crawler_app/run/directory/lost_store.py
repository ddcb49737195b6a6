"""Requeues the URLs whose archived responses were lost with a machine or disk.

Rule: what is still in the store is not fetched again.  A lost machine loses only what it had not
uploaded, so the last snapshot in object storage says what is left; of a directory that cannot be
read, nothing is left.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crawler_app.base.errors import ConfigError
from crawler_app.base.models import UrlRecord
from crawler_app.base.progress import OnStep, in_steps, no_step
from crawler_app.base.storage.objects import is_url
from crawler_app.base.storage.tables import Cache, StoredTables
from crawler_app.base.text.escaping import printable
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.losses import has_response
from crawler_app.run.directory.remote import RemoteDirectory
from crawler_app.run.results.summary import is_page
from crawler_app.store.archive.captures import Captures, table_errors
from crawler_app.store.frontier.postgres.blocking_reader import PostgresReader
from crawler_app.store.frontier.postgres.location import CrawlLocation, StoreLocation
from crawler_app.store.index import PageIndex

__all__ = ["LostStoreResult", "forget_lost"]

# The largest difference expected between the clocks of a worker and of the server.  The index
# has the text of each page that ended earlier, unless the page asks not to be indexed.
CLOCKS_S = 600.0


class LostStoreResult(NamedTuple):
    """The result of `forget_lost`.

    Attributes:
        store: The store.
        urls: How many URLs are fetched again.
        is_gone: Whether the store has nothing, and is no longer listed.
    """

    store: StoreLocation
    urls: int
    is_gone: bool


def forget_lost(
    location: CrawlLocation, which: str, cache: Cache, on_step: OnStep = no_step
) -> LostStoreResult:
    """Queue the URLs again whose responses are no longer in a store.

    Args:
        which: The UUID of the store, or its location.
        on_step: Progress callback.

    Raises:
        ConfigError: there is no such store, or a worker writes to it.
        FrontierError, StorageError: its contents cannot be determined; nothing is changed.
    """
    with contextlib.closing(PostgresReader(location)) as reader:
        store = _chosen(reader.members().stores, which, location)
        if workers := reader.workers_of(store):
            raise ConfigError(
                f"{workers[0]} is at work, and keeps what it fetches there"
            )
        with _opened(store, cache, on_step) as kept:
            records = in_steps("reading URLs", reader.store_records(store), on_step)
            lost = {
                record.url
                for record in records
                if has_response(record) and not (kept and kept.has(record))
            }
        urls = reader.requeue_urls(lost)
        if kept is None:
            reader.unlist(store)
    return LostStoreResult(store, urls, kept is None)


def _chosen(
    stores: list[StoreLocation], which: str, location: CrawlLocation
) -> StoreLocation:
    found = [each for each in stores if which in (each.key, each.location)]
    if len(found) == 1:
        return found[0]
    listed = "\n".join(
        f"  {each.key}  {printable(each.location)} on {printable(each.machine)}"
        for each in found or stores
    )
    why = f"several stores of {location} are" if found else f"no store of {location} is"
    raise ConfigError(f"{why} {which}; give the UUID of one with --store:\n{listed}")


@dataclass(slots=True, frozen=True)
class _KeptResponses:
    """The responses and texts that a store still has.

    Attributes:
        index: None if there is none.
        at: When it was copied; infinity if it is the original.
    """

    captures: Captures
    index: PageIndex | None
    at: float

    def has(self, record: UrlRecord) -> bool:
        """Return whether the response of a URL is there, and its text."""
        if not self.captures.holds(record.url):
            return False
        outcome, index = record.outcome, self.index
        if index is None or outcome is None or not is_page(outcome):
            return True
        ended_at = record.finished_at or 0.0
        return ended_at < self.at - CLOCKS_S or index.holds(record.url)


@contextlib.contextmanager
def _opened(
    store: StoreLocation, cache: Cache, on_step: OnStep
) -> Iterator[_KeptResponses | None]:
    """Open what is left of a store; None if nothing is."""
    directory, at = _directory_of(store, cache, on_step)
    if directory is None or not directory.has_archive():
        yield None
        return
    with contextlib.ExitStack() as cleanup:
        path = directory.archive_path()
        cleanup.enter_context(table_errors(path))
        captures = Captures(path, read_only=True)
        cleanup.callback(captures.close)
        index = directory.own_index() if directory.has_index() else None
        if index is not None:
            cleanup.callback(index.close)
        yield _KeptResponses(captures, index, at)


def _directory_of(
    store: StoreLocation, cache: Cache, on_step: OnStep
) -> tuple[CrawlDirectory | None, float]:
    if is_url(store.location):
        tables = StoredTables.find(store.location, cache, on_step)
        if tables is None:
            return None, 0.0
        return RemoteDirectory(tables), tables.catalogue.at
    directory = CrawlDirectory(Path(store.location))
    return (directory if directory.store_key() == store.key else None), math.inf
