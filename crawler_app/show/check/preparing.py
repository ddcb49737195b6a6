"""What a check needs that is not an option of its own: defaults, and a place for pages."""

import contextlib
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from crawler_app.base.config import OWN
from crawler_app.show.check.check_config import CHECK_OPTIONS, CheckConfig
from crawler_app.show.findings.kinds import FindingKind

__all__ = ["split_values", "with_archive"]


def split_values(given: Mapping[str, Any]) -> tuple[dict[str, Any], CheckConfig]:
    """Return the options of the crawl, with the defaults of a check, and those of the check.

    Without a directory there is no archive and no index.
    """
    names = {option.name for option in CHECK_OPTIONS}
    checked = CheckConfig(**{name: given[name] for name in names & given.keys()})
    values = {name: given[name] for name in given if name not in names}
    values = {"external": True, "assets": OWN} | values
    if not values.get("into"):
        values |= {"archive": False, "index": False}
    return values, checked


@contextlib.contextmanager
def with_archive(
    values: Mapping[str, Any], kinds: Collection[FindingKind]
) -> Iterator[dict[str, Any]]:
    """Yield the options of a crawl that archives its pages if they are read again."""
    if values.get("into") or {FindingKind.PAGE, FindingKind.NOTICE}.isdisjoint(kinds):
        yield dict(values)
        return
    with tempfile.TemporaryDirectory(prefix="gencrawl-check-") as scratch:
        yield dict(values, into=str(Path(scratch, "crawl")), archive=True)
