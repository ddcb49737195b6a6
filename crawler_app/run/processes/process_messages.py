"""The messages between the processes of a crawl.  Pure.

The main process sends a `Task`, and then an `Order` now and then.  A worker sends a `Status` now
and then and each `LogLine`, and last `Failed` or `Ended`.
"""

import math
from dataclasses import dataclass, field

from crawler_app.base.errors import (
    ConfigError,
    CrawlerError,
    LoginError,
    ServerError,
    StorageError,
)
from crawler_app.base.models import State
from crawler_app.run.crawl import Failure
from crawler_app.run.crawl.pace import Pace

__all__ = [
    "REPORTED_ERRORS",
    "Ended",
    "Failed",
    "LogLine",
    "Order",
    "Status",
    "Task",
]

# What a process may end with, which another try would not cure.
REPORTED_ERRORS: tuple[type[CrawlerError], ...] = (
    ConfigError,
    LoginError,
    ServerError,
    StorageError,
)


@dataclass(slots=True, frozen=True)
class Task:
    """What a process is to crawl.

    Attributes:
        directory: The directory of the whole crawl, which holds its configuration.
        worker: The number of the worker.
        max_time_s: Time after which it ends, in seconds; None for no limit.
        log_level: Less important log records are not passed on.
    """

    directory: str
    worker: int
    max_time_s: float | None = None
    log_level: int = 0


@dataclass(slots=True, frozen=True)
class Order:
    """What a process is to do from now on; None means no change.

    Attributes:
        ends: Whether to end: fetch nothing more, and close the files.
        is_paused: Whether to start no fetch.
        pace: How fast to crawl; see `crawler_app.run.crawl.pace`.
    """

    ends: bool = False
    is_paused: bool | None = None
    pace: Pace | None = None


@dataclass(slots=True)
class Status:
    """The state of one worker at one moment.

    Attributes:
        count_by_state: The number of URLs of the whole crawl in each state.
        counted_at: When the server has counted them.
        count_by_stat: The counters of this process's run.
        under_way_by_host: Fetches under way.
        under_way: URLs under way, the oldest first, and for how many seconds.
        next_at: When the next URL is due; None if that is unknown.
        failures: The failures since the last status.
        limit_reached: The option whose limit this process has found to be reached.
    """

    count_by_state: dict[State, int] = field(default_factory=dict)
    counted_at: float = -math.inf
    count_by_stat: dict[str, int] = field(default_factory=dict)
    under_way_by_host: dict[str, int] = field(default_factory=dict)
    under_way: list[tuple[str, float]] = field(default_factory=list)
    next_at: float | None = None
    failures: list[Failure] = field(default_factory=list)
    limit_reached: str = ""


@dataclass(slots=True, frozen=True)
class LogLine:
    """A log record of a worker."""

    logger: str
    level: int
    text: str


@dataclass(slots=True, frozen=True)
class Failed:
    """The process ends with one of `REPORTED_ERRORS`."""

    error: CrawlerError


@dataclass(slots=True, frozen=True)
class Ended:
    """The process has closed its files."""
