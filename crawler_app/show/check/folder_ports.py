"""Keeps the ports of checked folders, so that a later check serves them at the same URLs.

As the URLs of the files stay the same, the next check fetches only what has changed.
"""

import dataclasses
import json
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path

from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import refusal, replace_text
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.lock import not_writable

__all__ = [
    "adopt_seeds",
    "ports_in",
    "require_no_folders",
    "save_ports",
    "saved_ports",
]

PORTS_NAME = "folders.json"


def ports_in(directory: Path, folders: Collection[str]) -> dict[str, int]:
    """Return the port of each folder; empty if nothing was checked into the directory yet.

    Raises:
        ConfigError: it holds a crawl of something else, or the file cannot be read.
    """
    if not CrawlDirectory.holds_crawl(directory):
        return {}
    ports = saved_ports(directory)
    if set(ports) != set(folders):
        held = " ".join(ports) or "something else"
        raise ConfigError(
            f"{directory} holds a check of {held}; choose another directory"
        )
    return ports


def saved_ports(directory: Path) -> dict[str, int]:
    """Return the port of each folder that was checked into a directory; empty if none was.

    Raises:
        ConfigError: the file cannot be read.
    """
    path = directory / PORTS_NAME
    try:
        if reason := refusal(path):  # the directory may come from another person
            raise ValueError(f"it is {reason}")
        saved = json.loads(path.read_text(encoding="utf-8"))
        return {str(folder): int(port) for folder, port in saved.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as exc:
        raise ConfigError(f"cannot read {path}: {exc}") from None


def require_no_folders(directory: Path) -> None:
    """Refuse to resume a crawl of folders, which are served by a check only.

    Raises:
        ConfigError: the directory holds a check of folders.
    """
    if folders := saved_ports(directory):
        again = shlex.join(["gencrawl", "check", *folders, "--into", str(directory)])
        raise ConfigError(
            f"{directory} holds a check of files, which are served only while it runs; "
            f"check them again, which reads only what has changed:\n  {again}"
        )


def save_ports(directory: Path, port_by_folder: Mapping[str, int]) -> None:
    """Write the ports, before the crawl writes anything.

    Raises:
        ConfigError: the directory is not writable.
        StorageError: the disk is full, or has failed.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        replace_text(directory / PORTS_NAME, json.dumps(dict(port_by_folder)))
    except OSError as exc:
        raise not_writable(directory, exc) from None


def adopt_seeds(directory: Path, seeds: tuple[str, ...]) -> None:
    """Replace the seeds of the crawl in a directory by the current files.

    Raises:
        ConfigError: it is being crawled into, or not writable.
    """
    with CrawlDirectory.open(directory) as held:
        held.save(dataclasses.replace(held.config(), seeds=seeds))
