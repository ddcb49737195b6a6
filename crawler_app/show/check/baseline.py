"""The file of known findings: a baseline, or the memory of a check's directory."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from crawler_app.base.errors import ConfigError

__all__ = ["Baseline", "write_baseline"]

FORMAT = "gencrawl baseline 1"

# The parts of a key; when the finding was first seen follows.
KEY_PARTS = 5


class Baseline:
    """The known findings of a file; a finding that is in it once is known once.

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
                *key, since = [*map(str, row), ""][: KEY_PARTS + 1]
                self._sinces_by_key[tuple(key)].append(since)
        except OSError as exc:
            raise ConfigError(f"cannot read {path}: {exc.strerror}") from None
        except (ValueError, TypeError, LookupError) as exc:
            raise ConfigError(f"{path} is not a baseline: {exc}") from None

    def take(self, key: tuple[str, ...]) -> str | None:
        """Take a finding off the list; return since when it is known, or None if it is new.

        The time is empty if the file does not say it.
        """
        sinces = self._sinces_by_key.get(key)
        return sinces.pop(0) if sinces else None

    def left(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the findings that were not taken, each with the time since which it is known."""
        for key, sinces in self._sinces_by_key.items():
            for since in sinces:
                yield key, since


def write_baseline(path: Path, rows: Iterable[tuple[str, ...]]) -> None:
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
