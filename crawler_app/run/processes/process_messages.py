"""The messages between the processes of a crawl.  Pure.

A frame is its kind, its length and its payload, which is JSON.

From the main process::

    BEGIN    the task of the process
    ORDER    an `Order`

To the main process::

    STATUS   a `Status`
    LOG      a log record
    FAILED   the process ends with an error that another try would not cure
    ENDED    the process has closed its files
"""

import dataclasses
import json
import struct
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Self

from crawler_app.base.errors import (
    ConfigError,
    CrawlerError,
    LoginError,
    ServerAwayError,
    ServerError,
    StorageError,
)
from crawler_app.base.models import State
from crawler_app.run.crawl.pace import Pace

__all__ = [
    "HEAD",
    "REPORTED_ERRORS",
    "Frame",
    "MessageType",
    "Order",
    "Status",
    "Task",
]

# What a process may end with; each before its base.
REPORTED_ERRORS: tuple[type[CrawlerError], ...] = (
    ServerAwayError,
    ConfigError,
    LoginError,
    ServerError,
    StorageError,
)

# MessageType, and bytes of the payload.
HEAD = struct.Struct("!BI")


class MessageType(IntEnum):
    """The kind of a frame."""

    BEGIN = 1
    ORDER = 2
    STATUS = 3
    LOG = 4
    FAILED = 5
    ENDED = 6


@dataclass(slots=True, frozen=True)
class Frame:
    """One message."""

    kind: MessageType
    payload: bytes = b""

    @classmethod
    def of(cls, kind: MessageType, value: "Task | Order | Status | list[Any]") -> Self:
        """Return a frame with a value as JSON."""
        plain = value if isinstance(value, list) else dataclasses.asdict(value)
        return cls(kind, json.dumps(plain, separators=(",", ":")).encode())

    def value(self) -> Any:
        """Return the value of a frame that `of` made."""
        return json.loads(self.payload)

    def encode(self) -> bytes:
        """Return the bytes of the frame."""
        return HEAD.pack(self.kind, len(self.payload)) + self.payload


@dataclass(slots=True, frozen=True)
class Task:
    """What a process is to crawl.

    Attributes:
        directory: The directory of the whole crawl, which holds its configuration.
        worker: The number of the worker.
        log_level: Less important log records are not passed on.
    """

    directory: str
    worker: int
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
        count_by_stat: The counters of this process's run.
        under_way_by_host: Fetches under way.
        under_way: URLs under way, the oldest first, and for how many seconds.
        next_at: When the next URL is due; None if that is unknown.
        failures: The failures since the last status: time, URL, reason and error.
        limit_reached: The option whose limit this process has found to be reached.
    """

    count_by_state: dict[str, int] = field(default_factory=dict)
    count_by_stat: dict[str, int] = field(default_factory=dict)
    under_way_by_host: dict[str, int] = field(default_factory=dict)
    under_way: list[tuple[str, float]] = field(default_factory=list)
    next_at: float | None = None
    failures: list[tuple[float, str, str, str]] = field(default_factory=list)
    limit_reached: str = ""

    @property
    def ended(self) -> int:
        """URLs of the whole crawl that have ended."""
        ended = (State.DONE, State.FAILED, State.EXCLUDED)
        return sum(self.count_by_state.get(state, 0) for state in ended)
