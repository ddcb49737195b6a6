"""Accepted findings: a check fails only for new ones."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from crawler_app.base.errors import ConfigError

__all__ = ["Baseline", "write_baseline"]

FORMAT = "gencrawl baseline 1"


class Baseline:
    """The accepted findings of a file; a finding that was accepted once counts once.

    Places do not count, so that a page may be edited elsewhere.

    Raises:
        ConfigError: the file cannot be read, or is not a baseline.
    """

    def __init__(self, path: Path) -> None:
        try:
            saved = json.loads(path.read_text(encoding="utf-8"))
            if saved["format"] != FORMAT:
                raise ValueError(f"its format is {saved['format']!r}")
            self._left = Counter(tuple(map(str, key)) for key in saved["findings"])
        except OSError as exc:
            raise ConfigError(f"cannot read {path}: {exc.strerror}") from None
        except (ValueError, TypeError, LookupError) as exc:
            raise ConfigError(f"{path} is not a baseline: {exc}") from None

    def accepts(self, key: tuple[str, ...]) -> bool:
        """Return whether the finding with this key is accepted, and take it off the list."""
        if not self._left[key]:
            return False
        self._left[key] -= 1
        return True

    @property
    def fixed(self) -> int:
        """Accepted findings that were not found again."""
        return self._left.total()


def write_baseline(path: Path, keys: Iterable[tuple[str, ...]]) -> None:
    """Write the keys of the accepted findings.

    Raises:
        ConfigError: the file cannot be written.
    """
    text = json.dumps(
        {"format": FORMAT, "findings": sorted(keys)}, indent=1, ensure_ascii=False
    )
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as exc:
        raise ConfigError(f"cannot write {path}: {exc.strerror}") from None
