"""Compares the findings of a check with those known before: new, still there, or fixed.

The baseline says what is known, or without one the last check into the same directory.
"""

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from crawler_app.base.errors import ConfigError
from crawler_app.base.safe_files import refusal
from crawler_app.show.findings.finding import Change, Finding
from crawler_app.show.findings.kinds import FindingKind

__all__ = ["Comparison", "Coverage", "Key", "Targets"]

FORMAT = "gencrawl baseline 1"

# The parts of a key; when the finding was first seen follows.
KEY_PARTS = 5

# The file in the directory of a crawl with the findings of the last check.
LAST_NAME = "check.json"

# A page with such a status is gone, and what was wrong with it, too.
GONE = (404, 410)

# A page that such a finding leads to could not be read.
DEAD = (FindingKind.BROKEN, FindingKind.EXTERNAL)

Key = tuple[str, ...]


class _Known:
    """The known findings of a file, a baseline or the memory of a directory; a finding that is in it once is known once.

    Places do not count, so that a page may be edited elsewhere.

    Raises:
        ConfigError: the file cannot be read, or is not a baseline.
    """

    def __init__(self, path: Path) -> None:
        self._sinces_by_key: dict[tuple[str, ...], list[str]] = defaultdict(list)
        try:
            saved = json.loads(path.read_text(encoding="utf-8"))
            if saved["format"] != FORMAT:
                raise ValueError(f"its format is {saved['format']!r}")
            for row in saved["findings"]:
                *key, since = map(str, row)
                if len(key) != KEY_PARTS:
                    raise ValueError("a finding has another length")
                self._sinces_by_key[tuple(key)].append(since)
        except OSError as exc:
            raise ConfigError(f"cannot read {path}: {exc.strerror}") from None
        except (ValueError, TypeError, LookupError) as exc:
            raise ConfigError(
                f"{path} is not a baseline ({exc}); --baseline writes one to a new file"
            ) from None

    def take(self, key: tuple[str, ...]) -> str | None:
        """Take a finding off the list; return since when it is known, or None if it is new."""
        sinces = self._sinces_by_key.get(key)
        return sinces.pop(0) if sinces else None

    def left(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the findings that were not taken, each with the time since which it is known."""
        for key, sinces in self._sinces_by_key.items():
            for since in sinces:
                yield key, since


class Targets(Protocol):
    """What a check knows of the targets of references."""

    def is_undecided(self, target: str) -> bool:
        """Return whether the target has not told whether it works."""

    def is_there(self, url: str) -> bool:
        """Return whether the target works."""


class Coverage:
    """Tells which of the findings that were known, and not found again, are fixed.

    What a check did not get to see may be as it was.

    Args:
        found: The findings of the check.
        is_complete: Whether it has seen the whole site.
        unseen_kinds: The kinds that it did not look for.
        key_of: Returns what identifies a finding in later checks.
    """

    def __init__(
        self,
        found: Iterable[Finding],
        targets: Targets,
        *,
        is_complete: bool,
        unseen_kinds: Collection[FindingKind],
        key_of: Callable[[Finding], Key],
    ) -> None:
        self._targets = targets
        self._is_complete = is_complete
        self._unseen_kinds = unseen_kinds
        self._unread = {
            key_of(each)[3]
            for each in found
            if each.kind in DEAD and each.status not in GONE
        }

    def is_fixed(self, key: Key) -> bool:
        """Return whether a known finding that was not found again is certainly gone."""
        kind, page, _, target, _ = key
        if kind in self._unseen_kinds or self._targets.is_undecided(target):
            return False
        if page and kind in DEAD and self._targets.is_there(target):
            return True
        return self._is_complete and page not in self._unread


class Comparison:
    """The known findings beside those of a check.

    Args:
        baseline: The file of accepted findings; None for none.
        into: The directory of the check; empty for none.
        only_new: Whether known findings are accepted, as a baseline always has it.
        now: The time of the check, for findings that are new.
        key_of: Returns what identifies a finding in later checks.

    Raises:
        ConfigError: a file cannot be used, or `only_new` has nothing to compare with.
    """

    def __init__(
        self,
        baseline: Path | None,
        into: str,
        *,
        only_new: bool,
        now: str,
        key_of: Callable[[Finding], Key],
    ) -> None:
        self._last_path = Path(into, LAST_NAME) if into else None
        if only_new and not (baseline or into):
            raise ConfigError("--fail-on new needs --baseline FILE or --into DIR")
        if self._last_path and (reason := refusal(self._last_path)):
            # The directory may come from another person.
            raise ConfigError(f"{self._last_path} is {reason}; remove it")
        self._only_new = only_new or baseline is not None
        self._now = now
        self._key_of = key_of
        paths = [path for path in (baseline, self._last_path) if path]
        opened = [_Known(path) if path.exists() else None for path in paths]
        self._known = opened[0] if opened else None
        self._opened = [each for each in opened if each]
        has_first = self._known is not None
        self.compared_with = ("baseline" if baseline else "last check") * has_first

    @property
    def accepts_all(self) -> bool:
        """Whether this check is the first, whose findings are accepted from now on."""
        return self._only_new and self._known is None

    def mark(self, finding: Finding) -> Finding:
        """Return the finding with what is known of it."""
        key = self._key_of(finding)
        sinces = [known.take(key) for known in self._opened]
        since = next(filter(None, sinces), self._now)
        if self._known is None:
            return dataclasses.replace(finding, since=since)
        if sinces[0] is None:
            return dataclasses.replace(finding, change=Change.NEW, since=since)
        return dataclasses.replace(
            finding, change=Change.STILL, since=since, is_accepted=self._only_new
        )

    def fixed(self, coverage: Coverage) -> list[Finding]:
        """Take the known findings that are no longer there off the list, and return them."""
        if self._known is None:
            return []
        rows = [row for row in self._known.left() if coverage.is_fixed(row[0])]
        for key, _ in rows:
            for known in self._opened:
                known.take(key)
        return [_fixed(key, since) for key, since in rows]

    def save(self, found: Iterable[Finding], baseline: Path | None) -> None:
        """Write the findings to the directory, and to a baseline.

        Those that were neither found nor fixed are kept.
        """
        rows = [(*self._key_of(each), each.since) for each in found]
        rows += [(*key, since) for key, since in self._left()]
        for path in filter(None, (baseline, self._last_path)):
            _write(path, rows)

    def _left(self) -> Iterable[tuple[Key, str]]:
        return self._known.left() if self._known else ()


def _fixed(key: Key, since: str) -> Finding:
    kind, page, href, target, reason = key
    return Finding(
        FindingKind(kind),
        page,
        href=href,
        target=target,
        reason=reason,
        meaning="fixed",
        change=Change.FIXED,
        since=since,
    )


def _write(path: Path, rows: Iterable[tuple[str, ...]]) -> None:
    """Write the keys of known findings, each followed by the time when it was first seen.

    Raises:
        ConfigError: the file cannot be written.
    """
    text = json.dumps(
        {"format": FORMAT, "findings": sorted(rows)}, indent=1, ensure_ascii=False
    )
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as exc:
        raise ConfigError(f"cannot write {path}: {exc.strerror}") from None
