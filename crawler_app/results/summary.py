"""The summary of a crawl: counts and short lists, read from its frontier."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler_app.frontier import Frontier
from crawler_app.http_headers import is_html
from crawler_app.models import Outcome, State, UrlRecord
from crawler_app.progress import OnStep, in_steps, no_step
from crawler_app.reasons import CONTENT, AnyReason, is_broken
from crawler_app.results.ranking import Ranked, Ranking
from crawler_app.results.redirects import Redirects
from crawler_app.urls import dedup_key, host_of

__all__ = [
    "FINISHED",
    "RUNNING",
    "STOPPED",
    "Host",
    "Summary",
    "final_records",
    "is_page",
    "pages_of",
    "state_of",
    "summarize",
]

FINISHED = "finished"
RUNNING = "running"
STOPPED = "stopped"

# Skipped URLs that are listed for each reason.
EXAMPLES = 5


@dataclass(slots=True)
class Host:
    """The counts of one host.

    Attributes:
        urls: URLs fetched or to be fetched.
        broken: Broken URLs, and redirect loops that begin there.
        took_s: Total time of the fetches whose time is known.
        timed: Number of these fetches.
    """

    name: str
    urls: int = 0
    pages: int = 0
    broken: int = 0
    size_bytes: int = 0
    took_s: float = 0.0
    timed: int = 0

    @property
    def mean_s(self) -> float | None:
        """Mean time of a fetch; None if there was none."""
        return self.took_s / self.timed if self.timed else None


@dataclass
class Summary:
    """The counts of a whole crawl, and the lists for a person to look at.

    Memory grows with the lists of failures, redirects and hosts, and by a number of eight
    bytes for each page, by which duplicates are found.

    Attributes:
        count_by_state: Number of URLs in each state.
        count_by_reason: Number of URLs by reason, for each state.
        count_by_status: Number of responses by HTTP status.
        pages: HTML pages.
        files: Anything else that was fetched and is not a redirect.
        size_bytes: Total size of the bodies, after decompression.
        pages_by_depth: Number of HTML pages by depth.
        redirects: The redirects, with their chains and loops.
        failures: Every URL that failed.
        examples_by_reason: Some of the skipped URLs, by reason.
        host_by_name: The hosts that were or will be fetched from.
        repeated_digests: Digests of the pages that exist more than once.
        first_at: When the first URL was finished, in seconds since the epoch, or None.
        last_at: When the last URL was finished, in seconds since the epoch, or None.

    >>> summary = Summary()
    >>> summary.add(UrlRecord("http://a.test/", State.QUEUED, depth=0))
    >>> summary.left, summary.done
    (1, 0)
    """

    count_by_state: dict[State, int] = field(
        default_factory=lambda: dict.fromkeys(State, 0)
    )
    count_by_reason: dict[State, Counter[AnyReason]] = field(
        default_factory=lambda: {state: Counter() for state in State}
    )
    count_by_status: Counter[int] = field(default_factory=Counter)
    pages: int = 0
    files: int = 0
    size_bytes: int = 0
    pages_by_depth: Counter[int] = field(default_factory=Counter)
    redirects: Redirects = field(default_factory=lambda: Redirects({}))
    failures: list[UrlRecord] = field(default_factory=list)
    examples_by_reason: dict[AnyReason, list[str]] = field(default_factory=dict)
    host_by_name: dict[str, Host] = field(default_factory=dict)
    repeated_digests: set[str] = field(default_factory=set)
    first_at: float | None = None
    last_at: float | None = None

    def __post_init__(self) -> None:
        self._digests: set[int] = set()
        self._target_by_url: dict[str, str] = {}
        self._slowest = Ranking(lambda ranked: ranked.took_s)
        self._largest = Ranking(lambda ranked: ranked.size_bytes)

    @property
    def urls(self) -> int:
        """URLs met by the crawl."""
        return sum(self.count_by_state.values())

    @property
    def left(self) -> int:
        """URLs still to be fetched, queued or under way."""
        return self.count_by_state[State.QUEUED] + self.count_by_state[State.CLAIMED]

    @property
    def done(self) -> int:
        """URLs that gave a page, a file or a redirect."""
        return self.count_by_state[State.DONE]

    @property
    def failed(self) -> int:
        """URLs that gave an error or no answer; each is broken or not checked."""
        return self.count_by_state[State.FAILED]

    @property
    def broken(self) -> int:
        """Failed URLs that would fail for a visitor too."""
        counts = self.count_by_reason[State.FAILED]
        return sum(n for reason, n in counts.items() if is_broken(reason))

    @property
    def not_checked(self) -> int:
        """URLs that failed by a limit or a fault of the crawl, and may well exist."""
        return self.failed - self.broken

    @property
    def skipped(self) -> int:
        """URLs that were met but not fetched."""
        return self.count_by_state[State.EXCLUDED]

    @property
    def unanswered(self) -> int:
        """Fetched URLs without an HTTP status."""
        return self.done + self.failed - self.count_by_status.total()

    @property
    def loops(self) -> list[list[str]]:
        """The redirect loops, each as a list of URLs."""
        return list(self.redirects.loop_by_key.values())

    @property
    def slowest(self) -> list[Ranked]:
        """The slowest fetches, slowest first."""
        return self._slowest.best()

    @property
    def largest(self) -> list[Ranked]:
        """The largest bodies, largest first."""
        return self._largest.best()

    @property
    def hosts(self) -> list[Host]:
        """The hosts, those with most URLs first."""
        return sorted(self.host_by_name.values(), key=lambda h: (-h.urls, h.name))

    def add(self, record: UrlRecord) -> None:
        """Count a URL."""
        self.count_by_state[record.state] += 1
        outcome = record.outcome
        if outcome is not None:
            self._count_end(record, outcome)
        if record.state is State.EXCLUDED:
            return
        host = self._host(record.url)
        host.urls += 1
        if outcome is not None:
            self._count_fetch(record, outcome, host)

    def add_redirects(self) -> None:
        """Find the chains and loops of redirects, after the last `add`."""
        self.redirects = Redirects(self._target_by_url)
        for loop in self.loops:
            self._host(loop[0]).broken += 1

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as plain values, for ``status --json``."""
        return {
            "states": {state.label: n for state, n in self.count_by_state.items()},
            "reasons": {
                state.label: dict(counts)
                for state, counts in self.count_by_reason.items()
            },
            "statuses": {str(n): c for n, c in sorted(self.count_by_status.items())},
            **self.totals(),
            "redirect_loops": self.loops,
            "failures": [
                {"url": f.url, "via": f.via, "reason": f.outcome and f.outcome.reason}
                for f in self.failures
            ],
            "last_at": self.last_at,
        }

    def totals(self) -> dict[str, int]:
        """Return the number of URLs of each kind, and their total size, by name."""
        return {
            "urls": self.urls,
            "done": self.done,
            "pages": self.pages,
            "files": self.files,
            "redirects": len(self.redirects),
            "failed": self.failed,
            "broken": self.broken,
            "not_checked": self.not_checked,
            "skipped": self.skipped,
            "left": self.left,
            "size_bytes": self.size_bytes,
        }

    def _host(self, url: str) -> Host:
        name = host_of(url)
        host = self.host_by_name.get(name)
        if host is None:
            host = self.host_by_name[name] = Host(name)
        return host

    def _count_end(self, record: UrlRecord, outcome: Outcome) -> None:
        self.count_by_reason[record.state][outcome.reason] += 1
        at = record.finished_at
        if at is not None:
            self.first_at = at if self.first_at is None else min(self.first_at, at)
            self.last_at = at if self.last_at is None else max(self.last_at, at)
        if record.state is State.EXCLUDED:
            examples = self.examples_by_reason.setdefault(outcome.reason, [])
            if len(examples) < EXAMPLES:
                examples.append(record.url)

    def _count_fetch(self, record: UrlRecord, outcome: Outcome, host: Host) -> None:
        if outcome.status is not None:
            self.count_by_status[outcome.status] += 1
        self.size_bytes += outcome.size_bytes
        host.size_bytes += outcome.size_bytes
        if outcome.took_s is not None:
            host.took_s += outcome.took_s
            host.timed += 1
            size_bytes, content_type = outcome.size_bytes, outcome.content_type
            ranked = Ranked(record.url, outcome.took_s, size_bytes, content_type)
            self._slowest.add(ranked)
            self._largest.add(ranked)
        if record.state is State.FAILED:
            self.failures.append(record)
            host.broken += is_broken(outcome.reason)
        elif outcome.reason in CONTENT:
            self._count_content(record, outcome, host)
        else:
            self._target_by_url[record.url] = outcome.redirect_to

    def _count_content(self, record: UrlRecord, outcome: Outcome, host: Host) -> None:
        if not is_html(outcome.content_type):
            self.files += 1
            return
        self.pages += 1
        host.pages += 1
        self.pages_by_depth[record.depth] += 1
        if outcome.digest:
            # A number takes a third of the memory of its text.
            digest = int(outcome.digest, 16)
            if digest in self._digests:
                self.repeated_digests.add(outcome.digest)
            self._digests.add(digest)


