"""Read access to a stored crawl, in one directory or many."""

import abc
import contextlib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.models import State, UrlRecord
from crawler_app.base.progress import OnStep, in_steps, no_step
from crawler_app.run.directory.union import UnionIndex
from crawler_app.store.archive.captures import Capture
from crawler_app.store.archive.totals import ArchiveSummary
from crawler_app.store.frontier import FrontierReader
from crawler_app.store.index import PageIndex

if TYPE_CHECKING:
    from crawler_app.run.directory import CrawlDirectory
    from crawler_app.run.directory.archived import Responses

__all__ = ["CrawlSizes", "StoredCrawl", "resume_command"]


@dataclass(slots=True, frozen=True)
class CrawlSizes:
    """The sizes of a crawl's archive and index.

    Attributes:
        archive: The size of the archive.
        pages: Pages in the index; None if there is no index.
    """

    archive: ArchiveSummary
    pages: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the sizes as plain values, for ``status --json``."""
        return {
            "archive": {
                "captures": self.archive.captures,
                "revisits": self.archive.revisits,
                "files": self.archive.files,
                "bytes": self.archive.size_bytes,
            },
            "indexed_pages": self.pages,
        }


class StoredCrawl(abc.ABC):
    """A crawl, for reading, also while it runs.

    Attributes:
        path: The directory for what is made from it, such as a report.
    """

    path: Path

    @abc.abstractmethod
    def config(self) -> CrawlConfig:
        """Return the saved configuration.

        Raises:
            ConfigError: it is damaged, or cannot be read.
        """

    @abc.abstractmethod
    def frontier(self) -> FrontierReader:
        """Open the frontier for reading.

        Raises:
            ConfigError: the crawl has not begun, or its frontier cannot be opened.
        """

    @abc.abstractmethod
    def directories(self) -> "Sequence[CrawlDirectory]":
        """Return the directories that have a part of the archive and of the index each."""

    @abc.abstractmethod
    def crawlers(self) -> list[str]:
        """Return what is crawling now, such as "process 4711"; empty if nothing is."""

    def owner(self) -> int | None:
        """Return the id of the only process that crawls; None if there is none."""
        return None

    @abc.abstractmethod
    def how_to_continue(self, *, with_more_pages: bool = False) -> str:
        """Return the command that continues it.

        Args:
            with_more_pages: Whether it has reached ``--max-pages``, which is to be raised.
        """

    def state(self) -> str:
        """Return a text that changes when the crawl does, at little cost."""
        with contextlib.closing(self.frontier()) as frontier:
            counts = [frontier.count(state) for state in State]
            outcomes = sorted(map(repr, frontier.outcome_counts().items()))
            # A crawl that began anew may have ended with the same counts.
            times = repr(frontier.slowest())
        return "\n".join([str(counts), *outcomes, times, repr(self.kept())])

    def index(self) -> UnionIndex:
        """Open the full-text index for searching.

        Raises:
            SearchIndexError: there is none.
        """
        everywhere = self.directories()
        with contextlib.ExitStack() as cleanup:
            opened: list[PageIndex] = []
            for each in [d for d in everywhere if d.has_index()] or everywhere:
                opened.append(each.own_index())
                cleanup.callback(opened[-1].close)
            cleanup.pop_all()
        return UnionIndex(opened)

    def kept(self) -> CrawlSizes:
        """Return the size of the archive and of the index, also during a crawl."""
        kept = [each.own_kept() for each in self.directories()]
        pages = [each.pages for each in kept if each.pages is not None]
        totals = zip(*(each.archive for each in kept), strict=True)
        return CrawlSizes(
            ArchiveSummary(*map(sum, totals)), sum(pages) if pages else None
        )

    def archives(self) -> "list[Path]":
        """Return the directories that have a part of the archive."""
        return [d.archive_path() for d in self.directories() if d.has_archive()]

    def responses(
        self, max_body_bytes: int
    ) -> "contextlib.AbstractContextManager[Responses | None]":
        """Open the archived responses, for reading; None if there is no archive.

        Args:
            max_body_bytes: Larger bodies, after decompression, are not read.

        Raises:
            ArchiveError: the table of an archive cannot be read.
        """
        # Reading responses takes modules that ``status`` does not need.
        from crawler_app.run.directory.archived import open_archives  # noqa: PLC0415

        return open_archives(self.archives(), max_body_bytes)

    def records(self, step: str, on_step: OnStep) -> Iterator[UrlRecord]:
        """Yield the records of all URLs, in the order in which they were found.

        Args:
            step: What the progress callback calls it.
        """
        with contextlib.closing(self.frontier()) as frontier:
            yield from in_steps(step, frontier.records(), on_step, frontier.total())

    def captures(self, on_step: OnStep = no_step) -> Iterator[tuple[str, Capture]]:
        """Yield all captures, each with the name of the file that has it."""
        from crawler_app.run.directory.archived import captures_in  # noqa: PLC0415

        return captures_in(self.archives(), on_step)


def resume_command(path: Path | str, *, with_more_pages: bool) -> str:
    """Return the command that continues the crawl in a directory.

    >>> resume_command("my docs", with_more_pages=True)
    "gencrawl resume 'my docs' --max-pages N"
    """
    option = " --max-pages N" if with_more_pages else ""
    return f"gencrawl resume {shlex.quote(str(path))}{option}"
