"""The messages between the processes of a crawl.  Pure.

A frame is its kind, the number of a part, its length and its payload.  Links are passed on as
they are: only the process that finds them and the one that owns them read the JSON.

From the main process::

    BEGIN    the task of the process
    LINKS    links found by another part
    TAKEN    another part has committed the oldest batch that was sent to it
    ORDER    an `Order`

To the main process::

    LINKS    links to hosts of another part
    TAKEN    the oldest batch that was received is committed
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

from crawler_app.base.models import State
from crawler_app.run.crawl.pace import Pace

__all__ = ["HEAD", "Frame", "MessageType", "Order", "Status", "Task"]

# MessageType, part, and bytes of the payload.
HEAD = struct.Struct("!BHI")


class MessageType(IntEnum):
    """The kind of a frame."""

    BEGIN = 1
    LINKS = 2
    TAKEN = 3
    ORDER = 4
    STATUS = 5
    LOG = 6
    FAILED = 7
    ENDED = 8


@dataclass(slots=True, frozen=True)
class Frame:
    """One message.

    Attributes:
        part: The part that links come from or go to; 0 if that does not matter.
    """

    kind: MessageType
    payload: bytes = b""
    part: int = 0

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
        return HEAD.pack(self.kind, self.part, len(self.payload)) + self.payload


@dataclass(slots=True, frozen=True)
class Task:
    """What a process is to crawl.

    Attributes:
        directory: The directory of the whole crawl, which holds its configuration.
        part: The number of the part.
        retried_reasons: Failures with these reasons are retried.
        log_level: Less important log records are not passed on.
    """

    directory: str
    part: int
    retried_reasons: list[str] = field(default_factory=list)
    log_level: int = 0


@dataclass(slots=True, frozen=True)
class Order:
    """What a process is to do from now on; None means no change.

    Attributes:
        number: The number of the order; each process counts its own.
        ends: Whether to end: fetch nothing more, and close the files.
        is_whole: Whether it ends because no process has anything left to fetch.
        is_paused: Whether to start no fetch.
        quota: How many pages may have been fetched, or may be under way.
        recalls_quota: Whether to use no more of the quota than is used already.
        level: No deeper URL is to be fetched.
        pace: How fast to crawl; see `crawler_app.run.crawl.pace`.
    """

    number: int = 0
    ends: bool = False
    is_whole: bool = False
    is_paused: bool | None = None
    quota: int | None = None
    recalls_quota: bool = False
    level: int | None = None
    pace: Pace | None = None


@dataclass(slots=True)
class Status:
    """The state of one part at one moment.

    Attributes:
        obeyed: The number of the last order that was obeyed.
        received: The batches of links received by this process so far.
        has_work: Whether URLs, or links to other parts, are left.
        has_outgoing: Whether links to other parts are.
        depth: The minimum depth of the URLs that are left; None if there is none.
        quota: The quota that was given, or what is left of it after it was recalled.
        is_starved: Whether only the quota keeps a page from being fetched now.
        count_by_state: The number of URLs in each state.
        non_pages_by_state: How many of them are assets or external URLs, which have no quota.
        count_by_stat: The counters of this process's run.
        under_way_by_host: Fetches under way.
        under_way: URLs under way, the oldest first, and for how many seconds.
        next_at: When the next URL is due; None if that is unknown.
        failures: The failures since the last status: time, URL, reason and error.
        limit_reached: The option whose limit this process has found to be reached.
    """

    obeyed: int = 0
    received: int = 0
    has_work: bool = True
    has_outgoing: bool = False
    depth: int | None = None
    quota: int | None = None
    is_starved: bool = False
    count_by_state: dict[str, int] = field(default_factory=dict)
    non_pages_by_state: dict[str, int] = field(default_factory=dict)
    count_by_stat: dict[str, int] = field(default_factory=dict)
    under_way_by_host: dict[str, int] = field(default_factory=dict)
    under_way: list[tuple[str, float]] = field(default_factory=list)
    next_at: float | None = None
    failures: list[tuple[float, str, str, str]] = field(default_factory=list)
    limit_reached: str = ""

    @property
    def begun(self) -> int:
        """Pages that were fetched in any run, or are under way."""
        begun = (State.DONE, State.FAILED, State.CLAIMED)
        urls, non_pages = self.count_by_state, self.non_pages_by_state
        return sum(urls.get(state, 0) - non_pages.get(state, 0) for state in begun)

    @property
    def queued(self) -> int:
        """URLs that are still to be fetched."""
        return self.count_by_state.get(State.QUEUED, 0)

    @property
    def has_non_pages(self) -> bool:
        """Whether assets or external URLs are left; links to other parts may be some."""
        return self.has_outgoing or self.non_pages_by_state.get(State.QUEUED, 0) > 0

    @property
    def claimed(self) -> int:
        """URLs under way."""
        return self.count_by_state.get(State.CLAIMED, 0)
