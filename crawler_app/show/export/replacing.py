"""Folders that exports write, and what they say of pages that the archive does not have.

Rule: a folder is complete, or it is as it was.  It is written beside its place and then moved
there; only a folder that an export has written is replaced.
"""

import contextlib
import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.text.formatting import number
from crawler_app.run.directory.lock import not_writable
from crawler_app.show.export.file_names import MARKER

__all__ = ["replaced_folder", "warn_of_unread"]

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def replaced_folder(output: Path, about: Mapping[str, object]) -> Iterator[Path]:
    """Yield a new folder that takes the place of another one when it is complete.

    Args:
        about: What its marker says of it, for a reader.

    Raises:
        ConfigError: there is something else, or it cannot be written.
        StorageError: the disk is full, or has failed.
    """
    output = output.absolute()
    _require_replaceable(output)
    new = output.with_name(f".{output.name}.new")
    old = output.with_name(f".{output.name}.old")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        _clear_beside(output, new, old)
        new.mkdir()
        try:
            (new / MARKER).write_text(json.dumps(about, indent=2) + "\n")
            yield new
            if output.exists():
                output.rename(old)
            new.rename(output)
        finally:
            _clear_beside(output, new, old)
    except OSError as exc:
        raise not_writable(output, exc) from None


def _clear_beside(output: Path, new: Path, old: Path) -> None:
    """Delete what an export, or one that was killed, has left beside the folder.

    If the folder was moved away, and no other took its place, it is moved back.
    """
    for left_over in (new, old):
        _require_replaceable(left_over)
    if old.exists() and not output.exists():
        old.rename(output)
    shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _require_replaceable(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ConfigError(f"{folder} is not a directory; choose another --output")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise ConfigError(
            f"{folder} has files that `gencrawl export` did not write; "
            "choose another --output"
        )


def warn_of_unread(count: int, what: str, config: CrawlConfig) -> None:
    """Warn that the archive lacks the content of some pages or files, if it does.

    Args:
        what: In the singular.
    """
    if count:
        other = config.dedupe_against
        cause = f"; {other}, which the crawl refers to, may have it" if other else ""
        logger.warning(
            "the content of %s is missing: the archive does not have it%s",
            number(count, what),
            cause,
        )
