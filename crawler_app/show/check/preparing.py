"""What a check needs that is not an option of its own: defaults, and a place for pages."""

import contextlib
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from crawler_app.base.config import OWN
from crawler_app.show.check.check_config import (
    CHECK_OPTIONS,
    ONLY_ERRORS,
    ONLY_NEW,
    CheckConfig,
    kinds_in,
    restrictions_in,
)
from crawler_app.show.check.checking import CheckOptions
from crawler_app.show.findings.kinds import FindingKind

__all__ = ["check_options", "split_values", "with_archive"]


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


def check_options(
    checked: CheckConfig, *, writes_baseline: bool = False
) -> CheckOptions:
    """Return what a check does with its findings."""
    restrictions = restrictions_in(checked.fail_on)
    return CheckOptions(
        kinds_in(checked.fail_on),
        ONLY_ERRORS in restrictions,
        ONLY_NEW in restrictions,
        checked.ignore,
        Path(checked.baseline) if checked.baseline else None,
        writes_baseline,
        checked.external_fragments,
        checked.base_url,
        Path(checked.sources) if checked.sources else None,
    )


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
