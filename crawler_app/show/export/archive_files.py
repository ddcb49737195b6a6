"""Exports the archive: as a WACZ file, or its index as CDXJ."""

import contextlib
import logging
from pathlib import Path
from typing import BinaryIO, TextIO

from crawler_app.base.config import PUBLIC_HEADERS, CrawlConfig
from crawler_app.base.progress import OnStep
from crawler_app.base.urls import dedup_key
from crawler_app.run.directory.stored import StoredCrawl
from crawler_app.run.results.summary import is_page
from crawler_app.store.archive.cdxj import write_cdxj
from crawler_app.store.archive.secrets import SECRET_HEADERS
from crawler_app.store.archive.wacz import write_wacz

logger = logging.getLogger(__name__)

__all__ = ["write_archive", "write_index"]


def write_index(crawl: StoredCrawl, output: TextIO, on_step: OnStep) -> None:
    """Write the index of the archive as CDXJ, sorted by URL."""
    directory, parts = _archive(crawl)
    write_cdxj(directory, output, on_step=on_step, parts=parts)


def write_archive(
    crawl: StoredCrawl,
    output: BinaryIO,
    on_step: OnStep,
    *,
    with_secrets: bool = False,
) -> None:
    """Write the archive as WACZ, with a list of its pages.

    Args:
        with_secrets: Whether to keep the headers with passwords and cookies, which are
            otherwise left out, with a message.
    """
    config = crawl.config()
    directory, parts = _archive(crawl)
    with contextlib.closing(crawl.frontier()) as frontier:

        def title_of(url: str) -> str | None:
            record = frontier.find(dedup_key(url))
            outcome = None if record is None else record.outcome
            return outcome.title if outcome is not None and is_page(outcome) else None

        removed = write_wacz(
            directory,
            output,
            title_of=title_of,
            software=config.user_agent,
            on_step=on_step,
            parts=parts,
            secret_headers=() if with_secrets else _secret_headers(config),
            requires=Path(config.dedupe_against).name,
        )
    if removed:
        names = ", ".join(f"{count:,} {name}" for name, count in removed.items())
        logger.warning(
            "Left out headers that may be secret: %s; --with-secrets keeps them.", names
        )


def _secret_headers(config: CrawlConfig) -> list[str]:
    """Return the names of the headers not to share, the user's own included."""
    own = (name for name, _ in config.header_fields)
    secret = (name for name in own if name.lower() not in PUBLIC_HEADERS)
    return [*SECRET_HEADERS, *secret]


def _archive(crawl: StoredCrawl) -> tuple[Path, list[Path]]:
    """Return the directory of the archive, and its parts; empty if it has only one."""
    paths = crawl.archives()
    return (paths[0], []) if len(paths) == 1 else (crawl.path, paths)