def summarize(
    frontier: Frontier,
    on_step: OnStep = no_step,
    watch: Callable[[UrlRecord], object] | None = None,
) -> Summary:
    """Summarize a crawl, reading its frontier once.

    Args:
        on_step: Progress callback.
        watch: Called with each record.
    """
    summary = Summary()
    records = frontier.records()
    for record in in_steps("reading URLs", records, on_step, frontier.total()):
        summary.add(record)
        if watch is not None:
            watch(record)
    summary.add_redirects()
    return summary


def final_records(
    urls: Sequence[str], frontier: Frontier, summary: Summary
) -> list[UrlRecord | None]:
    """Return the record of each URL after its redirects; None if it is unknown.

    For a redirect loop, that is one of its URLs.  A page that soon takes its visitors
    elsewhere counts as a redirect, once.
    """
    found = _ends_of(urls, frontier, summary)
    targets = [_refreshed(record) for record in found]
    if not any(targets):
        return found
    further = _ends_of(targets, frontier, summary)
    return [
        end if target else record
        for record, target, end in zip(found, targets, further, strict=True)
    ]


def _ends_of(
    urls: Sequence[str], frontier: Frontier, summary: Summary
) -> list[UrlRecord | None]:
    end_by_key = summary.redirects.end_by_key
    keys = map(dedup_key, urls)
    final_keys = [end_by_key.get(key, key) for key in keys]
    record_by_key: dict[str, UrlRecord | None] = dict.fromkeys(final_keys)
    for record in frontier.records():
        key = dedup_key(record.url)
        if key in record_by_key:
            record_by_key[key] = record
    return [record_by_key[key] for key in final_keys]


