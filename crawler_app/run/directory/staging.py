"""The staging directory of a worker: holds what it fetches until it is in object storage.

It is a crawl directory with one more file, which holds the storage URL.  It is found again by the
same ``--into``, so that a worker that was killed continues with it.
"""

import contextlib
import dataclasses
import hashlib
from pathlib import Path

from crawler_app.base.config import CrawlConfig
from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import open_regular, replace_text
from crawler_app.base.storage.objects import is_url, require_url
from crawler_app.base.storage.tables import cache_home
from crawler_app.run.directory import CrawlDirectory
from crawler_app.run.directory.lock import not_writable

__all__ = ["staged", "storage_url"]

# Holds the URL of the object storage.
STORAGE_NAME = "storage.url"

# More than any URL of object storage has; the file may come from another person.
MAX_URL_CHARS = 2000


def staged(config: CrawlConfig) -> CrawlConfig:
    """Return a configuration with a directory; one with a URL gets a staging directory.

    Raises:
        ConfigError: the directory cannot be used.
    """
    if not is_url(config.into):
        if config.staging:
            raise ConfigError(
                "--staging has no effect without object storage; leave it out, or give its "
                "URL with --into"
            )
        return config
    url = config.into.rstrip("/")
    path = Path(config.staging) if config.staging else _default_path(config, url)
    known = storage_url(path)
    if known != url and (known or CrawlDirectory.holds_crawl(path)):
        raise ConfigError(
            f"{path} holds a crawl into {known or 'a directory'}; choose another "
            "directory with --staging"
        )
    if not known:
        _make(path, url)
    return dataclasses.replace(config, into=str(path), staging="")


def _default_path(config: CrawlConfig, url: str) -> Path:
    key = f"{url}\n{config.frontier}\n{config.crawl_name}"
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return cache_home() / "staging" / f"{config.crawl_name}-{digest}"


def _make(path: Path, url: str) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        replace_text(path / STORAGE_NAME, f"{url}\n")
    except OSError as exc:
        raise not_writable(path, exc) from None


def storage_url(path: Path | str) -> str:
    """Return the storage URL of a staging directory; empty for any other directory.

    Raises:
        ConfigError: the URL in it cannot be used.
    """
    url = ""
    with (
        contextlib.suppress(OSError),
        open(Path(path, STORAGE_NAME), encoding="utf-8", opener=open_regular) as file,
    ):
        url = file.readline(MAX_URL_CHARS).strip()
    require_url(url)
    return url
