"""The pace of a crawl, which can be changed while it runs.

Pure.  Rule: a change is checked as the options are, and is complete or refused.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from crawler_app.base.config import CrawlConfig
from crawler_app.base.config.option import options_of
from crawler_app.base.errors import ConfigError

__all__ = ["Pace", "pace_of", "read_pace", "with_pace"]

# The values of the options of `NAMES`, by their keys, such as "host-gap"; None for the default.
Pace = Mapping[str, int | float | None]

NAMES = ("concurrency", "per_host", "host_gap_s")

OPTION_BY_KEY = {
    option.key: option for option in options_of(CrawlConfig) if option.name in NAMES
}

# The number of threads, or of handles of libcurl, is that of the start.
FIXED_CLIENTS = ("curl", "requests")


def pace_of(config: CrawlConfig) -> Pace:
    """Return the pace that a configuration asks for.

    >>> pace_of(CrawlConfig(("http://a.test/",), host_gap_s=0.5))
    {'concurrency': 10, 'per-host': None, 'host-gap': 0.5}
    """
    return {key: getattr(config, o.name) for key, o in OPTION_BY_KEY.items()}


def read_pace(text_by_key: Mapping[str, str]) -> Pace:
    """Return values that were sent as text; an empty one is the default.

    Raises:
        ConfigError: a key is unknown, or a value is not a number.

    >>> read_pace({"concurrency": "20", "per-host": "", "host-gap": "250ms"})
    {'concurrency': 20, 'per-host': None, 'host-gap': 0.25}
    """
    pace: dict[str, int | float | None] = {}
    for key, text in text_by_key.items():
        if key not in OPTION_BY_KEY:
            raise ConfigError(
                f"the pace has no {key!r}; it has {', '.join(OPTION_BY_KEY)}"
            )
        option = OPTION_BY_KEY[key]
        pace[key] = option.parse(text, key) if text.strip() else option.default
    return pace


def with_pace(config: CrawlConfig, pace: Pace, first: CrawlConfig) -> CrawlConfig:
    """Return a configuration with another pace.

    Args:
        first: The configuration at the start of the run.

    Raises:
        ConfigError: a value is not allowed.
    """
    changes: dict[str, Any] = {}
    for key, value in pace.items():
        option = OPTION_BY_KEY[key]
        option.check(value, key)
        changes[option.name] = value
    changed = dataclasses.replace(config, **changes)
    if changed.client in FIXED_CLIENTS and changed.concurrency > first.concurrency:
        raise ConfigError(
            f"concurrency is {changed.concurrency}; the client {changed.client!r} was "
            f"started for {first.concurrency}, and cannot make more fetches at a time"
        )
    return changed