def _refreshed(record: UrlRecord | None) -> str:
    """Return where a page takes its visitors; empty if it does not."""
    outcome = None if record is None else record.outcome
    if outcome is None or outcome.reason not in CONTENT:
        return ""
    return outcome.redirect_to


def pages_of(frontier: Frontier) -> set[str]:
    """Return the URLs that gave an HTML page."""
    return {
        record.url
        for record in frontier.records()
        if record.outcome is not None and is_page(record.outcome)
    }


def is_page(outcome: Outcome) -> bool:
    """Return whether a URL gave an HTML page.

    >>> from crawler_app.reasons import Reason
    >>> is_page(Outcome(State.DONE, Reason.OK, 200, content_type="text/html"))
    True
    """
    return outcome.reason in CONTENT and is_html(outcome.content_type)


def state_of(urls: int, left: int, owner: int | None) -> str:
    """Return the state of a crawl: RUNNING, STOPPED or FINISHED.

    Args:
        urls: Number of URLs it has met; 0 if it was killed before the first one, and so
            has not finished.
        left: How many of these are still to be fetched.
        owner: Id of the process that crawls, or None.

    >>> state_of(9, left=2, owner=4711), state_of(9, left=2, owner=None)
    ('running', 'stopped')
    """
    if owner is not None:
        return RUNNING
    return FINISHED if urls and not left else STOPPED
